/** The plots of a study of rare events: its levels as a staircase, its bounds over the confirming runs, and where the violations lie. */
import type { RareEventAnswer } from '../../../src/contract/types.ts';
import { rareNumber } from '../../../src/analysis/rare/answer/sentence.ts';
import { brief, count, share } from '../parts/time.tsx';
import { PlotCaption } from '../plots/caption.tsx';
import { labelOf } from '../plots/variables.ts';
import { axisOf, Frame } from './frame.tsx';

interface StaircaseProps {
  search: NonNullable<RareEventAnswer['search']>;
  /** The output of the requirement, its units, and the number that its condition compares with. */
  output: string;
  units: string | undefined;
  limit: number | undefined;
}

/** The threshold of each level over its rounds, down or up to the limit, with the share of states that reached it. */
export function Staircase({ search: { levels }, output, units, limit }: StaircaseProps) {
  if (levels.length === 0) return null;
  let end = 1;
  const steps = levels.map(({ output: at, n, reached, rounds }) => {
    const from = end;
    end += rounds.length;
    return { at, from, to: end, reached: reached / n };
  });
  // A level that has no round yet is as wide as one.
  const last = Math.max(end, steps.at(-1)!.from + 1);
  const across = axisOf([0, last], 'round', (it) => (Number.isInteger(it) ? count(it) : ''));
  const heights = [...steps.map(({ at }) => at), ...(limit === undefined ? [] : [limit])];
  const up = axisOf(heights, labelOf(output, units), brief);
  const text = steps.map((it, at) => `level ${at + 1}: ${brief(it.at)}, reached by ${share(it.reached)}`).join('; ');
  return (
    <figure className="plot">
      <PlotCaption name="Levels of the search" note="the share of states that reached each" />
      <Frame label={`Thresholds of the search over its rounds. ${text}`} across={across} up={up}>
        {({ x, y, left, right }) => (
          <>
            {limit !== undefined && <line className="limit-line" x1={left} x2={right} y1={y(limit)} y2={y(limit)} />}
            <path
              className="step-line"
              d={steps
                .map(({ at, from, to }, step) => {
                  const until = step === steps.length - 1 ? last : to;
                  return `${step === 0 ? 'M' : 'L'}${x(from)} ${y(at)}L${x(until)} ${y(at)}`;
                })
                .join('')}
            />
            {steps.map(({ at, from, reached }) => (
              <g key={from}>
                <circle className="step-place" cx={x(from)} cy={y(at)} r="3" />
                <text className="step-share" x={x(from) + 5} y={y(at) - 5}>
                  {share(reached)}
                </text>
              </g>
            ))}
          </>
        )}
      </Frame>
    </figure>
  );
}

/** Estimate and bounds over the number of confirming runs: they hold at each. */
export function BoundsCourse({ course, confidence }: Pick<RareEventAnswer, 'course'> & { confidence: number }) {
  const last = course.at(-1);
  if (last === undefined || course.length < 2) return null;
  const values = course.flatMap(({ lower, upper, estimate }) => [lower, estimate, ...(upper === null ? [] : [upper])]);
  const positive = values.filter((it) => it > 0);
  // A lower bound of 0 is at the lower end of a logarithmic axis.
  const up = axisOf(
    positive.length < values.length && positive.length > 0 ? [...positive] : values,
    'probability',
    rareNumber,
    true,
  );
  const across = axisOf([0, last.runs], 'confirming runs', count);
  const bounded = course.filter((it): it is typeof it & { upper: number } => it.upper !== null);
  const text = `${share(confidence)} bounds of the violations in the regions found, over ${count(last.runs)} confirming runs: at last ${rareNumber(last.lower)} to ${last.upper === null ? 'no upper bound' : rareNumber(last.upper)}`;
  return (
    <figure className="plot">
      <PlotCaption name="Bounds over the confirming runs" note={`${share(confidence)} in the regions found`} />
      <Frame label={text} across={across} up={up}>
        {({ x, y, bottom }) => {
          const at = (value: number): number => (value > 0 || !up.scale.isLog ? Math.min(bottom, y(value)) : bottom);
          const line = (places: readonly (readonly [runs: number, value: number])[]): string =>
            places.map(([runs, value]) => `${x(runs)} ${at(value)}`).join('L');
          const above = bounded.map((it) => [it.runs, it.upper] as const);
          const below = bounded.map((it) => [it.runs, it.lower] as const);
          return (
            <>
              {bounded.length > 1 && (
                <path className="bounds-band" d={`M${line([...above, ...below.toReversed()])}Z`} />
              )}
              <path className="bound-line" d={`M${line(course.map((it) => [it.runs, it.lower]))}`} />
              <path className="step-line" d={`M${line(course.map((it) => [it.runs, it.estimate]))}`} />
            </>
          );
        }}
      </Frame>
    </figure>
  );
}

/** The normals of violating and of plain runs, of the two parameters that matter most. */
export function Regions({ importance, points, nominal_points: nominal }: RareEventAnswer) {
  const [first, second] = importance;
  if (first === undefined || points.length === 0) return null;
  // With one parameter the height of a point has no meaning.
  const up = (it: readonly number[], at: number): number => it[1] ?? (at * 0.618_033_988_75) % 1;
  const deviations = (name: string): string => `${name}, standard deviations`;
  const all = [...points, ...nominal];
  const across = axisOf([...all.map((it) => it[0]!), 0], deviations(first.name), brief);
  const upwards = axisOf(
    all.map((it, at) => up(it, at)),
    second === undefined ? '' : deviations(second.name),
    second === undefined ? () => '' : brief,
  );
  const text = `${count(points.length)} violating states of the search, on average at ${importance
    .slice(0, 2)
    .map(({ name, mean }) => `${mean.toFixed(1)} standard deviations of ${name}`)
    .join(' and ')}; ${count(nominal.length)} plain runs that pass lie around 0`;
  return (
    <figure className="plot">
      <PlotCaption name="Where the violations lie" note="red triangles violate; grey: plain runs that pass" />
      <Frame label={text} across={across} up={upwards}>
        {({ x, y }) => (
          <>
            {nominal.map((it, at) => (
              <circle key={at} className="plain-run" cx={x(it[0]!)} cy={y(up(it, at))} r="1.8" />
            ))}
            <path className="violating-runs" d={points.map((it, at) => triangle(x(it[0]!), y(up(it, at)))).join('')} />
          </>
        )}
      </Frame>
    </figure>
  );
}

const triangle = (x: number, y: number): string => `M${x.toFixed(1)} ${(y - 3).toFixed(1)}l3 5.4h-6z`;
