/** `simbatch snapshot inspect`: shows the actors of a snapshot with state, history and possible next events. */
import type { JobRecord } from '../../../contract/types.ts';
import { pendingRuns, type BatchContext } from '../../../../machines/batch.ts';
import type { AnyEvent } from '../../../../machines/protocol.ts';
import type { RunnerContext } from '../../../../machines/runner-context.ts';
import { batchIdOf } from '../../../domain/ids.ts';
import {
  splitKey,
  type MachineName,
  type Scenario,
  type Snapshot,
  type SnapshotRecord,
  type StoredState,
  type Study,
} from '../../../coordinator/snapshots/format.ts';
import { pastOf } from '../../../../machines/job-parts/past.ts';
import { nextEvents, type NextEvent } from '../../../coordinator/snapshots/next-events.ts';
import { plain } from '../../../../machines/actor-player.ts';
import { isTerminal, jobFromRecord } from '../../../coordinator/kernel/actors/actor-kinds.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { formatTimestamp, plural, printable } from '../../terminal/format.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';

interface Description {
  actor: string;
  state: string;
  /** Owner, counts and times in a few words. */
  summary: string;
  history: string[];
  possible: NextEvent[];
}

/** The number of ended jobs that are described without --actor; active ones are all described. */
const MAX_ENDED = 10;
const MAX_SHOWN = 200;

/** @throws Failure when the file does not have the given actor */
export async function inspect(snapshot: Snapshot, flags: { actor?: string; format: string }): Promise<void> {
  const shown: Description[] = [];
  const omitted = new Map<string, number>();
  let ended = 0;
  for await (const described of descriptions(snapshot, flags.actor)) {
    const isJob = described.actor.startsWith('job/');
    const isEnded = isJob && isTerminal(described.state);
    if (flags.actor === undefined && ((isEnded && ended >= MAX_ENDED) || shown.length >= MAX_SHOWN)) {
      omitted.set(described.state, (omitted.get(described.state) ?? 0) + 1);
      continue;
    }
    if (isEnded) ended += 1;
    shown.push(described);
  }
  if (flags.actor !== undefined && shown.length === 0) {
    throw new Failure(EXIT.missing, `the file has no actor ${flags.actor}; an untouched run has no record`);
  }
  if (flags.format === 'json')
    return writeJson({ ...headOf(snapshot), actors: shown, omitted: Object.fromEntries(omitted) });
  await writeLine(title(snapshot));
  for (const described of shown) await writeLine(`\n${textOf(described)}`);
  for (const [state, count] of omitted) note(`${plural(count, `more ${state} actor`)}: name one with --actor`);
}

function headOf(snapshot: Snapshot): object {
  if (snapshot.kind !== 'export') return { format: snapshot.format, kind: snapshot.kind, name: snapshot.name };
  const { format, kind, made_by, taken_at, batch_id } = snapshot;
  return { format, kind, made_by, taken_at, batch_id };
}

function title(snapshot: Snapshot): string {
  if (snapshot.kind !== 'export') return printable(`${snapshot.kind} "${snapshot.name}": ${snapshot.about}`);
  const what = snapshot.batch_id === null ? 'everything' : `study ${snapshot.batch_id}`;
  return printable(`export of ${what}, taken ${formatTimestamp(snapshot.taken_at)} by ${snapshot.made_by}`);
}

function textOf({ actor, state, summary, history, possible }: Description): string {
  const next = possible.map(({ event, to }) => `    ${printable(event)} -> ${to}`);
  return [
    printable(`${actor} is ${state}${summary === '' ? '' : `: ${summary}`}`),
    ...(history.length === 0 ? [] : ['  history', ...history.map((it) => `    ${printable(it)}`)]),
    ...(next.length === 0 ? ['  no event is possible'] : ['  possible next', ...next]),
  ].join('\n');
}

async function* descriptions(snapshot: Snapshot, wanted: string | undefined): AsyncGenerator<Description> {
  if (snapshot.kind === 'scenario') {
    yield scenarioActor(snapshot);
    return;
  }
  const histories = snapshot.kind === 'study' ? turnsByActor(snapshot) : undefined;
  let batch: BatchContext | undefined;
  for await (const record of snapshot.records) {
    const { name, id } = splitKey(record.key);
    if (name === 'batch') batch = record.value as unknown as BatchContext;
    if (name === 'submission' || name === 'result' || (wanted !== undefined && wanted !== record.key)) continue;
    const described = actorOf(record, name, name === 'job' && batch?.batchId === batchIdOf(id) ? batch : undefined);
    const history = histories?.get(record.key);
    yield history === undefined ? described : { ...described, history };
  }
}

function actorOf({ key, value }: SnapshotRecord, name: string, batch: BatchContext | undefined): Description {
  const stored = value as StoredState;
  if (name !== 'job' || batch === undefined) {
    return {
      actor: key,
      state: stored.value,
      summary: name === 'batch' ? batchSummary(stored) : runnerSummary(stored),
      history: [],
      possible: nextEvents(name as MachineName, stored),
    };
  }
  const state = jobFromRecord(splitKey(key).id, value as unknown as JobRecord, batch);
  const { context: c } = state;
  const runs = [
    `run ${c.runId}`,
    `attempt ${c.attempt}`,
    `${c.retries} of ${c.maxRetries} retries`,
    plural(c.losses, 'loss', 'losses'),
    ...((c.infrastructureFaults ?? 0) > 0 ? [plural(c.infrastructureFaults ?? 0, 'infrastructure fault')] : []),
  ];
  return {
    actor: key,
    state: state.value,
    summary: runs.join(', '),
    history: [
      ...(c.attemptsOmitted > 0 ? [`${plural(c.attemptsOmitted, 'earlier attempt')} not recorded`] : []),
      ...pastOf(state).events.map((event) => eventText(event)),
    ],
    possible: nextEvents('job', plain({ value: state.value, ...c })),
  };
}

function batchSummary(stored: StoredState): string {
  const c = stored as unknown as BatchContext;
  const counts = {
    claimed: c.claimed,
    running: c.running,
    completed: c.completed,
    failed: c.failed,
    'timed out': c.timedOut,
    cancelled: c.cancelled,
  };
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  return [
    `"${c.name}"`,
    plural(c.totalJobs, 'run'),
    `${pendingRuns(c)} pending`,
    ...present.map(([name, count]) => `${count} ${name}`),
  ].join(', ');
}

function runnerSummary(stored: StoredState): string {
  const c = stored as unknown as RunnerContext;
  const seen = formatTimestamp(new Date(c.lastHeartbeatMs).toISOString());
  const drained = c.drained ? [`drained${c.drainReason === undefined ? '' : ` (${c.drainReason})`}`] : [];
  const lost = c.slotsLost === undefined ? [] : [`${plural(c.slotsLost, 'slot')} lost`];
  return [`holds ${plural(c.held.length, 'job')}`, ...lost, ...drained, `last seen ${seen}`].join(', ');
}

/** One event as a line: time, type, runner, reason. */
function eventText(event: AnyEvent | { type: 'restart'; now: number }, to?: string): string {
  const { type, now, ...rest } = event as { type: string; now?: number } & Record<string, unknown>;
  const details = ['runnerId', 'attempt', 'reason', 'cause', 'message', 'instance'].flatMap((name) => {
    const value = rest[name];
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${String(value).slice(0, 200)}`] : [];
  });
  if (type === 'JOBS_CHANGED') {
    details.push(
      ...(rest['changes'] as { type: string; runId: number }[]).map((it) => `${it.type} of run ${it.runId}`),
    );
  }
  const at = now === undefined ? '-' : formatTimestamp(new Date(now).toISOString());
  return `${at}  ${type}${details.length === 0 ? '' : ` (${details.join(', ')})`}${to === undefined ? '' : ` -> ${to}`}`;
}

function scenarioActor(scenario: Scenario): Description {
  let state = scenario.start.value;
  const history = scenario.steps.map((step) => {
    if ('restart' in step) return eventText({ type: 'restart', now: step.restart }, state);
    if ('refused' in step) return eventText(step.event, `refused, still ${state}`);
    state = step.state;
    return eventText(step.event, state);
  });
  return {
    actor: scenario.machine,
    state: scenario.end.value,
    summary: '',
    history: [`begins ${scenario.start.value}`, ...history],
    possible: nextEvents(scenario.machine, scenario.end),
  };
}

function turnsByActor(study: Pick<Study, 'turns'>): Map<string, string[]> {
  const linesOf = new Map<string, string[]>();
  for (const turn of study.turns) {
    if ('restart' in turn) continue;
    for (const message of turn.messages ?? []) {
      const lines = linesOf.get(message.to) ?? [];
      linesOf.set(message.to, lines);
      lines.push('create' in message ? 'begins' : eventText(message.event, turn.states?.[message.to]));
    }
  }
  return linesOf;
}
