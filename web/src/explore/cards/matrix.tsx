/** The matrix of all pairs of some variables: points below the diagonal, histograms on it, rank correlations above. */
import { dot, rectY, text } from '@observablehq/plot';
import { useCallback, useMemo } from 'react';
import { BACKGROUND, FAILED, type Variable } from '../../plots/variables.ts';
import { figure } from '../../parts/time.tsx';
import { changeQuery } from '../../router.ts';
import { VariablesMenu } from '../choices.tsx';
import { KINDS } from '../colours.ts';
import { chosenVariables, isNumber, kindOfRow, listOf, thinned, type Drawn } from '../state.ts';
import { rankCorrelation } from '../target.ts';
import type { CardKind, CardProps } from './kind.ts';
import { shortened, STYLE } from '../../cards/style.ts';
import type { Size } from '../../cards/figure.tsx';
import { PlotCard } from './plot.tsx';

const SHOWN = 4;
const MOST = 6;
/** Points of one field. */
const POINTS = 250;
/** Pixels beside the fields, and of a letter. */
const MARGINS = 160;
const LETTER = 6.6;

interface Place {
  fx: string;
  fy: string;
}
type PointPlace = Place & { row: number; x: number; y: number };

function Matrix({ bench, onRemove }: CardProps) {
  const shown = chosenVariables(bench, listOf(bench.query.get('vars')), SHOWN)
    .filter(isNumber)
    .slice(0, MOST);
  const { drawn } = bench;
  const rows = useMemo(() => thinned(drawn.sample, POINTS), [drawn]);
  const fields = useMemo(() => fieldsOf(drawn, shown, rows), [drawn, shown.map(({ key }) => key).join(), rows]);
  const draw = useCallback(
    ({ width }: Size) => {
      const names = shown.map(({ name }) => name);
      const end = (name: string, which: 0 | 1): string => {
        const it = shown.find((one) => one.name === name)!;
        return figure(Number(drawn.scale(it).value(which).toPrecision(2)));
      };
      const unit = (name: string): string => shown.find((it) => it.name === name)!.label;
      const ends = (which: 0 | 1) =>
        names.map((name) => ({ fx: name, fy: names.at(-1)!, text: end(name, which), at: which }));
      return {
        ...STYLE,
        marginBottom: 24,
        marginLeft: 12,
        marginRight: MARGINS - 12,
        marginTop: 22,
        x: { axis: null, domain: [0, 1] },
        y: { axis: null, domain: [0, 1] },
        fx: {
          domain: names,
          axis: 'top' as const,
          label: null,
          tickFormat: (it: string) => shortened(it, Math.max(4, Math.floor((width - MARGINS) / shown.length / LETTER))),
          padding: 0.04,
        },
        fy: {
          domain: names,
          label: null,
          tickFormat: (it: string) => shortened(unit(it), 24),
          padding: 0.04,
          axis: 'right' as const,
        },
        facet: { marginTop: 4 },
        marks: [
          rectY(fields.bars, { fx: 'fx', fy: 'fy', x1: 'x1', x2: 'x2', y1: () => 0, y2: 'y2', fill: 'var(--running)' }),
          dot(fields.points, {
            fx: 'fx',
            fy: 'fy',
            x: 'x',
            y: 'y',
            r: 1.5,
            fill: ({ row }: PointPlace) => KINDS[kindOfRow(drawn, row)]!,
            fillOpacity: ({ row }: PointPlace) => (kindOfRow(drawn, row) === BACKGROUND ? 0.35 : 0.75),
            symbol: ({ row }: PointPlace) => (kindOfRow(drawn, row) === FAILED ? 'triangle' : 'circle'),
          }),
          text(fields.correlations, {
            fx: 'fx',
            fy: 'fy',
            frameAnchor: 'middle' as const,
            text: 'text',
            fontSize: 13,
            fill: 'var(--text)',
            title: 'title',
          }),
          text(ends(0), { fx: 'fx', fy: 'fy', text: 'text', frameAnchor: 'bottom-left' as const, dy: 14 }),
          text(ends(1), { fx: 'fx', fy: 'fy', text: 'text', frameAnchor: 'bottom-right' as const, dy: 14 }),
        ],
        symbol: { type: 'identity' as const },
        color: { type: 'identity' as const },
      };
    },
    [drawn, fields],
  );
  return (
    <PlotCard
      bench={bench}
      title="All pairs"
      aside={
        <VariablesMenu
          variables={bench.variables.filter(isNumber)}
          shown={shown}
          most={MOST}
          onChange={(keys) => changeQuery({ vars: keys.join(',') })}
        />
      }
      note={`Above the diagonal: rank correlations. ${POINTS} runs at most are drawn in a field.`}
      draw={shown.length > 1 ? draw : undefined}
      rows={() => ({
        columns: ['run', ...shown.map(({ label }) => label)],
        rows: Array.from(rows, (row) => [bench.table.runAt(row), ...shown.map(({ values }) => values[row]!)]),
      })}
      python={`scatter_matrix(${JSON.stringify(shown.map(({ name }) => name))})`}
      onRemove={onRemove}
    />
  );
}

function fieldsOf(drawn: Drawn, shown: readonly Variable[], rows: Uint32Array) {
  const places = shown.map((it) => drawn.scale(it));
  const points: PointPlace[] = [];
  const bars: (Place & { x1: number; x2: number; y2: number })[] = [];
  const correlations: (Place & { text: string; title: string })[] = [];
  for (const [i, across] of shown.entries()) {
    const found = drawn.histogram(across);
    const counts = found?.selected ?? new Uint32Array();
    const top = Math.max(1, ...counts);
    for (const [bin, value] of counts.entries())
      if (value > 0)
        bars.push({
          fx: across.name,
          fy: across.name,
          x1: bin / counts.length,
          x2: (bin + 1) / counts.length,
          y2: (0.95 * value) / top,
        });
    for (const [j, up] of shown.entries()) {
      if (i < j)
        for (const row of rows) {
          const [x, y] = [across.values[row]!, up.values[row]!];
          if (Number.isFinite(x) && Number.isFinite(y))
            points.push({ fx: across.name, fy: up.name, row, x: places[i]!.place(x), y: places[j]!.place(y) });
        }
      if (i > j) {
        const { value, n } = rankCorrelation(across, up, drawn.sample);
        correlations.push({
          fx: across.name,
          fy: up.name,
          text: Number.isFinite(value) ? value.toFixed(2) : '–',
          title: `Rank correlation of ${across.name} and ${up.name} over ${n} runs`,
        });
      }
    }
  }
  return { points, bars, correlations };
}

export const matrix: CardKind = {
  name: 'matrix',
  title: 'Scatter matrix',
  fits: (bench) => bench.variables.filter(isNumber).length > 1,
  View: Matrix,
};
