/** Answers about a study as text: the sentence first, its limits, then a table. */
import type { PrecisionReached, RequirementVerdict, StudySummary } from '../../contract/types.ts';
import { intervalNote, meanText, quantileOf } from '../../analysis/outputs/estimate-text.ts';
import { shareInPercent } from '../../analysis/wording.ts';
import { formatNumber, plural, printable } from '../terminal/format.ts';
import { paint, statusTone } from '../terminal/colour.ts';
import { renderTable, type Column, type TableOptions } from '../terminal/table.ts';
import { verdictWord } from '../../analysis/requirements/sentence.ts';

interface Limited {
  warnings: readonly { code: string; message: string }[];
}

/** A number, or `-` where there is none. */
export const cell = (value: number | null | undefined): string =>
  value === null || value === undefined ? '-' : formatNumber(value);

/** `3.2 to 4.1`; an end that the runs do not bound is `-inf` or `inf`, and `-` where they bound neither. */
export const rangeCell = (range: readonly [number | null, number | null] | null): string =>
  range === null || (range[0] === null && range[1] === null)
    ? '-'
    : `${range[0] === null ? '-inf' : cell(range[0])} to ${range[1] === null ? 'inf' : cell(range[1])}`;

/** One line per limit of an answer. Limits that the sentence already says are left out. */
export function limitLines({ warnings }: Limited, saidAlready: readonly string[] = []): string[] {
  return warnings.filter((it) => !saidAlready.includes(it.code)).map((it) => `note: ${printable(it.message)}`);
}

/** How many runs the answer uses, as its first line; none where it uses all of them. */
export const usedRunsLines = ({ warnings }: Limited): string[] =>
  warnings.filter((it) => it.code === 'runs-left-out').map((it) => it.message);

const quantileCell = (output: StudySummary['outputs'][number], p: number, isNarrow: boolean): string | string[] => {
  const parts = quantileOf(output, p) ?? ['-'];
  return isNarrow ? parts : parts.join(' ');
};

const right = (name: string): Column => ({ name, align: 'right' });

/** Explains the brackets of the table of statistics. */
export function intervalLines({ outputs }: Pick<StudySummary, 'outputs'>): string[] {
  const note = intervalNote(outputs);
  return note === undefined ? [] : [note];
}

/** A table with the brackets beside their quantiles needs about this many columns. */
const ROOMY = 160;

/** The quantiles of the table where no others are asked for. */
const QUANTILES = [0.05, 0.5, 0.95];

const statisticsColumns = (quantiles: readonly number[]): Column[] => [
  { name: 'output', shrink: 16 },
  { ...right('count'), rank: 6 },
  { ...right('mean'), rank: 1 },
  { ...right('sd'), rank: 3 },
  { ...right('min'), rank: 5 },
  ...quantiles.map((p) => ({ ...right(`P${formatNumber(100 * p)}`), ...(p === 0.5 ? { rank: 2 } : {}) })),
  { ...right('max'), rank: 4 },
];

/** The statistics of every output; on a narrow terminal the interval of a quantile is below it. */
export function statisticsTable(
  { outputs }: Pick<StudySummary, 'outputs'>,
  options: TableOptions = {},
  quantiles: readonly number[] = QUANTILES,
): string {
  const isNarrow = (options.width ?? Number.POSITIVE_INFINITY) < ROOMY;
  const rows = outputs
    .filter((it) => it.count > 0)
    .map((it) => [
      it.units === null || it.units === '' ? it.name : `${it.name} (${it.units})`,
      it.count,
      meanText(it.mean, it.mean_interval),
      it.sd === null ? '-' : formatNumber(it.sd, 4),
      cell(it.min),
      ...quantiles.map((p) => quantileCell(it, p, isNarrow)),
      cell(it.max),
    ]);
  return renderTable(statisticsColumns(quantiles), rows, options);
}

/** The failures, most frequent first, at most ten patterns. */
export function failureLines({ failures }: Pick<StudySummary, 'failures'>): string[] {
  const lines = failures
    .slice(0, 10)
    .map(
      (it) =>
        `${String(it.count).padStart(6)} x ${it.class}: ${printable(it.pattern, 200)} (e.g. run ${it.example_run_id})`,
    );
  return failures.length > 10 ? [...lines, `       and ${failures.length - 10} other patterns`] : lines;
}

/** `close: open, 20 of 20 runs passed, bounds 89.1 % and 100 %, 5 more passing runs needed`. */
export function progressLine(it: RequirementVerdict): string {
  const settled = it.settled_at_run_id === null ? it.settled : `at run ${it.settled_at_run_id}`;
  const parts = [
    `${verdictWord(it.verdict)}${settled === null ? '' : ` (${settled})`}`,
    `${it.passed} of ${plural(it.judged, 'run')} passed`,
    ...(it.unknown > 0 ? [`${it.unknown} unknown`] : []),
    `bounds ${shareInPercent(it.lower)} and ${shareInPercent(it.upper)}`,
    ...outlook(it),
    ...(it.failures_left !== null && it.failures_left < 0 ? ['cannot be met by this study'] : []),
    ...(it.more_clean_runs === null ? [] : [`${plural(it.more_clean_runs, 'further passing run')} would show it`]),
  ];
  return `${printable(it.name, 40)}: ${parts.join(', ')}`;
}

/** The runs that an open verdict needs. Bounds that show it so far do not decide it: open runs may still fail. */
function outlook({ needed_clean_runs: needed, failures_left: left }: RequirementVerdict): string[] {
  // Out of reach, which the line says: no number of runs of this study is enough.
  if (needed === null || (left !== null && left < 0)) return [];
  if (needed > 0) return [`${plural(needed, 'more passing run')} needed`];
  return left === null ? ['shown so far'] : [`shown so far, ${plural(left, 'more failure')} at most`];
}

/** The lines above the verdicts: codes of limits that they have said, and the sentence about the study. */
interface SaidAlready {
  codes?: readonly string[];
  headline?: string | undefined;
}

/** One sentence per requirement, with its limits; each limit is said once, and what has been said already not again. */
export function verdictLines(
  requirements: readonly RequirementVerdict[],
  { codes = [], headline = '' }: SaidAlready = {},
): string[] {
  // The sentence names the unknown runs that prevent a verdict.
  const said = [...codes, 'unknown-decides'];
  return requirements.flatMap((it) => {
    const limits = limitLines(it, said);
    said.push(...it.warnings.map(({ code }) => code));
    const sentence = printable(it.sentence);
    // The sentence begins with the verdict.
    const [verdict = ''] = sentence.split(':', 1);
    const grounds = sentence.slice(verdict.length);
    const isSaid = headline.toLowerCase().includes(grounds.replace(/^: /, '').toLowerCase());
    const painted = paint(verdict, statusTone(verdict)) + (isSaid ? '' : grounds);
    return [`${printable(it.name)}: ${painted}`, ...limits];
  });
}

/** Characters of the bar of a precision. */
const WIDTH = 10;

/** `███████░░░`: the runs so far as a share of those expected; a full bar where the precision is reached. */
function bar({ state, n, runs_expected: expected }: PrecisionReached): string {
  const share = state === 'reached' ? 1 : expected === null ? 0 : Math.min(1, n / expected);
  const full = Math.floor(WIDTH * share);
  return '█'.repeat(full) + '░'.repeat(WIDTH - full);
}

/** `███░░░░░░░ open: mean of miss_m is 6.5 ± 0.31 (wanted ± 0.1) at 95 % confidence after 84 runs, about 807 runs expected`. */
export const precisionProgressLine = (it: PrecisionReached): string => `${bar(it)} ${printable(it.sentence, 300)}`;

/** One sentence per precision, with its limits; each limit is said once. */
export function precisionLines(precision: readonly PrecisionReached[] = []): string[] {
  const said: string[] = [];
  return precision.flatMap((it) => {
    const sentence = printable(it.sentence, 300);
    const [state = ''] = sentence.split(':', 1);
    const limits = it.warnings.filter(({ message }) => !said.includes(message)).map(({ message }) => message);
    said.push(...limits);
    const tone = statusTone(it.state === 'reached' ? 'met' : it.state === 'open' ? 'open' : 'not-shown');
    return [paint(state, tone) + sentence.slice(state.length), ...limits.map((limit) => `note: ${printable(limit)}`)];
  });
}
