/** The selection of a page as Python, for a notebook. Pure. */
import { readRanges } from '../plots/variables.ts';
import { whereOf } from '../runs/filter.ts';

/** Reads the selected runs as a data frame; `select` as in the address. */
export function asPython(origin: string, batchId: string, select: string): string {
  const filters = { statuses: [], runner: null, ranges: readRanges(select), text: '' };
  const where = whereOf(filters);
  const query = where === undefined ? '' : ` + "&where=" + urllib.parse.quote(${JSON.stringify(where)})`;
  return [
    ...(where === undefined ? [] : ['import urllib.parse']),
    'import pandas',
    `runs = pandas.read_parquet("${origin}/batches/${batchId}/table?format=parquet"${query})`,
    '',
  ].join('\n');
}

/** A plot of the study by the Python package: `call` is the method with its arguments. */
export const plotAsPython = (origin: string, batchId: string, call: string): string =>
  ['import simbatch as sb', `study = sb.connect("${origin}").open("${batchId}")`, `study.plot.${call}`, ''].join('\n');
