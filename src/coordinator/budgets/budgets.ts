/**
 * Budgets of core hours per owner and UTC day. The core time of an attempt is added to the record of its owner in the turn that ends it, so that
 * neither a crash nor a restart loses or repeats any; running attempts are added up each second, in slices of the event loop. An owner whose budget is used gets no
 * further runs until the next day; runs that have started continue.
 */
import type { Fact, JobEnded, JobRequeued } from '../../../machines/protocol.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { BudgetList, DayUse, OwnerBudget } from '../../contract/types.ts';
import { charged, coreHours, coreMsWithin, DAY_MS, dayOf } from '../../domain/budgets/day-use.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import { allOf, idOf, keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { Turn } from '../kernel/turn/turn.ts';

/** The limit of every owner without one of its own. */
export const EVERY_OWNER = '*';
/** Studies without an owner share a budget. */
const nameOf = (owner: string | undefined): string => owner ?? '';

interface BudgetParts {
  store: Pick<Store, 'snapshot'>;
  clock: Pick<Clock, 'now'>;
  share: EventLoopShare;
  directory: Pick<Directory, 'jobs' | 'state'>;
  /** Called for each owner whose runs may start no more, or again. */
  changed: (owner: string | undefined) => void;
}

/** A run that requests no cores counts as one: it has a slot. */
const countedMilli = ({ cpuMilli }: { cpuMilli: number }): number => (cpuMilli === 0 ? 1_000 : cpuMilli);

/** The change of an owner in a turn that is not committed to memory yet. */
type Pending = Map<string, DayUse>;

const endsAttempt = (fact: Fact): fact is JobRequeued | JobEnded =>
  (fact.type === 'job.requeued' || fact.type === 'job.ended') && fact.from === 'Running';

export class Budgets {
  readonly #limits: ReadonlyMap<string, number>;
  readonly #parts: BudgetParts;
  readonly #uses = new Map<string, DayUse>();
  readonly #exhausted = new Set<string>();
  /** The core time of today by owner, as of the last tick. */
  #today: ReadonlyMap<string, number> = new Map();
  #pending: Pending = new Map();

  /** @param limits core hours of a day by owner; `*`: of each owner without an own one. */
  constructor(limits: ReadonlyMap<string, number>, parts: BudgetParts) {
    this.#limits = limits;
    this.#parts = parts;
  }

  /** True when no further run of the owner may start. */
  readonly isUsed = (owner: string | undefined): boolean =>
    this.#exhausted.has(nameOf(owner)) || this.#limitOf(nameOf(owner)) === 0;

  async restore(): Promise<void> {
    const view = this.#parts.store.snapshot();
    try {
      for await (const chunk of view.entries(allOf('budget'))) {
        for (const [key, record] of chunk) this.#uses.set(idOf(key), JSON.parse(record) as DayUse);
      }
    } finally {
      await view.close();
    }
    await this.tick(this.#parts.clock.now());
  }

  /** Adds the core time of the attempts that this turn ends to the records of their owners, in the same commit. */
  charge(facts: readonly Fact[], turn: Turn): void {
    this.#pending = new Map();
    for (const fact of facts) {
      if (!endsAttempt(fact)) continue;
      const context = turn.state('batch', fact.batchId)?.context;
      const started = turn.state('job', fact.jobId)?.context.attempts.find((it) => it.n === fact.attempt)?.started;
      if (context === undefined || started === undefined) continue;
      const owner = nameOf(context.owner);
      const use = this.#pending.get(owner) ?? this.#uses.get(owner) ?? {};
      const time = { cpuMilli: countedMilli(context), fromMs: started, toMs: fact.now };
      this.#pending.set(owner, charged(use, time));
    }
    for (const [owner, use] of this.#pending) turn.put(keys.budget(owner), JSON.stringify(use));
  }

  /** The turn can no longer be rolled back. */
  completed(): void {
    for (const [owner, use] of this.#pending) this.#uses.set(owner, use);
    this.#pending.clear();
  }

  /** Adds up, and reports the owners whose runs may start no more, or again: after midnight, or when the limit was raised. */
  async tick(now: number): Promise<void> {
    this.#today = await this.#addedUp(now);
    for (const owner of new Set([...this.#today.keys(), ...this.#exhausted])) {
      const limit = this.#limitOf(owner);
      const isUsed = limit !== undefined && coreHours(this.#today.get(owner) ?? 0) >= limit;
      if (isUsed === this.#exhausted.has(owner)) continue;
      if (isUsed) this.#exhausted.add(owner);
      else this.#exhausted.delete(owner);
      this.#parts.changed(owner === '' ? undefined : owner);
    }
  }

  /** As of the last tick. @param of the owner to show; absent: all of them. */
  shown(of?: string): BudgetList {
    const own = [...this.#limits.keys()].filter((it) => it !== EVERY_OWNER);
    const names = of === undefined ? new Set([...own, ...this.#today.keys()]) : [of];
    return {
      resets_at: new Date((dayOf(this.#parts.clock.now()) + 1) * DAY_MS).toISOString(),
      budgets: [...names].sort().map((it) => this.#shownOf(it)),
    };
  }

  #shownOf(owner: string): OwnerBudget {
    return {
      ...(owner === '' ? {} : { owner }),
      limit_core_hours: this.#limitOf(owner) ?? null,
      used_core_hours: coreHours(this.#today.get(owner) ?? 0),
      is_used: this.isUsed(owner),
    };
  }

  readonly #limitOf = (owner: string): number | undefined => this.#limits.get(owner) ?? this.#limits.get(EVERY_OWNER);

  /**
   * The core time of today by owner: of ended attempts, and of those that run, in time proportional to the active runs. An attempt that ends
   * meanwhile is counted once or left to the next tick.
   */
  async #addedUp(now: number): Promise<Map<string, number>> {
    const { directory, share } = this.#parts;
    const day = dayOf(now);
    const sums = new Map<string, number>();
    for (const [owner, { [day]: coreMs = 0 }] of this.#uses) if (coreMs > 0) sums.set(owner, coreMs);
    for await (const activation of share.paced(directory.jobs.values())) {
      const { value, context } = stateOf(activation);
      if (value !== 'Running' || context.startedAtMs === undefined) continue;
      const owner = nameOf(directory.state('batch', batchIdOf(activation.id))?.context.owner);
      const time = { cpuMilli: countedMilli(context), fromMs: context.startedAtMs, toMs: now };
      sums.set(owner, (sums.get(owner) ?? 0) + coreMsWithin(time, day));
    }
    return sums;
  }
}

/** @param parts returns those that an owner concerns whose runs may start no more, or again. */
export const openBudgets = (
  limits: ReadonlyMap<string, number> | undefined,
  tools: Omit<BudgetParts, 'changed'>,
  parts: () => { scheduler: { reviewOwner(owner: string | undefined): void }; pendingPolls: { schedule(): void } },
): Budgets | undefined =>
  limits &&
  new Budgets(limits, {
    ...tools,
    changed: (owner) => {
      parts().scheduler.reviewOwner(owner);
      parts().pendingPolls.schedule();
    },
  });

/** The budgets of a coordinator; none without a limit. `owner`: shows this one alone; absent: all. */
export function budgets(parts: { budgets: Budgets | undefined; clock: Clock }, owner?: string): BudgetList {
  if (parts.budgets !== undefined) return parts.budgets.shown(owner);
  return { resets_at: new Date((dayOf(parts.clock.now()) + 1) * DAY_MS).toISOString(), budgets: [] };
}
