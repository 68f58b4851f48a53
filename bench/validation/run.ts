/**
 * `npm run build && node dist/bench/validation/run.js`: computes the coverage of the intervals and the error of the verdicts, and writes
 * the tables into docs/analysis.md. All draws are from fixed seeds: the tables change only with the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';
import { designCoverage, meanCoverage, quantileCoverage } from './coverage.ts';
import { boundCoverage, sequentialCost, sequentialErrors } from './error-rates.ts';
import { printedCoverage } from './printed.ts';
import { markdown, withTables } from './tables.ts';

const PAGE = join(packageRoot, 'docs/analysis.md');

const tables = [
  sequentialErrors,
  sequentialCost,
  boundCoverage,
  meanCoverage,
  quantileCoverage,
  designCoverage,
  printedCoverage,
].map((make) => {
  const table = make();
  console.log(`${table.name}\n${markdown(table)}\n`);
  return table;
});
writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), tables));
