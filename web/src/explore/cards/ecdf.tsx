/** The cumulative distribution of an output, with its bounds and the limits of the requirements on it. */
import { areaY, line, pointerX, ruleX, ruleY, tip } from '@observablehq/plot';
import { useCallback, useMemo } from 'react';
import { methodOfCell } from '../../../../src/domain/study/design-method.ts';
import { count } from '../../parts/time.tsx';
import { isEnded, isSelected } from '../../plots/variables.ts';
import { isNumber, targetVariable } from '../state.ts';
import { BAND_CONFIDENCE, boundedSteps, limitsOn, stepText, type Step } from '../../cards/distribution.ts';
import type { CardKind, CardProps } from './kind.ts';
import { axisOf, SHARES, STYLE, TIP } from '../../cards/style.ts';
import type { Size, Zoom } from '../../cards/figure.tsx';
import { PlotCard } from './plot.tsx';

function Ecdf({ bench, onRemove }: CardProps) {
  const variable = targetVariable(bench)!;
  const { drawn, mask, status, progress, submission } = bench;
  const isOfSample = mask === undefined && methodOfCell(submission.config) === 'monte_carlo';
  const steps = useMemo(
    () =>
      boundedSteps(
        variable.values,
        (row) => isSelected(mask, row) && isEnded(status[row]!),
        isOfSample ? BAND_CONFIDENCE : undefined,
      ),
    [variable, mask, status, isOfSample],
  );
  const limits = limitsOn(variable.name, progress.requirements);
  const key = JSON.stringify(limits);
  const draw = useCallback(
    (_: Size, zoom: Zoom) => ({
      ...STYLE,
      x: axisOf(drawn, variable, zoom.x),
      y: { ...SHARES, label: 'share of runs', domain: [0, 1] },
      marks: [
        areaY(steps.points, {
          x: 'value',
          y1: 'low',
          y2: 'high',
          fill: 'var(--claimed)',
          fillOpacity: 0.3,
          curve: 'step-after',
        }),
        line(steps.points, { x: 'value', y: 'share', stroke: 'var(--running)', strokeWidth: 1.8, curve: 'step-after' }),
        ruleX(limits, { x: 'value', stroke: 'var(--failed)', strokeWidth: 1.5 }),
        ruleY([0]),
        tip(
          steps.points,
          pointerX({
            x: 'value',
            y: 'share',
            title: (it: Step) => stepText(variable.name, it),
            ...TIP,
          }),
        ),
      ],
    }),
    [drawn, variable, steps, key],
  );
  return (
    <PlotCard
      bench={bench}
      title={`Cumulative distribution of ${variable.name}`}
      note={[
        `${count(steps.n)} runs`,
        steps.missing > 0 ? `, ${count(steps.missing)} of them without a value: the band holds them at either end` : '',
        steps.isBanded
          ? '; the band holds the whole curve with 95 % confidence (Dvoretzky-Kiefer-Wolfowitz)'
          : '; no error band: the runs are not an independent sample of the study',
        limits.length > 0 ? `. Red: ${limits.map(({ name }) => name).join(', ')}` : '',
        steps.isThinned ? '. Drawn at 400 of the values' : '',
        '.',
      ].join('')}
      draw={steps.points.length === 0 ? undefined : draw}
      rows={() => ({
        columns: [variable.label, 'share', 'low', 'high'],
        rows: steps.points.map(({ value, share, low, high }) => [value, share, low, high]),
      })}
      python={`ecdf(${JSON.stringify(variable.name)})`}
      brush={{ x: variable }}
      onRemove={onRemove}
    />
  );
}

export const ecdf: CardKind = {
  name: 'ecdf',
  title: 'Cumulative distribution of the target',
  fits: (bench) => bench.variables.some(isNumber),
  View: Ecdf,
};
