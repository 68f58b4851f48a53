/** The course of a precision in a small plot: the half-width over the number of runs, both logarithmic, down to its target. */
import type { PrecisionCourse } from '../../../src/contract/types.ts';
import { brief, count } from '../parts/time.tsx';

const [WIDTH, HEIGHT] = [120, 30];

/** The half-width over the number of runs. It is empty before two numbers of runs have one. */
export function HalfWidthCourse({ of: { course, target } }: { of: PrecisionCourse }) {
  const points = course.filter(
    (it): it is typeof it & { half_width: number } => it.half_width !== null && it.half_width > 0,
  );
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2 || target === null) return null;
  const widths = [...points.map((it) => it.half_width), target];
  const [least, most] = [Math.log(Math.min(...widths)) - 0.1, Math.log(Math.max(...widths)) + 0.1];
  const spread = Math.log(last.n / first.n);
  const x = (n: number): number => (Math.log(n / first.n) / spread) * WIDTH;
  const y = (width: number): number => HEIGHT - 1 - ((Math.log(width) - least) / (most - least)) * (HEIGHT - 2);
  const line = points.map((it) => `${x(it.n).toFixed(2)} ${y(it.half_width).toFixed(2)}`);
  const text = `Half-width over the number of runs, ${count(first.n)} to ${count(last.n)}, logarithmic: from ${brief(first.half_width)} to ${brief(last.half_width)}; wanted ${brief(target)}`;
  return (
    <svg className="course" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={text}>
      <title>{text}</title>
      <line className="required" x1="0" x2={WIDTH} y1={y(target)} y2={y(target)} />
      <path className="line" d={`M${line.join('L')}`} />
    </svg>
  );
}
