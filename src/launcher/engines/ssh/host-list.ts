/** Reads the answers of the scripts on a host. Pure. */
import { EngineUnreachable, oneLine, type EndKind, type EngineAllocation } from '../../engine.ts';
import { BEGIN, END } from './scripts.ts';

/** The lines of an answer without the marks; undefined for an incomplete one. */
export function answerLines(text: string): string[] | undefined {
  const lines = text.split('\n').map((it) => it.replace(/\r$/, ''));
  const from = lines.indexOf(BEGIN);
  const to = lines.indexOf(END, from + 1);
  return from < 0 || to < 0 ? undefined : lines.slice(from + 1, to);
}

const LOST: Readonly<Record<string, { kind: EndKind; reason: string }>> = {
  'lost-start': { kind: 'failed', reason: 'its start was interrupted before the runner' },
  'lost-boot': { kind: 'node-failure', reason: 'the machine was started again' },
  'lost-killed': { kind: 'unknown', reason: 'its processes were killed' },
};

/** The allocations of a host. Times are by the clock of the host, so the age of an allocation counts, at `nowMs` here. */
export function readHost(
  lines: readonly string[],
  { place, nowMs, lifetimeMsOf }: { place: string; nowMs: number; lifetimeMsOf: (queue: string) => number | undefined },
): EngineAllocation[] {
  const hostSecs = Number(lines[0]?.split('\t')[1]);
  return lines.slice(1).flatMap((line) => {
    const [name = '', state = '', started = '', mark = '', ...log] = line.split('\t');
    const [, queue, id] = /^([a-z0-9-]+)\.([0-9a-z]+)$/.exec(name) ?? [];
    if (queue === undefined || id === undefined || state === '') return [];
    const known: EngineAllocation = {
      id,
      queue,
      handle: '',
      place,
      ...stateOf(state, mark, log.join(' ')),
    };
    const startedSecs = Number(started);
    if (startedSecs > 0 && Number.isFinite(hostSecs)) {
      known.startedAtMs = nowMs - (hostSecs - startedSecs) * 1_000;
      const lifetimeMs = lifetimeMsOf(queue);
      if (lifetimeMs !== undefined && known.state !== 'ended') known.endsAtMs = known.startedAtMs + lifetimeMs;
    }
    return [known];
  });
}

function stateOf(state: string, mark: string, log: string): Pick<EngineAllocation, 'state' | 'end' | 'reason'> {
  if (state === 'alive' || state === 'starting') return { state: mark === 'none' ? 'running' : 'stopping' };
  const lost = LOST[state];
  if (lost !== undefined && mark === 'stop') return { state: 'ended', end: { kind: 'cancelled' } };
  if (lost !== undefined) return { state: 'ended', end: { kind: lost.kind }, reason: lost.reason };
  const exitCode = Number(state);
  if (!Number.isInteger(exitCode)) return { state: 'ended', end: { kind: 'unknown' } };
  const kind = mark === 'stop' ? 'cancelled' : mark === 'timeout' ? 'timeout' : exitCode === 0 ? 'completed' : 'failed';
  const reason = kind === 'failed' && log !== '' ? { reason: oneLine(log) } : {};
  return { state: 'ended', end: { kind, exitCode }, ...reason };
}

/** The answer of the probe. */
export interface ProbedHost {
  nowSecs: number;
  /** Platform as Node names it, e.g. `linux-x64`. */
  platform: string;
  kit: 'present' | 'missing' | 'none';
}

const SYSTEMS: Readonly<Record<string, string>> = { Linux: 'linux', Darwin: 'darwin', FreeBSD: 'freebsd' };
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: 'x64',
  amd64: 'x64',
  aarch64: 'arm64',
  arm64: 'arm64',
};

/** @throws EngineUnreachable for an answer that is not one */
export function hostOf(lines: readonly string[], place: string): ProbedHost {
  const [now = '', system = '', architecture = '', kit = ''] = (lines[0] ?? '').split('\t');
  const nowSecs = Number(now);
  if (now === '' || !Number.isInteger(nowSecs) || !(kit === 'present' || kit === 'missing' || kit === 'none')) {
    throw new EngineUnreachable(`${place}: its answer is ${JSON.stringify(oneLine(lines.join(' ')))}`);
  }
  return { nowSecs, platform: `${SYSTEMS[system] ?? system}-${ARCHITECTURES[architecture] ?? architecture}`, kit };
}
