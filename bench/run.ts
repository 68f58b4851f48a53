/**
 * `npm run bench [-- NAMES...]`: runs the benchmarks named, or all but the long ones; prints a table and writes
 * `bench/results/latest.json`. `NAME:ARGUMENT` passes an argument, such as the size of `soak`. What each measures, and how, is in `bench/README.md`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isReached, shown, showMeasures, type Measure } from './support/measure.ts';
import { yardstickMs } from './support/yardstick.ts';

interface Bench {
  /** Measures, or rows of a table of its own; nothing from a benchmark that prints its own. */
  run(argument?: string): Promise<readonly (Measure | Row)[] | void>;
}

type Row = Record<string, string | number>;

const isMeasure = (it: Measure | Row): it is Measure => Array.isArray(it['samples' as keyof typeof it]);

const BENCHES: Record<string, { load: () => Promise<Bench>; isLong?: true }> = {
  turns: { load: () => import('./turns.ts') },
  submit: { load: () => import('./submit.ts') },
  lifecycle: { load: () => import('./lifecycle.ts') },
  rounds: { load: () => import('./rounds.ts') },
  lists: { load: () => import('./lists.ts') },
  table: { load: () => import('./table.ts') },
  histories: { load: () => import('./histories.ts') },
  pool: { load: () => import('./pool.ts') },
  floors: { load: () => import('./floors.ts') },
  fairness: { load: () => import('./fairness.ts') },
  greedy: { load: () => import('./greedy.ts') },
  recovery: { load: () => import('./recovery.ts'), isLong: true },
  restart: { load: () => import('./restart.ts') },
  soak: { load: () => import('./soak.ts'), isLong: true },
  fleet: { load: () => import('./fleet.ts'), isLong: true },
  sampling: { load: () => import('./sampling.ts') },
  analysis: { load: () => import('./analysis.ts') },
  runner: { load: () => import('./runner.ts') },
  warm: { load: () => import('./warm.ts'), isLong: true },
  answer: { load: () => import('./answer.ts'), isLong: true },
  shared: { load: () => import('./shared.ts'), isLong: true },
  telemetry: { load: () => import('./telemetry.ts') },
  'early-termination': { load: () => import('./early-termination.ts') },
};

const RESULTS = fileURLToPath(new URL('../../bench/results/', import.meta.url));

const nameOf = (given: string): string => given.split(':')[0] ?? '';

function chosen(names: readonly string[]): string[] {
  const unknown = names.map(nameOf).find((it) => !Object.hasOwn(BENCHES, it));
  if (unknown !== undefined) {
    console.error(`bench: there is no "${unknown}"; there are ${Object.keys(BENCHES).join(', ')}`);
    process.exit(64);
  }
  return names.length > 0 ? [...names] : Object.keys(BENCHES).filter((it) => BENCHES[it]?.isLong !== true);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const names = chosen(process.argv.slice(2));
const machine = {
  processor: cpus()[0]?.model,
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  at: new Date().toISOString(),
};
interface Circumstances {
  bench: string;
  loadBefore: number;
  yardstickMs: { before: number; after: number };
}
const measures: (Measure & Circumstances)[] = [];
const tables: Record<string, readonly Row[]> = {};
for (const given of names) {
  const name = nameOf(given);
  console.log(`\n${given} ...`);
  const [loadBefore = 0] = loadavg();
  const before = yardstickMs();
  const found = (await (await BENCHES[name]?.load())?.run(given.split(':')[1])) ?? [];
  const yardstick = { before, after: yardstickMs() };
  const lines = found.filter(isMeasure);
  const rows = found.filter((it): it is Row => !isMeasure(it));
  measures.push(...lines.map((it) => ({ bench: name, loadBefore, yardstickMs: yardstick, ...it })));
  if (lines.length > 0) console.log(showMeasures(lines));
  if (rows.length > 0) console.table((tables[name] = rows));
  console.log(`the yardstick took ${shown(yardstick.before)} ms before and ${shown(yardstick.after)} ms after`);
}
mkdirSync(RESULTS, { recursive: true });
writeFileSync(`${RESULTS}latest.json`, `${JSON.stringify({ machine, measures, tables }, null, 2)}\n`);
const missed = measures.filter((it) => !isReached(it));
console.log(`\n${measures.length} measures in bench/results/latest.json; ${missed.length} below target`);
