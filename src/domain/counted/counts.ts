/** Amounts of named resources, such as `{ gpu: 1, comsol: 1 }`: their arithmetic. The names are the operator's. Pure. */

/** Name -> amount. A name that is absent has none. */
export type Counts = Readonly<Record<string, number>>;

/** Resources that one job requests: thousandths of a core, and bytes. */
export interface ResourceRequest {
  cpuMilli: number;
  memoryBytes: number;
  /** Counted resources; undefined: none. */
  resources?: Counts | undefined;
}

/** Resources that a runner has left. */
export interface FreeCapacity {
  slots: number;
  cpuMilli: number;
  memoryBytes: number;
  /** Counted resources that the runner states; of others it has no limit. Undefined: it states none. */
  resources?: Counts | undefined;
}

/** The resource whose devices the runner knows and pins to runs. */
export const GPU = 'gpu';

/** The amount under a name; a name such as `constructor` is one of these, and not a member of every object. */
export const amountOf = (counts: Counts | undefined, name: string): number =>
  counts !== undefined && Object.hasOwn(counts, name) ? (counts[name] as number) : 0;

export const has = (counts: Counts | undefined, name: string): boolean =>
  counts !== undefined && Object.hasOwn(counts, name);

/** The sum; undefined where both are. */
export function plus(a: Counts | undefined, b: Counts | undefined): Counts | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const sum: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) sum[name] = amountOf(a, name) + amount;
  return sum;
}

/** The names of `from`, each less the amount in `taken`. */
export function less(from: Counts | undefined, taken: Counts | undefined, runs = 1): Counts | undefined {
  if (from === undefined || taken === undefined) return from;
  const left: Record<string, number> = {};
  for (const [name, amount] of Object.entries(from)) left[name] = amount - runs * amountOf(taken, name);
  return left;
}

/** Each amount so many times. */
export const times = (counts: Counts, factor: number): Counts =>
  Object.fromEntries(Object.entries(counts).map(([name, amount]) => [name, amount * factor]));

/** `gpu 2, comsol 1`. */
export const countsText = (counts: Counts): string =>
  Object.entries(counts)
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ');

/** How much of each resource that a runner has is in use: `1/2 gpu, 0/2 comsol`; empty: it has none. */
export const useText = (all: Counts | undefined, used: Counts | undefined): string =>
  Object.entries(all ?? {})
    .map(([name, total]) => `${amountOf(used, name)}/${total} ${name}`)
    .join(', ');

/** `comsol 1 of 2 in use, 3 runs wait`: a pool of the coordinator. */
export const poolText = ({
  name,
  used,
  total,
  waiting = 0,
}: Readonly<{ name: string; used: number; total: number; waiting?: number }>): string =>
  `${name} ${used} of ${total} in use${waiting === 0 ? '' : `, ${waiting} ${waiting === 1 ? 'run waits' : 'runs wait'}`}`;
