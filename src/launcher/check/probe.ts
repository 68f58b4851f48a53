/**
 * One allocation of a queue that only tries the way: its runner registers with the coordinator, takes no run and leaves. Whatever happens, the allocation
 * is ended and its token revoked.
 */
import { sleep, type Clock } from '../../base/clock.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { AllocationRequest, CheckResult, Engine, EngineAllocation } from '../engine.ts';
import type { CoordinatorPort } from '../loop/ports.ts';
import { newId } from '../loop/submit.ts';
import { allocationName, requestOf, runnerIdOf } from '../request.ts';
import type { LauncherConfig, QueueConfig } from '../settings.ts';

export interface ProbeParts {
  config: Pick<LauncherConfig, 'runnerEndpoint'>;
  /** Opened under a label of its own, so that no launcher counts the allocation as one of its own. */
  engine: Pick<Engine, 'submit' | 'list' | 'stop'>;
  coordinator: Pick<CoordinatorPort, 'runners' | 'makeTokens' | 'revokeTokens'>;
  clock: Pick<Clock, 'random' | 'monotonicMs' | 'after'>;
  /** The longest time until the runner has registered. */
  limitMs: number;
  /** Aborted: the probe ends early. */
  signal: AbortSignal;
  /** A state of the engine, when it changes. */
  note: (message: string) => void;
}

const EVERY_MS = 500;
/** The engine is asked less often than the coordinator. */
const ENGINE_EVERY_MS = 2_000;
/** The idle time of the runner: several times `EVERY_MS`, so that it is seen before it leaves. */
const IDLE = '5s';
/** The runner leaves after its idle time, and the end of its allocation is seen a little later. */
const LEAVE_MS = 60_000;
/** No run asks for it, so the runner gets none. */
const NO_RUN = 'simbatch-probe';

/** The label of allocations of probes, within the length that engines allow. */
export const probeLabel = (launcher: string): string => `${launcher.slice(0, 34)}-probe`;

interface Seen {
  allocation: EngineAllocation | undefined;
  isRegistered: boolean;
}

/** Returns how long it took, or the fault with the answer of the engine. */
export async function probe(queue: QueueConfig, parts: ProbeParts): Promise<CheckResult> {
  const { coordinator, clock } = parts;
  const id = newId(clock);
  const allocation = allocationName(queue, id);
  const said = (isFault: boolean, message: string): CheckResult => ({ queue: queue.name, isFault, message });
  try {
    const request = {
      allocation,
      runnerId: runnerIdOf(queue.name, id),
      lifetimeSecs: Math.ceil(queue.lifetimeMs / 1_000),
    };
    const token = (await coordinator.makeTokens([request])).get(allocation);
    return said(false, await tried(probeRequest(queue, id, token, parts), parts));
  } catch (error) {
    return said(true, `the probe failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    // A token that is left ends by itself.
    await coordinator.revokeTokens([allocation]).catch(() => {});
  }
}

function probeRequest(
  queue: QueueConfig,
  id: string,
  token: string | undefined,
  { config }: Pick<ProbeParts, 'config'>,
): AllocationRequest {
  const request = requestOf(config, queue, { id, token, need: undefined, isKept: false });
  const { runner } = request;
  // Of an option that is given twice the last value counts.
  const args = [...runner.args, '--idle-exit', IDLE, '--only-with', NO_RUN];
  return { ...request, runner: { ...runner, args } };
}

/** @throws Error with the fault */
async function tried(request: AllocationRequest, parts: ProbeParts): Promise<string> {
  const { engine, clock, limitMs, note } = parts;
  const startedAtMs = clock.monotonicMs();
  const tookMs = (): number => clock.monotonicMs() - startedAtMs;
  const { handle } = await engine.submit(request);
  note(`${request.queue}: the engine took the allocation as ${handle}`);
  let last: EngineAllocation | undefined;
  try {
    let registeredMs: number | undefined;
    for await (const { allocation, isRegistered } of looks(request, parts)) {
      if (stateText(allocation) !== stateText(last)) note(`${request.queue}: ${stateText(allocation)}`);
      last = allocation ?? last;
      if (isRegistered) registeredMs ??= tookMs();
      const hasEnded = allocation?.state === 'ended';
      if (registeredMs !== undefined && !isRegistered && (hasEnded || allocation === undefined))
        return `a runner registered ${formatDuration(registeredMs)} after the submission as ${handle}, and has left after ${formatDuration(tookMs())}`;
      if (registeredMs !== undefined && tookMs() - registeredMs > LEAVE_MS)
        throw new Error(
          `the runner registered after ${formatDuration(registeredMs)} and did not leave within ${formatDuration(LEAVE_MS)}; see its log`,
        );
      if (registeredMs !== undefined) continue;
      if (hasEnded)
        throw new Error(
          `the allocation ended before its runner had registered: ${stateText(allocation)}; see the log of the runner`,
        );
      if (tookMs() > limitMs) {
        const remedy = 'see `runner_endpoint` and the log of the runner, or wait longer with --probe-limit';
        throw new Error(`no runner has registered within ${formatDuration(limitMs)}: ${stateText(last)}; ${remedy}`);
      }
    }
    throw new Error(`it was stopped: ${stateText(last)}`);
  } finally {
    await ended(request, last, parts);
  }
}

/** The state of the allocation and whether its runner is registered, again and again until the signal. */
async function* looks(
  { id, queue }: AllocationRequest,
  { engine, coordinator, clock, signal }: ProbeParts,
): AsyncGenerator<Seen> {
  const runnerId = runnerIdOf(queue, id);
  let allocation: EngineAllocation | undefined;
  for (let askedAtMs = -Infinity; !signal.aborted;) {
    const runner = (await coordinator.runners()).find((it) => it.id === runnerId);
    const isDue = clock.monotonicMs() - askedAtMs >= ENGINE_EVERY_MS;
    if (isDue) {
      askedAtMs = clock.monotonicMs();
      const view = await engine.list();
      // An engine that does not answer has not ended the allocation.
      if (view.silent.every((it) => it.queue !== queue)) allocation = view.allocations.find((it) => it.id === id);
    }
    if (isDue) yield { allocation, isRegistered: runner !== undefined && runner.status !== 'Offline' };
    else if (runner !== undefined && runner.status !== 'Offline') yield { allocation, isRegistered: true };
    await sleep(clock, EVERY_MS, signal);
  }
}

/** Ends the allocation, if it lives. */
async function ended(
  request: AllocationRequest,
  last: EngineAllocation | undefined,
  { engine, note }: ProbeParts,
): Promise<void> {
  if (last?.state === 'ended') return;
  try {
    const found = (await engine.list()).allocations.filter((it) => it.id === request.id && it.state !== 'ended');
    if (found.length > 0) await engine.stop(found, true);
  } catch (error) {
    note(
      `${request.queue}: the allocation of the probe could not be ended: ${error instanceof Error ? error.message : String(error)}; it ends by itself`,
    );
  }
}

/** `queued: Resources`. */
function stateText(it: EngineAllocation | undefined): string {
  if (it === undefined) return 'the engine does not list it';
  const end =
    it.end === undefined
      ? ''
      : ` (${it.end.kind}${it.end.exitCode === undefined ? '' : `, exit code ${String(it.end.exitCode)}`})`;
  return `the engine says ${it.state}${end}${it.reason === undefined ? '' : `: ${it.reason}`}`;
}
