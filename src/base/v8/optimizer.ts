/** The settings of V8's optimizing compiler that runners and coordinators change. */
import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../clock.ts';

/** How much of its bytecode a function executes before V8 optimizes it, in bytes: V8's own value, and that of a young process. */
const BUDGET_BYTES = 67_584;
const FIRST_BUDGET_BYTES = 300_000;
/** A process is young until it has used this much processor time. */
const YOUNG_MS = 2500;
const LOOK_MS = 500;
/** The V8 of Node 20. Those of Node 22 and later have no such flag, and say so on the standard error of every start. */
const HAS_BUDGET = /^11\.3\./;

/**
 * Call it before the program is warm. The optimizing compiler, which has threads of its own, takes a third of the instructions of a runner's
 * first 1,000 short runs, and half of a coordinator's. A process that ends soon never gets that back, so a young one optimizes only its
 * hottest functions, and V8's own settings return when it has worked for as long as the compiler would have.
 * Nothing changes with a V8 whose budget cannot be set.
 * @param usedMs processor time of this process, in milliseconds.
 * @param v8 the version of V8.
 * @param setFlag sets a flag of V8.
 */
export function optimizeLater(
  clock: Pick<Clock, 'every'>,
  usedMs: () => number = processorMs,
  v8: string = process.versions.v8,
  setFlag: (flag: string) => void = setFlagsFromString,
): void {
  if (!HAS_BUDGET.test(v8)) return;
  const setBudget = (bytes: number): void => setFlag(`--interrupt-budget=${String(bytes)}`);
  setBudget(FIRST_BUDGET_BYTES);
  const cancel = clock.every(LOOK_MS, () => {
    if (usedMs() < YOUNG_MS) return;
    setBudget(BUDGET_BYTES);
    cancel();
  });
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
