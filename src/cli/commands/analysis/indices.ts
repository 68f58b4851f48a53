/** `simbatch indices`: the shares of the variance of an output that inputs explain, alone and together. */
import type { Command } from 'commander';
import { indices } from '../../../analysis/questions/indices.ts';
import type { StudyIndices } from '../../../contract/types.ts';
import { limitLines } from '../../study/answer-text.ts';
import { renderTable, type Column, type TableOptions } from '../../terminal/table.ts';
import { questionCommand } from './question-command.ts';

type Index = StudyIndices['inputs'][number]['first'];

const right = (name: string, rank?: number): Column => ({
  name,
  align: 'right',
  ...(rank === undefined ? {} : { rank }),
});
const INDEX: readonly Column[] = [right('first'), right('interval', 2), right('total'), right('interval', 1)];
const BOUNDS: readonly Column[] = [right('first bounds', 4), right('total bounds', 3)];

const share = (value: number): string => value.toFixed(3);
const bracket = ([low, high]: readonly number[]): string => `[${share(low!)}, ${share(high!)}]`;
/** A star follows an index that is told apart from 0. */
const valueOf = ({ value, told_apart }: Index): string => `${share(value)}${told_apart ? '*' : ' '}`;

export const indicesCommand = (): Command =>
  questionCommand(indices, {
    summary: "Sobol' indices of an output, of a study with the design saltelli",
    lines: (answer, options) => [
      answer.sentence,
      ...limitLines(answer, ['runs-left-out']),
      ...(answer.inputs.length === 0 ? [] : ['', inputTable(answer, options)]),
      ...(answer.pairs.length === 0 ? [] : ['', pairTable(answer, options)]),
      ...(answer.inputs.length === 0
        ? []
        : [
            `* told apart from 0; intervals: ${100 * answer.confidence} %, from ${answer.resamples} bootstrap samples of the blocks`,
          ]),
    ],
  });

function inputTable({ inputs }: StudyIndices, options: TableOptions): string {
  const isBounded = inputs.some((it) => it.total.bounds !== null);
  const bounds = (it: Index): string => (it.bounds === null ? '-' : bracket(it.bounds));
  const rows = inputs.map(({ name, first, total }) => [
    name,
    ...[first, total].flatMap((it) => [valueOf(it), bracket(it.interval)]),
    ...(isBounded ? [bounds(first), bounds(total)] : []),
  ]);
  return renderTable([{ name: 'input', shrink: 20 }, ...INDEX, ...(isBounded ? BOUNDS : [])], rows, options);
}

function pairTable({ pairs }: StudyIndices, options: TableOptions): string {
  const columns: Column[] = [{ name: 'pair', shrink: 30 }, right('together'), right('interval', 1)];
  const rows = pairs.map(({ names, value, interval, told_apart }) => [
    names.join(' and '),
    `${share(value)}${told_apart ? '*' : ' '}`,
    bracket(interval),
  ]);
  return renderTable(columns, rows, options);
}
