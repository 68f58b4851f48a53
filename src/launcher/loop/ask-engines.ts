/**
 * When each engine is asked, and its answers: each round while something happens, more and more rarely while nothing changes, and not at all
 * while nothing of it lives and no run waits.
 */
import type { LauncherConfig } from '../settings.ts';
import type { Engine, EngineAllocation, EngineView, Silence } from '../engine.ts';
import type { AllocationRecord } from '../state/allocations.ts';
import { runnerNameOf, type EngineAnswers, type Pool } from './observe.ts';

/** The longest time between two questions while something lives or runs wait. */
const SLOWEST_MS = 60_000;
/** An engine that has said so often in a row that nothing lives is not asked again without a reason. */
const QUIET_ANSWERS = 2;

interface Part {
  engine: Engine;
  /** The name of the engine in the configuration, and its queues. */
  name: string;
  queues: ReadonlySet<string>;
  intervalMs: number;
  dueMs: number;
  /** The state of the records at the last question, and of its answer. */
  records: string | undefined;
  answer: string;
  quietAnswers: number;
  silent: readonly Silence[];
  /** The allocations of the last answer. */
  known: readonly EngineAllocation[];
}

export class EngineQuestions {
  readonly #pollMs: number;
  readonly #parts: readonly Part[];
  /** Runner -> its last heartbeat, when it was first seen (the clocks of launcher and coordinator may differ), and the longest time between two. */
  readonly #heartbeats = new Map<string, { at: string; sinceMs: number; gapMs: number }>();

  constructor({ pollMs, queues }: LauncherConfig, engines: ReadonlyMap<string, Engine>) {
    this.#pollMs = pollMs;
    this.#parts = [...new Set(engines.values())].map((engine) => {
      const own = queues.filter((it) => engines.get(it.name) === engine);
      return {
        engine,
        name: own[0]?.engine ?? '',
        queues: new Set(own.map((it) => it.name)),
        intervalMs: pollMs,
        dueMs: 0,
        records: undefined,
        answer: '',
        quietAnswers: 0,
        silent: [],
        known: [],
      };
    });
  }

  /** Asks each engine that is due once. A call that throws makes all its queues silent; what was silent stays so until it is asked again. */
  async ask(live: readonly AllocationRecord[], pool: Pool | undefined, now: number): Promise<EngineAnswers> {
    const suspects = this.#suspects(live, pool, now);
    const asked = this.#parts.filter((part) => this.#isDue(part, live, pool, suspects, now));
    const views = await Promise.all(asked.map((part) => this.#view(part, live, now)));
    const others = this.#parts.filter((it) => !asked.includes(it));
    return {
      askedAtMs: now,
      listed: byId(views.flatMap((it) => it.allocations)),
      known: byId(this.#parts.flatMap((it) => it.known)),
      silent: this.#parts.flatMap((it) => it.silent),
      isAsked: ({ context }) => !others.some((part) => isOf(part, { context })),
    };
  }

  #isDue(
    part: Part,
    live: readonly AllocationRecord[],
    pool: Pool | undefined,
    suspects: ReadonlySet<string>,
    now: number,
  ): boolean {
    const own = live.filter((it) => isOf(part, it));
    if (part.records === undefined || part.records !== recordsOf(own)) return true;
    if (own.some((it) => isPassing(it) || suspects.has(it.context.id))) return true;
    const isQuiet = part.quietAnswers >= QUIET_ANSWERS && own.length === 0 && part.silent.length === 0;
    const isWanted = pool !== undefined && (pool.demand.length > 0 || isStray(part, live, pool));
    return (!isQuiet || isWanted) && now >= part.dueMs;
  }

  async #view(part: Part, live: readonly AllocationRecord[], now: number): Promise<EngineView> {
    const view = await part.engine.list().catch((error: unknown): EngineView => {
      const why = error instanceof Error ? error.message : String(error);
      return { allocations: [], silent: [...part.queues].map((queue) => ({ queue, why })) };
    });
    const own = live.filter((it) => isOf(part, it));
    const records = recordsOf(own);
    const answer = [
      ...view.allocations.map((it) => `${it.id} ${it.state} ${it.reason ?? ''}`),
      ...view.silent.map((it) => `${it.queue} ${it.place ?? ''}`),
    ]
      .toSorted()
      .join('\n');
    const hasChanged = records !== part.records || answer !== part.answer;
    part.intervalMs = hasChanged ? this.#pollMs : Math.min(Math.max(SLOWEST_MS, this.#pollMs), 2 * part.intervalMs);
    part.dueMs = now + part.intervalMs;
    part.records = records;
    part.answer = answer;
    part.silent = view.silent;
    part.known = view.allocations;
    const lives = own.length > 0 || view.allocations.some((it) => it.state !== 'ended');
    part.quietAnswers = lives ? 0 : part.quietAnswers + 1;
    return view;
  }

  /** The allocations whose runners have sent no heartbeat for one and a half times as long as usual: they may have ended. */
  #suspects(live: readonly AllocationRecord[], pool: Pool | undefined, now: number): ReadonlySet<string> {
    if (pool === undefined) return new Set();
    const suspects = new Set<string>();
    const seen = new Set<string>();
    for (const { context } of live) {
      const runner = pool.runners.get(runnerNameOf(context));
      if (runner === undefined) continue;
      seen.add(runner.id);
      const known = this.#heartbeats.get(runner.id);
      if (known?.at !== runner.last_heartbeat) {
        const gapMs = Math.max(known?.gapMs ?? 0, now - (known?.sinceMs ?? now));
        this.#heartbeats.set(runner.id, { at: runner.last_heartbeat, sinceMs: now, gapMs });
      } else if (now >= known.sinceMs + 1.5 * Math.max(HEARTBEAT_MS, known.gapMs)) suspects.add(context.id);
    }
    for (const id of this.#heartbeats.keys()) if (!seen.has(id)) this.#heartbeats.delete(id);
    return suspects;
  }
}

/** A runner sends heartbeats so often by default. */
const HEARTBEAT_MS = 5_000;

/** An id that ended and lives too (a Slurm job that was requeued by hand) lives. */
function byId(allocations: readonly EngineAllocation[]): ReadonlyMap<string, EngineAllocation> {
  const found = new Map<string, EngineAllocation>();
  for (const it of allocations) {
    const known = found.get(it.id);
    if (known === undefined || known.state === 'ended') found.set(it.id, it);
  }
  return found;
}

const isOf = ({ name, queues }: Part, { context }: Pick<AllocationRecord, 'context'>): boolean =>
  queues.has(context.queue) || context.engine === name;

/** The engine has been called, and what it does next is a matter of seconds. */
const isPassing = ({ value }: AllocationRecord): boolean => value === 'Submitting' || value === 'Stopping';

/** The state of the records, without the runs that runners begin and end. */
const recordsOf = (own: readonly AllocationRecord[]): string =>
  own
    .map(({ value, context: { id, isRunnerOffline, handle } }) => {
      const state = value === 'Idle' || value === 'Busy' ? 'Ready' : value;
      return `${id} ${state} ${handle ?? ''} ${String(isRunnerOffline)}`;
    })
    .join('\n');

/** A runner of a queue of the engine is connected, and its allocation is not known to live. */
function isStray({ name, queues }: Part, live: readonly AllocationRecord[], pool: Pool): boolean {
  const known = new Set(live.map((it) => runnerNameOf(it.context)));
  return pool.all.some(({ allocation, status }) => {
    const [engine, queue = ''] = allocation?.split('/') ?? [];
    return engine === name && queues.has(queue) && status !== 'Offline' && !known.has(allocation ?? '');
  });
}
