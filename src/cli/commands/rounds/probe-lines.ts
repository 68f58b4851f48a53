/** The table of a probe for people: a row for each input, and sentences about inputs without effect. */
import type { ProbedEnd, ProbeTable } from '../../../domain/probe/table.ts';
import { changedOutputs, changeText, probeSentences } from '../../../domain/probe/wording.ts';
import { formatNumber, printable } from '../../terminal/format.ts';
import { renderTable, tableOptions, type Column } from '../../terminal/table.ts';

/** Outputs that have a column; -f json has them all. */
const MOST_OUTPUTS = 3;

/**
 * The table, and the sentences after it.
 * @param why why the nominal run has failed, or how a person sees it
 */
export const probeLines = (table: ProbeTable, output: string, why: string): string[] => [
  renderTable(columnsOf(table), rowsOf(table), tableOptions(output)),
  ...probeSentences(table, why).map((line) => printable(line)),
];

const outputsIn = (table: ProbeTable): string[] => changedOutputs(table).slice(0, MOST_OUTPUTS);

const columnsOf = (table: ProbeTable): readonly Column[] => [
  { name: 'input', shrink: 12 },
  { name: 'read', tone: (text) => (text === 'never' ? 'bad' : undefined) },
  { name: 'effect', tone: (text) => (text === 'none' ? 'bad' : undefined) },
  { name: 'low', align: 'right', rank: 2 },
  { name: 'high', align: 'right', rank: 2 },
  ...outputsIn(table).map((output): Column => ({ name: printable(output), verbatim: true, shrink: 12 })),
];

function rowsOf(table: ProbeTable): (string | number)[][] {
  const outputs = outputsIn(table);
  const changes = (low: ProbedEnd, high: ProbedEnd): string[] =>
    outputs.map((output) => `${changeText(low, output)} / ${changeText(high, output)}`);
  const rows = table.inputs.map((it): (string | number)[] => [
    printable(it.name),
    it.read,
    it.effect,
    formatNumber(it.low),
    formatNumber(it.high),
    ...changes(it.at_low, it.at_high),
  ]);
  if (table.corners !== undefined)
    rows.push(['all inputs', '', '', '', '', ...changes(table.corners.low, table.corners.high)]);
  return rows;
}
