/** How an output changed between two studies: run by run, or as a distribution. */
import { dot, line, pointerX, rectX, rectY, ruleX, ruleY, tip } from '@observablehq/plot';
import { useCallback, useMemo } from 'react';
import { FigureCard, type Size, type Zoom } from '../cards/figure.tsx';
import { LABEL, SHARES, STYLE, TIP } from '../cards/style.ts';
import { count, figure } from '../parts/time.tsx';
import { differenceAxis, differenceBins, distanceSteps, pairsOf, type Bin, type DistanceStep } from './curves.ts';
import type { CardProps } from './side.ts';

const CHANGE_HEIGHT = 170;

/** The differences of the same runs. */
export function PairedChange({ name, data, before, after, onRemove }: CardProps) {
  const pairs = useMemo(
    () => pairsOf([before.table, after.table], [before.values, after.values]),
    [before.table, after.table, before.values, after.values],
  );
  const { bins, outside } = useMemo(() => differenceBins(pairs), [pairs]);
  const isEqual = useMemo(() => pairs.length > 0 && pairs.every((it) => it.before === it.after), [pairs]);
  const answer = data.paired ? data.outputs.find((it) => it.name === name) : undefined;
  const [mean, interval] = [answer?.mean_difference ?? undefined, answer?.interval ?? undefined];
  const { label } = before.variable;
  const { domain, note } = differenceAxis(bins);
  const draw = useCallback(
    (_: Size, zoom: Zoom) => ({
      ...STYLE,
      x: {
        ...LABEL,
        label: `change of ${label}`,
        domain: zoom.x ?? domain,
        ticks: 6,
        tickFormat: (value: number) => figure(value),
      },
      y: { ...LABEL, label: 'runs', grid: true, nice: true, ticks: 4, tickFormat: (value: number) => figure(value) },
      marks: [
        rectY(bins, { x1: 'from', x2: 'to', y: 'runs', fill: 'var(--running)', fillOpacity: 0.6, insetLeft: 1 }),
        ...(interval === undefined
          ? []
          : [rectX([interval], { x1: '0', x2: '1', fill: 'var(--accent)', fillOpacity: 0.25 })]),
        ...(mean === undefined ? [] : [ruleX([mean], { stroke: 'var(--accent)', strokeWidth: 1.5 })]),
        ...(domain[0] <= 0 && domain[1] >= 0 ? [ruleX([0], { stroke: 'var(--text)' })] : []),
        ruleY([0]),
        tip(
          bins,
          pointerX({
            x: (it: Bin) => (it.from + it.to) / 2,
            y: 'runs',
            title: (it: Bin) => `${figure(it.from)} to ${figure(it.to)}\n${count(it.runs)} runs`,
            ...TIP,
          }),
        ),
      ],
    }),
    [bins, label, mean, interval?.join(), domain.join()],
  );
  return (
    <FigureCard
      title={`Change of ${name} in each run`}
      heading="After − before, run by run"
      note={
        bins.length === 0
          ? 'No run has it in both studies.'
          : isEqual
            ? `Equal in all ${count(pairs.length)} runs that completed in both.`
            : `${count(pairs.length)} runs completed in both${outside > 0 ? `, ${count(outside)} of them beyond the axis` : ''}. ${mean === undefined ? '' : `Line: the mean, ${figure(mean)}${interval === undefined ? '' : `, 95 % interval ${figure(interval[0])} to ${figure(interval[1])}`}.`}${note}`
      }
      draw={bins.length === 0 || isEqual ? undefined : draw}
      rows={() => ({
        columns: ['run', 'before', 'after', `change of ${label}`],
        rows: pairs.map((it) => [it.run, it.before, it.after, it.after - it.before]),
      })}
      brush={{ x: true }}
      height={CHANGE_HEIGHT}
      onRemove={onRemove}
    />
  );
}

/** The difference of the distributions of different runs. */
export function DistributionChange({ name, before, after, onRemove }: CardProps) {
  const found = useMemo(() => distanceSteps(before.values, after.values), [before.values, after.values]);
  const { label } = before.variable;
  const draw = useCallback(
    (_: Size, zoom: Zoom) => ({
      ...STYLE,
      x: {
        ...LABEL,
        label,
        ...(zoom.x === undefined ? {} : { domain: zoom.x }),
        ticks: 6,
        tickFormat: (value: number) => figure(value),
      },
      y: {
        ...SHARES,
        label: 'difference, points',
        ticks: 4,
        nice: true,
        tickFormat: (value: number) => figure(100 * value),
      },
      marks: [
        line(found?.steps ?? [], {
          x: 'value',
          y: 'distance',
          stroke: 'var(--running)',
          strokeWidth: 1.6,
          curve: 'step-after',
        }),
        ruleY([0]),
        dot(found === undefined ? [] : [found.greatest], { x: 'value', y: 'distance', r: 4, fill: 'var(--accent)' }),
        tip(
          found?.steps ?? [],
          pointerX({
            x: 'value',
            y: 'distance',
            title: (it: DistanceStep) => `${figure(it.value)}\n${(100 * it.distance).toPrecision(3)} points`,
            ...TIP,
          }),
        ),
      ],
    }),
    [found, label],
  );
  return (
    <FigureCard
      title={`Change of the distribution of ${name}`}
      heading="After − before, of the shares"
      note={
        found === undefined
          ? 'One of the studies has no value of it.'
          : `Above 0: more of the runs after have at most this value. The dot: the largest distance, ${(100 * Math.abs(found.greatest.distance)).toPrecision(3)} points at ${figure(found.greatest.value)}.`
      }
      draw={found === undefined ? undefined : draw}
      rows={() => ({
        columns: [label, 'difference'],
        rows: found?.steps.map((it) => [it.value, it.distance]) ?? [],
      })}
      brush={{ x: true }}
      height={CHANGE_HEIGHT}
      onRemove={onRemove}
    />
  );
}
