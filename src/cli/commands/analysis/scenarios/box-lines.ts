/** The lines of `simbatch ask pbox`: the least and the greatest of each figure with their cells, and the curves at the values asked for. */
import type { Envelope, OutputBox } from '../../../../contract/types.ts';
import { scenarioText } from '../../../../domain/scenarios/cells.ts';
import { shareInPercent } from '../../../../analysis/wording.ts';
import { cell, limitLines, rangeCell, usedRunsLines } from '../../../study/answer-text.ts';
import { formatNumber } from '../../../terminal/format.ts';
import { renderTable, type Column, type TableOptions } from '../../../terminal/table.ts';

const right = (name: string): Column => ({ name, align: 'right' });
const FIGURES: readonly Column[] = [
  { name: 'figure', shrink: 12 },
  { name: 'bound' },
  right('value'),
  { ...right('interval'), rank: 1 },
  { name: 'cell', shrink: 14 },
];
const CURVES: readonly Column[] = [{ name: 'runs' }, right('least share'), right('greatest share')];

/** `asked`: the query, whose values of `at` the curves are shown at. */
export function boxLines(
  answer: OutputBox,
  options: TableOptions,
  { query }: { query: { at?: readonly number[] } },
): string[] {
  const { mean, quantiles, requirements, output, curve } = answer;
  const rows = [
    ...figureRows('mean', mean),
    ...quantiles.flatMap(({ p, envelope }) => figureRows(`p${formatNumber(100 * p, 6)}`, envelope)),
    ...requirements.flatMap(({ name, envelope }) => figureRows(`passing ${name}`, envelope, true)),
  ];
  const shares = curve.values.map((value, at) => [
    `${output} <= ${cell(value)}`,
    shareInPercent(curve.least[at]!),
    shareInPercent(curve.greatest[at]!),
  ]);
  return [
    ...usedRunsLines(answer),
    answer.sentence,
    ...limitLines(answer, ['runs-left-out']),
    ...(rows.length === 0 ? [] : ['', renderTable(FIGURES, rows, options)]),
    ...(query.at === undefined || shares.length === 0 ? [] : ['', renderTable(CURVES, shares, options)]),
  ];
}

function figureRows(name: string, envelope: Envelope | null, isShare = false): string[][] {
  if (envelope === null) return [[name, '-', '-', '-', '-']];
  return (['least', 'greatest'] as const).map((bound) => {
    const { value, interval, scenario } = envelope[bound];
    const range =
      isShare && interval !== null ? interval.map((end) => shareInPercent(end ?? 0)).join(' to ') : rangeCell(interval);
    return [name, bound, isShare ? shareInPercent(value) : cell(value), range, scenarioText(scenario) || '-'];
  });
}
