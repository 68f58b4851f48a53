/**
 * `npm run build && node dist/bench/validation/run.js [name ...]`: computes the coverage of the intervals and the error of verdicts and tests, and
 * writes these tables, or all, into the pages here. All draws are from fixed seeds: the tables change only with the code.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';
import { bandCoverage } from './bands.ts';
import { designCoverage, meanCoverage, quantileCoverage } from './coverage.ts';
import { boundCoverage, sequentialCost, sequentialErrors } from './error-rates.ts';
import { pooledCoverage } from './pooled.ts';
import { printedCoverage } from './printed.ts';
import { rareCoverage, rareFresh, rarePeers } from './rare/table.ts';
import { replicateCoverage } from './replicates.ts';
import { sensitivityErrors } from './sensitivity-errors.ts';
import { stoppingCoverage } from './stopping.ts';
import { markdown, placeOf, withTables } from './tables.ts';

/** The pages; each table has its place in one of them. */
const PAGES = ['bench/validation/README.md', 'bench/validation/rare-events.md'].map((it) => join(packageRoot, it));

const MAKERS = {
  'sequential-error': sequentialErrors,
  'sequential-cost': sequentialCost,
  'bound-coverage': boundCoverage,
  'mean-coverage': meanCoverage,
  'quantile-coverage': quantileCoverage,
  'design-coverage': designCoverage,
  'printed-coverage': printedCoverage,
  'sensitivity-error': sensitivityErrors,
  'stopping-coverage': stoppingCoverage,
  'replicate-coverage': replicateCoverage,
  'rare-fresh': rareFresh,
  'rare-coverage': rareCoverage,
  'rare-peers': rarePeers,
  'band-coverage': bandCoverage,
  'pooled-coverage': pooledCoverage,
};

const asked = process.argv.slice(2);
const tables = Object.entries(MAKERS)
  .filter(([name]) => asked.length === 0 || asked.includes(name))
  .map(([, make]) => {
    const table = make();
    console.log(`${table.name}\n${markdown(table)}\n`);
    return table;
  });
for (const page of PAGES) {
  const text = readFileSync(page, 'utf8');
  const own = tables.filter(({ name }) => text.includes(placeOf(name)));
  if (own.length > 0) writeFileSync(page, withTables(text, own));
}
const pages = PAGES.map((page) => readFileSync(page, 'utf8')).join('');
const lost = tables.find(({ name }) => !pages.includes(placeOf(name)));
if (lost !== undefined) throw new Error(`no page has a place for the table "${lost.name}": ${placeOf(lost.name)}`);
