/** A tornado: a bar for each input by its influence on the target, the most relevant first. */
import { barX, ruleX, text } from '@observablehq/plot';
import { useCallback } from 'react';
import type { Relevance } from '../target.ts';
import type { CardKind, CardProps } from './kind.ts';
import { LABEL, shortened, STYLE } from '../../cards/style.ts';
import { PlotCard } from './plot.tsx';

/** Bars for which the card has room. */
const SHOWN = 12;

function Tornado({ bench, onRemove }: CardProps) {
  const { variables, relevance, target } = bench;
  const ranked = variables.flatMap((it): (Relevance & { name: string })[] => {
    const found = it.kind === 'parameter' ? relevance.get(it.key) : undefined;
    return found === undefined ? [] : [{ ...found, name: it.name }];
  });
  const shown = ranked.slice(0, SHOWN);
  const key = JSON.stringify(shown);
  const draw = useCallback(
    () => ({
      ...STYLE,
      marginLeft: 130,
      marginTop: 6,
      x: { ...LABEL, label: bench.measure, domain: [-1.15, 1.15], grid: true, ticks: 5 },
      y: { label: null, domain: shown.map(({ name }) => name), tickFormat: (name: string) => shortened(name, 19) },
      marks: [
        barX(shown, {
          x: 'value',
          y: 'name',
          fill: 'var(--running)',
          fillOpacity: ({ isApart }: Relevance) => (isApart ? 0.9 : 0.3),
          inset: 1,
        }),
        text(shown, {
          x: 'value',
          y: 'name',
          text: ({ value }: Relevance) => value.toFixed(2),
          dx: 4,
          textAnchor: 'start',
          fill: 'var(--text)',
          filter: ({ value }: Relevance) => value >= 0,
        }),
        text(shown, {
          x: 'value',
          y: 'name',
          text: ({ value }: Relevance) => value.toFixed(2),
          dx: -4,
          textAnchor: 'end',
          fill: 'var(--text)',
          filter: ({ value }: Relevance) => value < 0,
        }),
        ruleX([0], { stroke: 'var(--line-strong)' }),
      ],
    }),
    [key, bench.measure],
  );
  const more = ranked.length - shown.length;
  return (
    <PlotCard
      bench={bench}
      title={`What drives ${target?.label ?? 'the outputs'}`}
      note={`${bench.relevanceNote}${more > 0 ? ` ${more} more inputs are in the list.` : ''}`}
      draw={shown.length === 0 ? undefined : draw}
      rows={() => ({
        columns: ['input', bench.measure, 'told_apart'],
        rows: ranked.map(({ name, value, isApart }) => [name, value, String(isApart)]),
      })}
      python={`tornado(${JSON.stringify(target?.output ?? 'failed')})`}
      onRemove={onRemove}
    />
  );
}

export const tornado: CardKind = {
  name: 'tornado',
  title: 'Tornado',
  fits: ({ target }) => target !== undefined,
  View: Tornado,
};
