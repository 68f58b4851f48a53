/** The course of a requirement in a small plot: estimate and bounds over the number of runs, against the required share. */
import type { JudgedRequirement } from '../../../src/contract/types.ts';
import { count, share } from '../parts/time.tsx';

const [WIDTH, HEIGHT] = [120, 30];
/** The shares of the number of runs that the text names. */
const NAMED = [1 / 100, 1 / 10, 1];

type Point = JudgedRequirement['course'][number];

/** The bounds of a requirement over the number of runs. It is empty before the second run: one point makes no line. */
export function RequirementCourse({ of: { course, probability, look } }: { of: JudgedRequirement }) {
  const last = course.at(-1);
  if (last === undefined || course.length < 2) return null;
  // The first runs bound nothing: an axis for them would hide the later ones.
  const later = course.filter(({ n }) => n >= Math.sqrt(last.n));
  const least = Math.min(
    probability,
    ...later.flatMap(({ estimate, lower }) => [estimate ?? 1, (lower + last.lower) / 2]),
  );
  const from = Math.max(0, least - (1 - least) * 0.1 - 0.0005);
  const x = (n: number): number => (Math.log(n) / Math.log(last.n)) * WIDTH;
  const y = (value: number): number => HEIGHT - 1 - ((value - from) / (1 - from)) * (HEIGHT - 2);
  const place = ({ n }: Point, value: number): string => `${x(n).toFixed(2)} ${y(value).toFixed(2)}`;
  const upper = course.map((it) => place(it, it.upper));
  const lower = course.map((it) => place(it, it.lower));
  const known = course.flatMap((it) => (it.estimate === null ? [] : [place(it, it.estimate)]));
  const text = textOf(course, probability, look);
  return (
    <svg className="course" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={text}>
      <title>{text}</title>
      <path className="band" d={`M${[...upper, ...lower.toReversed()].join('L')}Z`} />
      <line className="required" x1="0" x2={WIDTH} y1={y(probability)} y2={y(probability)} />
      {known.length > 0 && <path className="line" d={`M${known.join('L')}`} />}
    </svg>
  );
}

function textOf(course: readonly Point[], probability: number, look: JudgedRequirement['look']): string {
  const total = course.at(-1)!.n;
  const named = new Set(NAMED.map((part) => course.find(({ n }) => n >= total * part)!));
  const points = [...named].map(
    ({ n, estimate, lower, upper }) =>
      `${count(n)} runs: ${estimate === null ? 'no estimate' : share(estimate)}, bounds ${share(lower)} to ${share(upper)}`,
  );
  const limit = look === 'once' ? '; bounds of one look at each number, which decide at the end alone' : '';
  return `Passing share over the number of runs, 1 to ${count(total)}, logarithmic. ${points.join('; ')}; required ${share(probability)}${limit}`;
}
