/** Asks the engines to end allocations, again from time to time until they have ended. */
import type { Engine, EngineAllocation } from '../engine.ts';
import type { AllocationRecord } from '../state/allocations.ts';
import type { EngineAnswers } from './observe.ts';
import type { LauncherLog } from './ports.ts';

/** An allocation that still lives is asked again after this time: the grace time of a runner is 30 s by default. */
const AGAIN_MS = 60_000;

export class Stopping {
  readonly #engines: ReadonlyMap<string, Engine>;
  readonly #log: LauncherLog;
  readonly #asked = new Map<string, { atMs: number; now: boolean }>();

  constructor(engines: ReadonlyMap<string, Engine>, log: LauncherLog) {
    this.#engines = engines;
    this.#log = log;
  }

  /** Ends allocations with at most one call for each engine and kind of end. */
  async stop(live: readonly AllocationRecord[], { known }: EngineAnswers, nowMs: number): Promise<void> {
    const calls = new Map<Engine, { now: EngineAllocation[]; gently: EngineAllocation[] }>();
    const wanted = live.filter((it) => it.value === 'Stopping' && it.context.stop !== undefined);
    for (const id of this.#asked.keys()) if (!wanted.some((it) => it.context.id === id)) this.#asked.delete(id);
    for (const { context } of wanted) {
      const seen = known.get(context.id);
      const engine = this.#engines.get(context.queue);
      if (seen === undefined || seen.state === 'ended' || engine === undefined) continue;
      const now = context.stop?.immediately === true;
      const former = this.#asked.get(context.id);
      if (former !== undefined && former.now === now && nowMs < former.atMs + AGAIN_MS) continue;
      const call = calls.get(engine) ?? { now: [], gently: [] };
      calls.set(engine, call);
      (now ? call.now : call.gently).push(seen);
      this.#asked.set(context.id, { atMs: nowMs, now });
    }
    for (const [engine, { now, gently }] of calls) {
      await this.#call(engine, now, true);
      await this.#call(engine, gently, false);
    }
  }

  async #call(engine: Engine, allocations: readonly EngineAllocation[], now: boolean): Promise<void> {
    if (allocations.length === 0) return;
    try {
      await engine.stop(allocations, now);
    } catch (error) {
      this.#log(
        'warn',
        `allocations cannot be stopped: ${error instanceof Error ? error.message : String(error)}; asks again`,
      );
      for (const { id } of allocations) this.#asked.delete(id);
    }
  }
}
