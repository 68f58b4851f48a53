/** The bounds of a verdict as a bar, on the axis that all verdicts share. */
import type { RequirementVerdict } from '../../../src/contract/types.ts';
import { share } from '../parts/time.tsx';
import type { ShareAxis } from './axis.ts';

const WIDTH = 200;

/** The place of a share within a bar. */
const xOn = (axis: ShareAxis, value: number): number => 4 + axis.placeOf(value) * (WIDTH - 8);

/** The bounds and the estimate against the required probability, on the axis of all requirements. */
export function Bounds({ of: it, axis }: { of: RequirementVerdict; axis: ShareAxis }) {
  const x = (value: number): number => xOn(axis, value);
  return (
    <svg
      className="bounds-bar"
      viewBox={`0 0 ${WIDTH} 24`}
      role="img"
      aria-label={`lower bound ${share(it.lower)}, upper bound ${share(it.upper)}, required ${share(it.probability)}`}
    >
      <title>{`bounds ${share(it.lower)} to ${share(it.upper)} at ${share(it.confidence)} confidence; required ${share(it.probability)}`}</title>
      <line className="axis" x1="4" x2={WIDTH - 4} y1="12" y2="12" />
      {axis.ticks.map((tick) => (
        <line key={tick} className="axis tick" x1={x(tick)} x2={x(tick)} y1="7" y2="17" />
      ))}
      <line className="range" x1={x(it.lower)} x2={x(it.upper)} y1="12" y2="12" />
      <line className="required" x1={x(it.probability)} x2={x(it.probability)} y1="3" y2="21" />
      {it.estimate !== null && <circle cx={x(it.estimate)} cy="12" r="4" />}
    </svg>
  );
}

/** The labels of that axis. */
export function ShareLabels({ axis }: { axis: ShareAxis }) {
  return (
    <svg className="bounds-bar" viewBox={`0 0 ${WIDTH} 16`} aria-hidden="true">
      {axis.ticks.map((tick) => {
        const x = xOn(axis, tick);
        const anchor = x > WIDTH - 20 ? 'end' : x < 20 ? 'start' : 'middle';
        return (
          <text key={tick} x={x} y="12" textAnchor={anchor}>
            {share(tick)}
          </text>
        );
      })}
    </svg>
  );
}
