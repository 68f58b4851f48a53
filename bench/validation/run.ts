/**
 * `npm run build && node dist/bench/validation/run.js [name ...]`: computes the coverage of the intervals and the error of verdicts and tests, and
 * writes these tables, or all, into docs/analysis.md. All draws are from fixed seeds: the tables change only with the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';
import { designCoverage, meanCoverage, quantileCoverage } from './coverage.ts';
import { boundCoverage, sequentialCost, sequentialErrors } from './error-rates.ts';
import { printedCoverage } from './printed.ts';
import { sensitivityErrors } from './sensitivity-errors.ts';
import { markdown, withTables } from './tables.ts';

const PAGE = join(packageRoot, 'docs/analysis.md');

const MAKERS = {
  'sequential-error': sequentialErrors,
  'sequential-cost': sequentialCost,
  'bound-coverage': boundCoverage,
  'mean-coverage': meanCoverage,
  'quantile-coverage': quantileCoverage,
  'design-coverage': designCoverage,
  'printed-coverage': printedCoverage,
  'sensitivity-error': sensitivityErrors,
};

const asked = process.argv.slice(2);
const tables = Object.entries(MAKERS)
  .filter(([name]) => asked.length === 0 || asked.includes(name))
  .map(([, make]) => {
    const table = make();
    console.log(`${table.name}\n${markdown(table)}\n`);
    return table;
  });
writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), tables));
