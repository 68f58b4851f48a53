/**
 * The time of a study's analysis: 10^6 runs with 20 numeric outputs, from records to the table, the summary, verdicts, convergence and
 * worst cases. Run it alone (`node dist/bench/analysis.js`) or by `bench/run.ts`, which collects `run()`.
 */
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { convergence } from '../src/analysis/outputs/convergence.ts';
import { worstRuns } from '../src/analysis/outputs/worst.ts';
import { judgeStudy } from '../src/analysis/requirements/verdicts.ts';
import type { Requirement } from '../src/contract/types.ts';
import { SequentialVerdict } from '../src/analysis/requirements/sequential-verdict.ts';
import { summarizeStudy } from '../src/analysis/summary.ts';
import type { RunTable } from '../src/analysis/table/run-table.ts';
import { RunTableBuilder } from '../src/analysis/table/table-builder.ts';

const RUNS = 1_000_000;
const OUTPUTS = 20;

/** Values that repeat their order of magnitude only; multiplication by an irrational keeps them distinct and out of order. */
const valueOf = (row: number, output: number): number => ((row + 1) * (output + 1) * 0.618_033_988_749_894_9) % 1;

function buildTable(): RunTable {
  const names = Array.from({ length: OUTPUTS }, (_, k) => `output_${k}`);
  const builder = new RunTableBuilder({ batchId: 'bench', method: 'monte_carlo', runs: RUNS });
  for (let row = 0; row < RUNS; row++) {
    const isFailed = row % 100 === 99;
    if (isFailed) {
      builder.add({ row, status: 'Failed', reason: 'exit', errorMessage: `no convergence after ${row} steps` });
      continue;
    }
    builder.add({
      row,
      status: 'Completed',
      outputs: names.map((name, k) => [name, valueOf(row, k)] as const),
      executionSecs: 1,
    });
  }
  return builder.build();
}

/** Close to the truth (0.99 of the runs complete, 0.9 of them are below 0.9), so that the sequential test takes long. */
const REQUIREMENTS: Requirement[] = (['once', 'continuous'] as const).map((look) => ({
  name: look,
  output: 'output_0',
  condition: '< 0.9',
  probability: 0.891,
  look,
}));

/** One row per part, in milliseconds. */
export function run(): Promise<Record<string, number | string>[]> {
  const rows: Record<string, number | string>[] = [];
  const timed = <T>(part: string, act: () => T): T => {
    const start = process.hrtime.bigint();
    const result = act();
    rows.push({ part, ms: Number((process.hrtime.bigint() - start) / 100_000n) / 10 });
    return result;
  };
  const before = process.memoryUsage().arrayBuffers;
  const table = timed('table from records', buildTable);
  rows.push({
    part: 'bytes per run of the table',
    bytes: Math.round((process.memoryUsage().arrayBuffers - before) / RUNS),
  });
  timed('summary without requirements', () => summarizeStudy(table));
  timed('two verdicts, once and continuous', () => judgeStudy(table, REQUIREMENTS));
  timed('convergence of the mean', () =>
    convergence(table, { output: 'output_0', quantity: 'mean', confidence: 0.95 }),
  );
  timed('convergence of p95', () =>
    convergence(table, { output: 'output_0', quantity: { p: 0.95 }, confidence: 0.95 }),
  );
  timed('worst 100 runs', () => worstRuns(table, 'output_0', 100));
  timed('incremental verdict, 10^6 runs one by one', takeAll);
  return Promise.resolve(rows);
}

function takeAll(): void {
  const verdict = new SequentialVerdict(0.9973, 0.9);
  for (let runId = 0; runId < RUNS; runId++) verdict.take(runId % 370 === 369 ? 'fail' : 'pass', runId);
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href) console.table(await run());
