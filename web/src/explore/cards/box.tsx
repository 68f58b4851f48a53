/** The target by the categories of a text or boolean, such as a scenario, or by quarters of a number. */
import { boxX } from '@observablehq/plot';
import { useCallback, useMemo } from 'react';
import { brief } from '../../parts/time.tsx';
import type { Variable } from '../../plots/variables.ts';
import { changeQuery } from '../../router.ts';
import { VariableChoice } from '../choices.tsx';
import { findVariable, focused, isNumber, targetVariable, thinned, type Bench } from '../state.ts';
import type { CardKind, CardProps } from './kind.ts';
import { axisOf, STYLE } from './marks.ts';
import { PlotCard, type Size, type Zoom } from './plot.tsx';

/** Boxes for which the card has room, and values of all of them. */
const MOST = 12;
const VALUES = 20_000;

function Boxes({ bench, onRemove }: CardProps) {
  const up = targetVariable(bench)!;
  const by = groupedBy(bench, up)!;
  const { boxes, values, more } = useMemo(() => grouped(bench, by, up), [bench, by, up]);
  const draw = useCallback(
    (_: Size, zoom: Zoom) => ({
      ...STYLE,
      marginLeft: 130,
      marginTop: 6,
      x: axisOf(bench, up, zoom.x),
      y: { label: null, domain: boxes },
      marks: [
        boxX(values, {
          x: 'value',
          y: 'box',
          fill: 'var(--claimed)',
          stroke: 'var(--text)',
          r: 1.5,
        }),
      ],
    }),
    [bench, up, values],
  );
  return (
    <PlotCard
      bench={bench}
      title={`${up.name} by ${by.name}`}
      aside={
        <VariableChoice
          label="By"
          isQuiet
          value={by.key}
          variables={bench.variables.filter((it) => it !== up)}
          onChange={(key) => changeQuery({ by: key })}
        />
      }
      note={`Boxes: quartiles; lines: up to 1.5 times their distance; points beyond it.${more > 0 ? ` ${more} more categories are not drawn.` : ''}`}
      draw={values.length === 0 ? undefined : draw}
      rows={() => ({ columns: [by.label, up.label], rows: values.map(({ box, value }) => [box, value]) })}
      python={`box(${JSON.stringify(up.name)}, ${JSON.stringify(by.name)})`}
      brush={{ x: up }}
      onRemove={onRemove}
    />
  );
}

/** The variable of the address; else a text or boolean, such as a scenario; else the number that the reader looks at. */
function groupedBy(bench: Bench, up: Variable): Variable | undefined {
  const chosen = findVariable(bench, bench.query.get('by'));
  if (chosen !== undefined && chosen !== up) return chosen;
  return bench.variables.find((it) => it !== up && !isNumber(it)) ?? focused(bench);
}

function grouped(bench: Bench, by: Variable, up: Variable) {
  const rows = Uint32Array.from(by.values.keys()).filter(
    (row) =>
      (bench.mask === undefined || bench.mask[row] === 1) &&
      Number.isFinite(by.values[row]) &&
      Number.isFinite(up.values[row]),
  );
  const name = nameOf(by, rows);
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(name(row), (counts.get(name(row)) ?? 0) + 1);
  const boxes = isNumber(by)
    ? quartersOf(by, rows)
        .map(([from, to]) => quarterText(from, to))
        .filter((it) => counts.has(it))
    : [...counts].sort((a, b) => b[1] - a[1]).map(([box]) => box);
  const shown = new Set(boxes.slice(0, MOST));
  const values = Array.from(thinned(rows, VALUES), (row) => ({ box: name(row), value: up.values[row]! })).filter(
    ({ box }) => shown.has(box),
  );
  return { boxes: [...shown], values, more: boxes.length - shown.size };
}

const quarterText = (from: number, to: number): string => `${brief(from)} to ${brief(to)}`;

function quartersOf(by: Variable, rows: Uint32Array): [number, number][] {
  const sorted = Float64Array.from(rows, (row) => by.values[row]!).sort();
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return [0, 1, 2, 3].map((quarter) => [at(quarter / 4), at((quarter + 1) / 4)]);
}

function nameOf(by: Variable, rows: Uint32Array): (row: number) => string {
  const { categories, values } = by;
  if (categories !== undefined) return (row) => categories[values[row]!] ?? '';
  const quarters = quartersOf(by, rows);
  return (row) => {
    const [from, to] = quarters.find(([, end]) => values[row]! <= end) ?? quarters[3]!;
    return quarterText(from, to);
  };
}

export const box: CardKind = {
  name: 'box',
  title: 'Boxes by category or scenario',
  fits: (bench) => bench.variables.length > 1 && bench.variables.some((it) => it.kind === 'output' && isNumber(it)),
  View: Boxes,
};
