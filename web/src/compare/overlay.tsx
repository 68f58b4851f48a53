/** An output of two studies over one axis. */
import { areaY, line, pointerX, ruleX, ruleY, tip } from '@observablehq/plot';
import { useCallback, useMemo } from 'react';
import { limitsOn, stepText, type Step } from '../cards/distribution.ts';
import { FigureCard, type Size, type Zoom } from '../cards/figure.tsx';
import { axisOf, SHARES, STYLE, TIP } from '../cards/style.ts';
import { ENDPOINT } from '../data/place.ts';
import { count } from '../parts/time.tsx';
import { scaleOf } from '../plots/scale.ts';
import { COLOURS, SIDES, type CardProps, type Drawn } from './side.ts';

/** Both cumulative distributions, with their bounds and the limits of the requirements. */
export function Overlay({ name, before, after, onRemove }: CardProps) {
  const { variable } = before;
  const scale = useMemo(() => {
    const values = new Float64Array(before.values.length + after.values.length);
    values.set(before.values);
    values.set(after.values, before.values.length);
    return scaleOf({ ...variable, values }, false);
  }, [variable, before.values, after.values]);
  const limits = limitsOfBoth(name, [before, after]);
  const key = JSON.stringify(limits);
  const draw = useCallback(
    (_: Size, zoom: Zoom) => ({
      ...STYLE,
      x: axisOf({ scale: () => scale }, variable, zoom.x),
      y: { ...SHARES, label: 'share of runs', domain: [0, 1] },
      marks: [
        ...[before, after].flatMap(({ steps: { points } }, side) => [
          areaY(points, {
            x: 'value',
            y1: 'low',
            y2: 'high',
            fill: COLOURS[side]!,
            fillOpacity: 0.18,
            curve: 'step-after',
          }),
          // The line before is wider: it is seen where the one after covers it.
          line(points, {
            x: 'value',
            y: 'share',
            stroke: COLOURS[side]!,
            strokeWidth: side === 0 ? 3.4 : 1.6,
            curve: 'step-after',
          }),
        ]),
        ruleX(limits, { x: 'value', stroke: 'var(--failed)', strokeWidth: 1.5 }),
        ruleY([0]),
        ...[before, after].map(({ steps: { points } }, side) =>
          tip(
            points,
            pointerX({
              x: 'value',
              y: 'share',
              title: (it: Step) => `${SIDES[side]}\n${stepText(name, it)}`,
              ...TIP,
            }),
          ),
        ),
      ],
    }),
    [name, variable, scale, before.steps, after.steps, key],
  );
  const isBanded = before.steps.isBanded && after.steps.isBanded;
  return (
    <FigureCard
      title={`${name} before and after`}
      heading={`${before.variable.label}, before and after`}
      note={[
        sideNote('Before', before),
        sideNote('; after', after),
        isBanded ? '; each band holds its whole curve with 95 % confidence (Dvoretzky-Kiefer-Wolfowitz)' : '',
        limits.length > 0 ? `. Red: ${[...new Set(limits.map((it) => it.name))].join(', ')}` : '',
        '.',
      ].join('')}
      draw={before.steps.points.length + after.steps.points.length === 0 ? undefined : draw}
      rows={() => ({
        columns: ['study', variable.label, 'share', 'low', 'high'],
        rows: [before, after].flatMap(({ steps }, side) =>
          steps.points.map((it) => [SIDES[side]!, it.value, it.share, it.low, it.high]),
        ),
      })}
      python={() => overlayAsPython(before.progress.batch.id, after.progress.batch.id, name)}
      brush={{ x: true }}
      height={230}
      onRemove={onRemove}
    />
  );
}

const sideNote = (side: string, { steps: { n, missing, isThinned } }: Drawn): string =>
  `${side}: ${count(n)} runs${missing > 0 ? `, ${count(missing)} of them failed or without a value` : ''}${isThinned ? ', drawn at 400 of the values' : ''}`;

/** The limits of the requirements of both studies on an output, each once. */
function limitsOfBoth(name: string, sides: readonly Drawn[]): ReturnType<typeof limitsOn> {
  const found = sides.flatMap(({ progress }) => limitsOn(name, progress.requirements));
  return found.filter((it, at) => found.findIndex((one) => one.value === it.value && one.name === it.name) === at);
}

const overlayAsPython = (before: string, after: string, output: string): string =>
  [
    'import simbatch as sb',
    `lab = sb.connect("${ENDPOINT}")`,
    `ax = lab.open("${before}").plot.ecdf(${JSON.stringify(output)})`,
    `lab.open("${after}").plot.ecdf(${JSON.stringify(output)}, ax=ax)`,
    '',
  ].join('\n');
