/** How an estimate settles with the number of runs: the mean, P95, or the share of failures, with its interval. */
import { areaY, line, pointerX, tip } from '@observablehq/plot';
import { useCallback } from 'react';
import type { Convergence } from '../../../../src/contract/types.ts';
import { rangeText } from '../../../../src/analysis/outputs/estimate-text.ts';
import { useAnswer } from '../../data/use-answer.ts';
import { sentenceOf } from '../../parts/common.tsx';
import { count, figure } from '../../parts/time.tsx';
import { changeQuery } from '../../router.ts';
import { targetVariable } from '../state.ts';
import type { CardKind, CardProps } from './kind.ts';
import { LABEL, STYLE, TIP } from '../../cards/style.ts';
import { PlotCard } from './plot.tsx';

const QUANTITIES = [
  ['mean', 'Mean'],
  ['p95', 'P95'],
  ['failure', 'Share of failures'],
] as const;
const INFINITIES = ['−∞', '∞'] as const;
/** The interval of the first few values is so wide that it would hide the rest of the curve. */
const FIRST_SHOWN = 10;

function Settling({ bench, onRemove }: CardProps) {
  const { progress, query, mask, target } = bench;
  const variable = target?.key === 'failed' ? undefined : targetVariable(bench);
  const asked = query.get('quantity') ?? 'mean';
  const quantity = variable === undefined ? 'failure' : (QUANTITIES.find(([name]) => name === asked)?.[0] ?? 'mean');
  const title = QUANTITIES.find(([name]) => name === quantity)![1];
  const about = quantity === 'failure' ? '' : `&output=${encodeURIComponent(variable!.name)}`;
  const { data, error } = useAnswer<Convergence>(progress, `convergence?quantity=${quantity}${about}`);
  const last = data?.points.at(-1);
  const from = Math.min(FIRST_SHOWN, (last?.n ?? 0) / 2);
  const points = data?.points.filter(({ n }) => n >= from) ?? [];
  const banded = points.filter(({ low, high }) => low !== null && high !== null);
  const of = quantity === 'failure' ? '' : ` of ${variable!.name}`;
  const label = quantity === 'failure' ? 'share of failures' : `${title} of ${variable!.label}`;
  const draw = useCallback(
    () => ({
      ...STYLE,
      x: {
        label: 'runs',
        ...LABEL,
        type: 'log' as const,
        ticks: 5,
        tickFormat: (value: number) => figure(value),
      },
      y: {
        label,
        ...LABEL,
        grid: true,
        ticks: 5,
        nice: true,
        zero: false,
        tickFormat: (value: number) => figure(value),
      },
      marks: [
        ...(banded.length === 0
          ? []
          : [areaY(banded, { x: 'n', y1: 'low', y2: 'high', fill: 'var(--claimed)', fillOpacity: 0.3 })]),
        line(points, { x: 'n', y: 'value', stroke: 'var(--running)', strokeWidth: 1.8 }),
        tip(
          points,
          pointerX({
            x: 'n',
            y: 'value',
            title: (it: (typeof points)[number]) =>
              `${count(it.n)} runs\n${figure(it.value)}${it.low === null || it.high === null ? '' : ` ${rangeText([it.low, it.high], INFINITIES)}`}`,
            ...TIP,
          }),
        ),
      ],
    }),
    [data, label],
  );
  const sentences = [
    ...(mask === undefined ? [] : ['of all runs: selected runs are not a sample of the study']),
    ...(data?.warnings.map(({ message }) => message) ?? []),
  ].map((it) => `${sentenceOf(it)}.`);
  return (
    <PlotCard
      bench={bench}
      title={`${title}${of} over the first runs`}
      heading="Convergence"
      aside={
        variable !== undefined && (
          <label className="row small choice">
            <span className="visually-hidden">Estimate</span>
            <select value={quantity} onChange={(event) => changeQuery({ quantity: event.target.value })}>
              {QUANTITIES.map(([name, text]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        )
      }
      note={[
        error !== undefined
          ? `The estimate could not be read: ${error.message}`
          : last === undefined
            ? data === undefined
              ? 'Computing the estimate …'
              : 'No run of the complete prefix has a value: the first runs are still open.'
            : `After ${count(last.n)} runs of the complete prefix: ${figure(last.value)}${last.low === null || last.high === null ? '' : `, 95 % interval ${rangeText([last.low, last.high], INFINITIES)}`}.`,
        ...sentences,
      ].join(' ')}
      draw={points.length === 0 ? undefined : draw}
      rows={() => ({
        columns: ['runs', label, 'low', 'high'],
        rows: points.map(({ n, value, low, high }) => [n, value, low, high]),
      })}
      python={
        quantity === 'failure'
          ? 'convergence()'
          : `convergence(${JSON.stringify(variable!.name)}, ${JSON.stringify(quantity)})`
      }
      onRemove={onRemove}
    />
  );
}

export const convergence: CardKind = {
  name: 'convergence',
  title: 'Convergence of an estimate',
  fits: () => true,
  View: Settling,
};
