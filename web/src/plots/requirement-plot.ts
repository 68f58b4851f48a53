/** The worst requirement of a study, and what a plot of its output shows: bars, limits, failing sides, percentiles. Pure. */
import type { RequirementVerdict, StudyDistributions, StudySummary } from '../../../src/contract/types.ts';
import { limitsOf, parseRequirementCondition } from '../../../src/domain/study/condition.ts';

type Histogram = StudyDistributions['variables'][number];

/** Verdicts, the gravest first. */
export const GRAVEST_FIRST = ['violated', 'not-shown', 'open', 'met'] as const;

/** How far the estimate is above the required share, as a part of what may fail; below 0: not reached. */
const margin = ({ estimate, probability }: RequirementVerdict): number =>
  ((estimate ?? probability) - probability) / Math.max(1e-12, 1 - probability);

/** The requirements on one output that have a verdict, the worst first: violated, not shown, open, met; of equal ones the nearest to its limit. */
export function worstFirst(requirements: readonly RequirementVerdict[]): RequirementVerdict[] {
  const rank = ({ verdict }: RequirementVerdict): number => GRAVEST_FIRST.findIndex((it) => it === verdict);
  return requirements
    .filter((it) => it.output !== null && it.verdict !== null)
    .sort((a, b) => rank(a) - rank(b) || margin(a) - margin(b));
}

/** A vertical line of the plot. */
export interface Line {
  text: string;
  value: number;
  isLimit: boolean;
  /** Place from 0 to 1; undefined where the value is beyond an end of the axis. */
  place: number | undefined;
  /** True where the label has more room at the left of the line. */
  isLeft: boolean;
}

export interface OutputPlot {
  /** Ends of the axis: those of the bars, and further out where a limit is near. */
  from: number;
  to: number;
  bars: { from: number; width: number; height: number; count: number }[];
  lines: Line[];
  /** Where a value fails the requirement: places from 0 to 1. */
  failing: { from: number; to: number }[];
  /** The side on which runs without a value are marked. */
  side: 'left' | 'right';
}

/** A limit as far beyond the bars as they are wide is shown as one; further ones are named beside the plot. */
const FURTHEST = 1;

/** The width of a label, as a part of the plot. */
const LABEL = 0.15;

/** Lays out the plot of an output against the condition of a requirement. */
export function outputPlot(
  { condition }: Pick<RequirementVerdict, 'condition'>,
  histogram: Histogram,
  quantiles: StudySummary['outputs'][number]['quantiles'],
): OutputPlot {
  const parsed = parseRequirementCondition(condition ?? '');
  const limits = limitsOf(condition);
  const span = histogram.to - histogram.from;
  const near = limits.filter((it) => it >= histogram.from - FURTHEST * span && it <= histogram.to + FURTHEST * span);
  const room = near.some((it) => it <= histogram.from || it >= histogram.to) ? span * 0.06 : 0;
  const from = Math.min(histogram.from, ...near.map((it) => it - room));
  const to = Math.max(histogram.to, ...near.map((it) => it + room));
  const placeOf = (value: number): number => (value - from) / (to - from);
  const shown = (value: number): number | undefined => (value < from || value > to ? undefined : placeOf(value));
  const ends = (low: number, high: number): { from: number; to: number } => ({
    from: Math.min(1, Math.max(0, placeOf(low))),
    to: Math.min(1, Math.max(0, placeOf(high))),
  });
  const width = span / histogram.counts.length;
  const top = Math.max(1, ...histogram.counts);
  const failing =
    typeof parsed === 'string'
      ? []
      : parsed.operator === '..'
        ? [ends(-Infinity, parsed.low), ends(parsed.high, Infinity)]
        : parsed.operator === '<' || parsed.operator === '<='
          ? [ends(parsed.threshold, Infinity)]
          : parsed.operator === '>' || parsed.operator === '>='
            ? [ends(-Infinity, parsed.threshold)]
            : [];
  return {
    from,
    to,
    bars: histogram.counts.map((count, bin) => ({
      from: placeOf(histogram.from + bin * width),
      width: width / (to - from),
      height: count / top,
      count,
    })),
    lines: withSides([
      ...limits.map((value) => ({ text: 'limit', value, isLimit: true, place: shown(value) })),
      ...quantiles.flatMap(({ p, value }) =>
        value === null
          ? []
          : [{ text: `P${Number((100 * p).toPrecision(6))}`, value, isLimit: false, place: shown(value) }],
      ),
    ]),
    failing: failing.filter((it) => it.to > it.from),
    side: failing.length === 1 && failing[0]!.from === 0 ? 'left' : 'right',
  };
}

/** A label that would cross the next line, or the right end, is at the left of its own. */
function withSides(lines: readonly Omit<Line, 'isLeft'>[]): Line[] {
  const places = [1, ...lines.flatMap(({ place }) => place ?? [])];
  return lines.map((it) => {
    const at = it.place ?? 0;
    return { ...it, isLeft: at > LABEL && places.some((other) => other > at && other - at < LABEL) };
  });
}
