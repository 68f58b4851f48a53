/** `simbatch why`: which parameters drive the failures; `simbatch sensitivity`: which drive an output; `simbatch diff`. */
import type { Command } from 'commander';
import { attribution } from '../../../analysis/questions/attribution.ts';
import { compare } from '../../../analysis/questions/compare.ts';
import { sensitivity } from '../../../analysis/questions/sensitivity.ts';
import type { StudyAttribution, StudyComparison } from '../../../contract/types.ts';
import { quoted } from '../../../base/text/shell.ts';
import { shortId } from '../../../domain/ids.ts';
import { cell, limitLines, rangeCell, usedRunsLines } from '../../study/answer-text.ts';
import { formatNumber, plural, printable } from '../../terminal/format.ts';
import type { Tone } from '../../terminal/colour.ts';
import { renderTable, type Column, type TableOptions } from '../../terminal/table.ts';
import { questionCommand } from './question-command.ts';

type Cause = StudyAttribution['causes'][number];
type Level = NonNullable<StudyAttribution['levels']>[number];

const yes = (answer: boolean | null): string => (answer === null ? '-' : answer ? 'yes' : 'no');

const right = (name: string, rank?: number): Column => ({
  name,
  align: 'right',
  ...(rank === undefined ? {} : { rank }),
});
const yesTone = (text: string): Tone | undefined => (text === 'yes' ? 'good' : text === 'no' ? 'faint' : undefined);
const PARAMETER: Column = { name: 'parameter' };
const TOLD_APART: Column = { name: 'told apart', align: 'right', tone: yesTone };

const ATTRIBUTION: readonly Column[] = [
  PARAMETER,
  TOLD_APART,
  right('auc', 3),
  right('p (holm)', 2),
  right('median failing', 4),
  right('passing', 4),
  { name: 'most failures', shrink: 28, rank: 1 },
];

const SENSITIVITY: readonly Column[] = [
  PARAMETER,
  TOLD_APART,
  right('sobol'),
  right('noise floor', 1),
  right('prcc'),
  right('p (holm)', 2),
  right('spearman', 3),
  right('srrc', 4),
];

export const whyCommand = (): Command =>
  questionCommand(attribution, {
    name: 'why',
    placed: 'failing',
    summary: 'which parameters drive the failures',
    lines: (answer, options) => [
      ...answer.causes.flatMap((it) => causeLines(it, options)),
      ...(answer.causes.length === 0 ? [] : ['all failing runs together:']),
      answer.sentence,
      ...limitLines(answer, ['runs-left-out']),
      ...((answer.levels ?? []).length === 0 ? [] : ['', levelsTable(answer.levels ?? [], options)]),
      ...(answer.parameters.length === 0 ? [] : ['', attributionTable(answer.parameters, options)]),
    ],
  });

const LEVELS: readonly Column[] = [
  { name: 'level' },
  TOLD_APART,
  right('failing'),
  right('of'),
  right('difference'),
  right('p (holm)', 2),
];

/** Levels beyond these are in `--format json`. */
const MOST_LEVELS = 20;

function levelsTable(levels: readonly Level[], options: TableOptions): string {
  const rows = levels
    .slice(0, MOST_LEVELS)
    .map((it) => [
      printable(`${it.axis} = ${it.level}`, 200),
      yes(it.told_apart),
      it.failing,
      it.of,
      it.difference === null ? '-' : formatNumber(it.difference, 3),
      formatNumber(it.p_holm, 2),
    ]);
  const rest = levels.length - rows.length;
  return renderTable(LEVELS, rows, options) + (rest > 0 ? `\nand ${rest} more levels, in the answer as JSON` : '');
}

/** One class and pattern of failures by itself. */
function causeLines(
  { class: runClass, pattern, failing, parameters, sentence }: Cause,
  options: TableOptions,
): string[] {
  return [
    `${runClass}, ${plural(failing, 'run')}: ${printable(pattern, 200)}`,
    sentence,
    ...(parameters.length === 0 ? [] : ['', attributionTable(parameters, options)]),
    '',
  ];
}

function attributionTable(parameters: StudyAttribution['parameters'], options: TableOptions): string {
  const rows = parameters.map((it) => [
    it.name,
    yes(it.told_apart),
    formatNumber(it.auc, 3),
    formatNumber(it.p_holm, 2),
    cell(it.median_failing),
    cell(it.median_passing),
    it.best_interval.sentence,
  ]);
  return renderTable(ATTRIBUTION, rows, options);
}

export const sensitivityCommand = (): Command =>
  questionCommand(sensitivity, {
    summary: 'which parameters drive an output',
    lines: (answer, options) => [
      answer.sentence,
      ...limitLines(answer, ['runs-left-out']),
      ...(answer.parameters.length === 0 ? [] : ['']),
      renderTable(
        SENSITIVITY,
        answer.parameters.map((it) => [
          it.name,
          yes(it.told_apart),
          ...[it.sobol_cosine, it.noise_floor, it.prcc, it.prcc_p_holm, it.spearman, it.srrc].map((value) =>
            value === null ? '-' : formatNumber(value, 3),
          ),
        ]),
        options,
      ),
    ],
  });

export const diffCommand = (): Command =>
  questionCommand(compare, { name: 'diff', summary: 'compare a study with another one', lines: comparisonLines });

const MOST_CHANGES = 20;

/** The lines of a comparison, of two studies or of two levels of one. */
export function comparisonLines(answer: StudyComparison, options: TableOptions): string[] {
  const changes = answer.configuration_changes.slice(0, MOST_CHANGES).map(({ pointer, before, after }) => {
    const [from, to] = [before, after].map((it) => (it === undefined ? 'absent' : JSON.stringify(it)));
    return `changed: ${printable(`${pointer}: ${from} -> ${to}`, 200)}`;
  });
  const more = answer.configuration_changes.length + answer.configuration_changes_omitted - changes.length;
  return [
    ...usedRunsLines(answer).map((it) => `before: ${it}`),
    ...usedRunsLines(answer.with).map((it) => `after: ${it}`),
    answer.sentence,
    ...limitLines(answer, ['runs-left-out']),
    ...limitLines(answer.with, ['runs-left-out']).map((it) => `after: ${it}`),
    ...changes,
    ...(more > 0 ? [`and ${more} more changes of the configuration`] : []),
    ...(answer.paired ? flipLines(answer) : []),
    ...historyLines(answer),
    '',
    differencesTable(answer, options),
  ];
}

/** The bands of two studies are tables of their own. */
function historyLines({ batch_id: before, with: after, histories }: StudyComparison): string[] {
  const [first] = histories;
  if (first === undefined) return [];
  const commands = [before, after.batch_id].map((it) => `simbatch band ${shortId(it)} ${quoted(first)}`);
  return [
    `histories of both: ${histories.map((it) => printable(it, 100)).join(', ')}; their bands: ${commands.join(' and ')}`,
  ];
}

/** Of two levels, flips are numbers of samples. */
function flipLines({ flips, levels }: Extract<StudyComparison, { paired: true }>): string[] {
  const unit = levels === undefined ? 'runs' : 'samples';
  return (['broke', 'mended'] as const).flatMap((name) => {
    const ids = flips[name];
    if (ids.length === 0) return [];
    const more = ids.length > 20 ? ` and ${ids.length - 20} more` : '';
    return [`${name}: ${unit} ${ids.slice(0, 20).join(', ')}${more}`];
  });
}

const OUTPUT: Column = { name: 'output' };
const DIFFERENCE: readonly Column[] = [right('mean difference'), right('interval', 1), right('p (holm)', 2)];

function differencesTable(answer: StudyComparison, options: TableOptions): string {
  if (answer.paired) {
    const rows = answer.outputs.map((it) => {
      const counts = [it.pairs, it.identical, cell(it.mean_difference)];
      return [it.name, ...counts, rangeCell(it.interval), cell(it.p_holm)];
    });
    return renderTable([OUTPUT, right('pairs', 4), right('identical', 3), ...DIFFERENCE], rows, options);
  }
  const rows = answer.outputs.map((it) => {
    const counts = [it.n_before, it.n_after, cell(it.mean_difference)];
    return [it.name, ...counts, rangeCell(it.welch), cell(it.p_holm)];
  });
  return renderTable([OUTPUT, right('before', 4), right('after', 3), ...DIFFERENCE], rows, options);
}
