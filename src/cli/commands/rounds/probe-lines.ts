/** The table of a probe for people: a row for each input, and sentences about inputs without effect. */
import { idleInputs, type ProbedEnd, type ProbeRow, type ProbeTable } from '../../../domain/probe/table.ts';
import { formatNumber, plural, printable } from '../../terminal/format.ts';
import { renderTable, tableOptions, type Column } from '../../terminal/table.ts';

/** Outputs that have a column; -o json has them all. */
const MOST_OUTPUTS = 3;

/**
 * The table, and the sentences after it.
 * @param why why the nominal run has failed, or how a person sees it
 */
export const probeLines = (table: ProbeTable, output: string, why: string): string[] => [
  renderTable(columnsOf(table), rowsOf(table), tableOptions(output)),
  ...sentences(table, idleInputs(table), why).map((line) => printable(line)),
];

/** The outputs that have a column: those of the nominal run, else of the others. */
function outputsIn({ nominal, inputs }: ProbeTable): string[] {
  const changed = inputs.flatMap(({ at_low, at_high }) => [...at_low.changes, ...at_high.changes]);
  const names = [...Object.keys(nominal.outputs), ...changed.map(({ output }) => output)];
  return [...new Set(names)].filter((name) => !name.startsWith('simbatch_')).slice(0, MOST_OUTPUTS);
}

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

/** The change of an output relative to the nominal run: `-3.1 %`, `same`, or the end of a run that has not completed. */
function changeText({ class: end, changes }: ProbedEnd, output: string): string {
  if (end !== 'ok') return end;
  const change = changes.find((it) => it.output === output);
  if (change === undefined) return 'same';
  if (change.relative === null) return change.value === undefined ? 'missing' : 'differs';
  const percent = formatNumber(change.relative * 100, 3);
  return `${change.relative > 0 ? '+' : ''}${percent} %`;
}

function sentences({ nominal, inputs }: ProbeTable, idle: readonly ProbeRow[], why: string): string[] {
  const lines = idle.map(({ name, read }) =>
    read === 'never'
      ? `parameter-never-read: no run has looked up ${JSON.stringify(name)}`
      : `parameter-without-effect: ${JSON.stringify(name)} at its 1 % and 99 % quantile gives every output of the nominal run, to the bit`,
  );
  if (nominal.class !== 'ok') lines.push(`the nominal run has not completed (${nominal.class}): ${why}`);
  const unknown = inputs.filter(({ effect }) => effect === 'unknown');
  if (unknown.length > 0)
    lines.push(`the effect of ${plural(unknown.length, 'input')} is not known: no output, or a run was lost`);
  return lines;
}
