/** The target by the categories of a text or boolean, such as a scenario, or by quarters of a number. */
import { barX, dot, ruleY, tickX } from '@observablehq/plot';
import { useCallback, useMemo } from 'react';
import { takeRows } from '../../../../src/analysis/numeric/columns.ts';
import { brief } from '../../parts/time.tsx';
import { isSelected, type Variable } from '../../plots/variables.ts';
import { changeQuery } from '../../router.ts';
import { VariableChoice } from '../choices.tsx';
import { findVariable, focused, isNumber, targetVariable, type Bench, type Drawn } from '../state.ts';
import { boxOf } from './box-of.ts';
import type { CardKind, CardProps } from './kind.ts';
import { axisOf, STYLE } from '../../cards/style.ts';
import type { Size, Zoom } from '../../cards/figure.tsx';
import { PlotCard } from './plot.tsx';

/** Boxes for which the card has room, and the points beyond the lines of one. */
const MOST = 12;
const MOST_BEYOND = 200;

function Boxes({ bench, onRemove }: CardProps) {
  const up = targetVariable(bench)!;
  const by = groupedBy(bench, up)!;
  const { drawn } = bench;
  const { boxes, more } = useMemo(() => grouped(drawn, by, up), [drawn, by, up]);
  const draw = useCallback(
    (_: Size, zoom: Zoom) => ({
      ...STYLE,
      marginLeft: 130,
      marginTop: 6,
      x: axisOf(drawn, up, zoom.x),
      y: { label: null, domain: boxes.map(({ name }) => name), type: 'band' as const, padding: 0.2 },
      marks: [
        ruleY(boxes, { y: 'name', x1: 'low', x2: 'high', stroke: 'var(--text)' }),
        barX(boxes, { y: 'name', x1: 'q1', x2: 'q3', fill: 'var(--claimed)', stroke: 'var(--text)', strokeWidth: 0.8 }),
        tickX(boxes, { y: 'name', x: 'median', stroke: 'var(--text)', strokeWidth: 2 }),
        dot(
          boxes.flatMap(({ name, beyond }) => Array.from(beyond, (value) => ({ name, value }))),
          { y: 'name', x: 'value', r: 1.5, stroke: 'var(--text)' },
        ),
      ],
    }),
    [drawn, up, boxes],
  );
  const isThinned = boxes.some((it) => it.beyond.length < it.outside);
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
      note={`Boxes: quartiles; lines: up to 1.5 times their distance; points beyond it${isThinned ? `, at most ${MOST_BEYOND} of a box` : ''}.${more > 0 ? ` ${more} more categories are not drawn.` : ''}`}
      draw={boxes.length === 0 ? undefined : draw}
      rows={() => ({
        columns: [by.label, 'runs', 'low', 'q1', 'median', 'q3', 'high', 'beyond'],
        rows: boxes.map((it) => [it.name, it.n, it.low, it.q1, it.median, it.q3, it.high, it.outside]),
      })}
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

function grouped({ mask }: Drawn, by: Variable, up: Variable) {
  const found = new Uint32Array(by.values.length);
  let n = 0;
  for (let row = 0; row < found.length; row += 1)
    if (isSelected(mask, row) && Number.isFinite(by.values[row]) && Number.isFinite(up.values[row])) found[n++] = row;
  const rows = found.subarray(0, n);
  const { names, nameOf } = isNumber(by) ? quartersOf(by, rows) : wordsOf(by, rows);
  const values = new Map(names.slice(0, MOST).map((name) => [name, [] as number[]]));
  for (const row of rows) values.get(nameOf(row))?.push(up.values[row]!);
  const boxes = [...values]
    .filter(([, all]) => all.length > 0)
    .map(([name, all]) => ({ name, ...boxOf(Float64Array.from(all), MOST_BEYOND) }));
  return { boxes, more: names.length - values.size };
}

/** The groups in the order in which they are drawn, and that of a row. */
interface Groups {
  names: string[];
  nameOf: (row: number) => string;
}

interface Quarter {
  end: number;
  name: string;
}

/** The quarters of a number; equal ones are one. */
function quartersOf({ values }: Variable, rows: Uint32Array): Groups {
  const sorted = takeRows(values, rows).sort();
  const at = (quarter: number): number => sorted[Math.round((quarter / 4) * (sorted.length - 1))] ?? 0;
  const quarters = [0, 1, 2, 3].map((quarter) => ({
    end: at(quarter + 1),
    name: `${brief(at(quarter))} to ${brief(at(quarter + 1))}`,
  }));
  const [first, second, third, fourth] = quarters as [Quarter, Quarter, Quarter, Quarter];
  const nameOf = (row: number): string => {
    const value = values[row]!;
    return (value <= first.end ? first : value <= second.end ? second : value <= third.end ? third : fourth).name;
  };
  return { names: [...new Set(quarters.map(({ name }) => name))], nameOf };
}

/** The words of a text or boolean, the most frequent first. */
function wordsOf({ values, categories = [] }: Variable, rows: Uint32Array): Groups {
  const nameOf = (row: number): string => categories[values[row]!] ?? '';
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(nameOf(row), (counts.get(nameOf(row)) ?? 0) + 1);
  return { names: [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name), nameOf };
}

export const box: CardKind = {
  name: 'box',
  title: 'Boxes by category or scenario',
  fits: (bench) => bench.variables.length > 1 && bench.variables.some((it) => it.kind === 'output' && isNumber(it)),
  View: Boxes,
};
