/**
 * The pools of resources that the coordinator holds for all runners, such as floating licences. Their use is that of the attempts
 * that runners hold, from the claim to the end: it follows from the stored runners, so it is known at once after a restart, and a lost
 * run keeps its share until its lease has ended.
 */
import type { BatchContext } from '../../../machines/batch.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { amountOf, has, plus, type Counts } from '../../domain/counted/counts.ts';
import { provides } from '../../domain/scheduling.ts';
import type { RunnerContext, SitePool, Uuid } from '../../contract/types.ts';
import type { WorkRequest } from './work-request.ts';

/** Runs of an open batch that a runner could claim now. */
interface WaitingRuns {
  context: Pick<BatchContext, 'resources'>;
  runs: number;
}

type Held = RunnerContext['held'];

const MOST_NAMED = 100;

/** The counted resources of the attempts in a list. Lists are replaced and never changed, so each is added up once. */
const sums = new WeakMap<Held, { sum: Counts | undefined }>();
function sumOf(held: Held): Counts | undefined {
  let known = sums.get(held);
  if (known === undefined) {
    known = { sum: held.reduce<Counts | undefined>((sum, it) => plus(sum, it.resources), undefined) };
    sums.set(held, known);
  }
  return known.sum;
}

export class SitePools {
  readonly #totals: Counts;
  readonly #holders: () => Iterable<Held>;
  /** Members of the current plan: the use with the planned runs, and the study for which the rest of a pool is kept. */
  #used: Counts | undefined;
  readonly #keptFor = new Map<string, Uuid>();

  /** @param holders returns the attempts of each runner, as of the current turn. */
  constructor(totals: Counts, holders: () => Iterable<Held>) {
    this.#totals = totals;
    this.#holders = holders;
  }

  readonly has = (name: string): boolean => has(this.#totals, name);

  /** Begins a plan. */
  begin(): void {
    this.#used = undefined;
    this.#keptFor.clear();
  }

  /**
   * True when the pools have room for one more run of the study. The rest of a pool that is too little is kept for the first study that asked in this
   * plan: otherwise runs that ask for less would take it for ever.
   */
  hasRoom(wanted: Counts, batchId: Uuid): boolean {
    this.#used ??= this.inUse();
    const names = Object.keys(wanted).filter(this.has);
    if (names.some((name) => (this.#keptFor.get(name) ?? batchId) !== batchId)) return false;
    const isRoom = this.leaves(wanted, this.#used) > 0;
    // A study that asks for more than there is waits for ever, and keeps nothing.
    const isPossible = this.leaves(wanted, {}) > 0;
    if (!isRoom && isPossible) for (const name of names) this.#keptFor.set(name, batchId);
    return isRoom;
  }

  /** A run is planned. */
  take(wanted: Counts): void {
    this.#used = plus(this.#used ?? this.inUse(), wanted);
  }

  /** For how many such runs the pools have room; Infinity for runs that ask for none of them. */
  leaves(wanted: Counts, used: Counts = this.inUse()): number {
    let runs = Infinity;
    for (const [name, amount] of Object.entries(wanted)) {
      if (!this.has(name)) continue;
      runs = Math.min(runs, Math.floor((amountOf(this.#totals, name) - amountOf(used, name)) / amount));
    }
    return Math.max(0, runs);
  }

  /**
   * The pools as the API shows them, in time proportional to the runners and the runs that hold some of a pool.
   * @param waiting the open batches with runs that could be claimed now
   * @param held of the stored runners; absent: as of the current turn
   */
  shown(waiting: Iterable<WaitingRuns> = [], held: Iterable<Held> = this.#holders()): SitePool[] {
    const lists = [...held];
    const asking = [...waiting].filter(({ context }) => context.resources !== undefined);
    return Object.entries(this.#totals).map(([name, total]) => {
      const holding = lists
        .filter((it) => it.length > 0 && has(sumOf(it), name))
        .flat()
        .filter((it) => has(it.resources, name));
      const waits = asking.filter(({ context }) => has(context.resources, name)).reduce((sum, it) => sum + it.runs, 0);
      return {
        name,
        total,
        used: holding.reduce((sum, it) => sum + amountOf(it.resources, name), 0),
        ...(waits === 0 ? {} : { waiting: waits }),
        batches: [...new Set(holding.map((it) => batchIdOf(it.jobId)))].slice(0, MOST_NAMED),
      };
    });
  }

  /** The use of all resources by the attempts of all runners. */
  inUse(): Counts {
    let used: Counts | undefined;
    for (const held of this.#holders()) if (held.length > 0) used = plus(used, sumOf(held));
    return used ?? {};
  }
}

/** True for the names of pools; without pools for none. */
export const isSiteName =
  (pools: SitePools | undefined) =>
  (name: string): boolean =>
    pools?.has(name) === true;

/** True when the runner has the counted resources of a run, and the pools have room. No run waits on a runner with them. */
export function mayHave(
  { capabilities, waits }: Pick<WorkRequest, 'capabilities' | 'waits'>,
  { batchId, resources }: Pick<BatchContext, 'batchId' | 'resources'>,
  pools: SitePools | undefined,
): boolean {
  if (resources === undefined) return capabilities.only_with === undefined;
  if (waits === true || !provides(capabilities, resources, isSiteName(pools))) return false;
  return pools === undefined || pools.hasRoom(resources, batchId);
}
