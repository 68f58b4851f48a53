/** Submits allocations: the plan on disk, then a token, then the intent on disk, then one call of the engine. */
import { randomUuid, type Clock } from '../../base/clock.ts';
import { ApiError } from '../../client/transport.ts';
import type { DemandGroup } from '../../contract/types.ts';
import type { LauncherConfig, QueueConfig } from '../settings.ts';
import type { QueueDecision } from '../decision/wanted.ts';
import { EngineRefused, EngineUnreachable, NothingStarted, type Engine } from '../engine.ts';
import { allocationName, requestOf, runnerIdOf } from '../request.ts';
import type { Allocations } from '../state/allocations.ts';
import type { CoordinatorPort, LauncherLog } from './ports.ts';

interface SubmitParts {
  config: LauncherConfig;
  engines: ReadonlyMap<string, Engine>;
  coordinator: Pick<CoordinatorPort, 'makeTokens'>;
  clock: Clock;
  log: LauncherLog;
  allocations: Allocations;
  /** Writes all changes; resolves when they are on disk. */
  persist: () => Promise<void>;
  /** Called for a queue whose engine could start nothing now. */
  onFull: (queue: string, why: string) => void;
}

interface PlannedAllocation {
  id: string;
  queue: QueueConfig;
  engine: Engine;
  need: DemandGroup | undefined;
}

/** A token outlives its allocation by the time that the end may take to be seen. */
const TOKEN_MARGIN_SECS = 3_600;
/** An allocation may wait in the engine's queue for weeks before its runner uses the token. */
const TOKEN_WAIT_SECS = 30 * 86_400;

/**
 * Returns why no token could be made, and nothing was submitted; undefined otherwise.
 * @throws when the records cannot be written
 */
export async function submitAll(decisions: readonly QueueDecision[], parts: SubmitParts): Promise<string | undefined> {
  const planned = planAll(decisions, parts);
  if (planned.length === 0) return undefined;
  await parts.persist();
  const tokens = await tokensOf(planned, parts);
  if (typeof tokens === 'string') return tokens;
  await submitEach(planned, tokens, parts);
  return undefined;
}

function planAll(
  decisions: readonly QueueDecision[],
  { config, engines, clock, allocations }: SubmitParts,
): PlannedAllocation[] {
  return decisions.flatMap(({ queue: name, submit }) => {
    const queue = config.queues.find((it) => it.name === name);
    const engine = engines.get(name);
    if (queue === undefined || engine === undefined) throw new Error(`there is no engine for the queue ${name}`);
    return submit.map((need) => {
      const id = newId(clock);
      const { lifetimeMs, startTimeoutMs, queueTimeoutMs, drainTimeoutMs, size } = queue;
      allocations.plan({
        id,
        queue: name,
        engine: queue.engine,
        cores: size.cores,
        lifetimeMs,
        startTimeoutMs,
        queueTimeoutMs,
        drain: drainTimeoutMs ?? 'time-limits',
        settleMs: engine.settleMs,
        isKept: need === undefined,
        now: clock.now(),
      });
      allocations.noteToken(id, true);
      return { id, queue, engine, need };
    });
  });
}

/** 12 characters, the first a letter, as names of engines allow: 57 random bits. */
export const newId = (clock: Pick<Clock, 'random'>): string => {
  const letters = BigInt(`0x${randomUuid(clock).replaceAll('-', '')}`)
    .toString(36)
    .padStart(25, '0');
  return `a${letters.slice(-11)}`;
};

/** One request for all. Without an answer nothing is submitted, and no queue is at fault. */
async function tokensOf(
  planned: readonly PlannedAllocation[],
  { coordinator, allocations, clock, log, persist }: SubmitParts,
): Promise<ReadonlyMap<string, string | undefined> | string> {
  try {
    return await coordinator.makeTokens(
      planned.map(({ id, queue }) => ({
        allocation: allocationName(queue, id),
        runnerId: runnerIdOf(queue.name, id),
        lifetimeSecs: Math.ceil(queue.lifetimeMs / 1_000) + TOKEN_MARGIN_SECS + TOKEN_WAIT_SECS,
      })),
    );
  } catch (error) {
    const reason = `tokens cannot be made: ${error instanceof Error ? error.message : String(error)}`;
    log('warn', `nothing was submitted: ${reason}`);
    // No token was made where the request was refused; without an answer there may be tokens, which are revoked.
    const isRefused = error instanceof ApiError && !error.transient;
    for (const { id } of planned) {
      allocations.send(id, { type: 'ABANDON', reason, now: clock.now() });
      if (isRefused) allocations.noteToken(id, false);
    }
    await persist();
    return reason;
  }
}

async function submitEach(
  planned: readonly PlannedAllocation[],
  tokens: ReadonlyMap<string, string | undefined>,
  { config, allocations, clock, log, persist, onFull }: SubmitParts,
): Promise<void> {
  /** Queues and engines that get no further allocation in this round, and the reason of each. */
  const failed = new Map<unknown, string>();
  for (const { id, queue, engine, need } of planned) {
    const name = allocationName(queue, id);
    const former = failed.get(queue) ?? failed.get(engine);
    if (former !== undefined) {
      const reason = `an earlier submission of the round failed: ${former}`;
      allocations.send(id, { type: 'ABANDON', reason, now: clock.now() });
      continue;
    }
    allocations.send(id, { type: 'SUBMIT', now: clock.now() });
    // The intent, with the results of the former ones. Only now may the engine be called.
    await persist();
    try {
      const isKept = need === undefined;
      const { handle, place } = await engine.submit(
        requestOf(config, queue, { id, token: tokens.get(name), need, isKept }),
      );
      allocations.send(id, { type: 'ACCEPTED', handle, place, now: clock.now() });
      log('info', `${name} was submitted as ${handle}`);
    } catch (error) {
      if (!(error instanceof EngineRefused || error instanceof EngineUnreachable)) throw error;
      const reason = error.message;
      if (error instanceof NothingStarted) {
        failed.set(queue, reason);
        allocations.send(id, { type: 'ABANDON', reason, now: clock.now() });
        onFull(queue.name, reason);
        continue;
      }
      const isRefusal = error instanceof EngineRefused;
      failed.set(isRefusal ? queue : engine, reason);
      allocations.send(id, { type: isRefusal ? 'REFUSE' : 'UNANSWERED', reason, now: clock.now() });
      log('warn', `${name} was ${isRefusal ? 'refused' : 'submitted without an answer'}: ${reason}`);
    }
  }
  await persist();
}
