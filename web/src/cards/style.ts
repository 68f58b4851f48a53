/** Text, lines and axes of all plots on cards. */
import type { PlotOptions, ScaleOptions } from '@observablehq/plot';
import { figure } from '../parts/time.tsx';
import type { Scale } from '../plots/scale.ts';
import type { Variable } from '../plots/variables.ts';

/** Text and lines of all plots. */
export const STYLE: PlotOptions = {
  style: { color: 'var(--soft)', background: 'none', fontSize: '11px', overflow: 'visible' },
  marginTop: 14,
  marginRight: 16,
  marginBottom: 42,
  marginLeft: 62,
};

export const TIP = { fill: 'var(--panel)', stroke: 'var(--line-strong)', fontSize: 11 } as const;

export const LABEL = { labelAnchor: 'center', labelArrow: 'none' } as const;

/** The axis of shares, in percent. */
export const SHARES = {
  ...LABEL,
  grid: true,
  ticks: 5,
  tickFormat: (value: number): string => `${Math.round(100 * value)} %`,
};

/** The axis of a number or of a word; `zoom`: the part that is shown. */
export function axisOf(
  { scale }: { scale: (variable: Variable) => Scale },
  variable: Variable,
  zoom: readonly [number, number] | undefined,
  ticks = 6,
): ScaleOptions {
  const { categories, label } = variable;
  const { from, to, isLog } = scale(variable);
  if (categories !== undefined) {
    const words = categories.flatMap((word, code) => (word === '' ? [] : [code])).slice(0, 12);
    return {
      ...LABEL,
      label,
      domain: zoom ?? [from, to],
      clamp: zoom === undefined,
      ticks: words,
      tickFormat: (code: number) => shortened(categories[code] ?? '', 14),
    };
  }
  return {
    ...LABEL,
    label,
    type: isLog ? 'log' : 'linear',
    domain: zoom ?? (isLog ? [10 ** from, 10 ** to] : [from, to]),
    clamp: zoom === undefined,
    grid: true,
    ticks,
    tickFormat: (value: number) => figure(value),
  };
}

/** A text for an axis that has room for so many letters. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;
