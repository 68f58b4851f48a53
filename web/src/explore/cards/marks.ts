/** The points of runs that the plots of cards share. */
import { dot, pointer, tip, type Markish, type PlotOptions } from '@observablehq/plot';
import { TIP } from '../../cards/style.ts';
import { figure } from '../../parts/time.tsx';
import { BACKGROUND, FAILED, SELECTED, type Variable } from '../../plots/variables.ts';
import { KINDS, RAMP, WORDS } from '../colours.ts';
import { kindOfRow, type Drawn } from '../state.ts';

/** The values of a variable; words are spread over the width of their place, since they are not numbers. */
export function placed({ values, categories }: Variable, salt = 1): (row: number) => number {
  if (categories === undefined) return (row) => values[row]!;
  return (row) => values[row]! + (((row * salt * 0.618_033_988_75) % 1) - 0.5) * 0.7;
}

const textOf = ({ name, values, categories }: Variable, row: number): string => {
  const value = values[row]!;
  return `${name} ${categories?.[value] ?? (Number.isFinite(value) ? figure(value) : '–')}`;
};

/** The values of a run, for the pointer. */
const titleOf =
  ({ table }: Drawn, variables: readonly Variable[]) =>
  (row: number): string =>
    [`run ${table.runAt(row)}`, ...variables.map((it) => textOf(it, row))].join('\n');

/** Points for these rows: not selected ones first, failed ones last and as triangles. */
export function pointMarks(drawn: Drawn, across: Variable, up: Variable, rows: Uint32Array, size = 1.6): Markish[] {
  const { colouring } = drawn;
  const all = Array.from(rows);
  const [x, y] = [placed(across), placed(up, 7)];
  return [BACKGROUND, SELECTED, FAILED].map((it) =>
    dot(
      all.filter((row) => kindOfRow(drawn, row) === it),
      {
        x,
        y,
        r: it === FAILED ? size + 1.4 : size,
        symbol: it === FAILED ? 'triangle' : 'circle',
        fill: colouring === undefined || it === BACKGROUND ? KINDS[it]! : (row: number) => colouring.values[row],
        fillOpacity: it === BACKGROUND ? 0.35 : 0.75,
      },
    ),
  );
}

/** The values of the run under the pointer; the figure's value is its row. */
export function pointerMark(drawn: Drawn, across: Variable, up: Variable, rows: Uint32Array): Markish {
  const shown = [across, up, ...(drawn.colouring === undefined ? [] : [drawn.colouring])];
  return tip(
    Array.from(rows),
    pointer({ x: placed(across), y: placed(up, 7), title: titleOf(drawn, [...new Set(shown)]), ...TIP }),
  );
}

/** The colours of the points by the value of a variable. */
export function colourScale({ colouring, scale }: Drawn): Pick<PlotOptions, 'color'> {
  if (colouring === undefined) return {};
  if (colouring.categories !== undefined)
    return {
      color: {
        type: 'ordinal',
        domain: colouring.categories.map((_, code) => code),
        range: [...WORDS],
        unknown: '#999',
      },
    };
  const { from, to, isLog } = scale(colouring);
  const ends = isLog ? [10 ** from, 10 ** to] : [from, to];
  return {
    color: {
      type: isLog ? 'log' : 'linear',
      domain: ends,
      range: [...RAMP],
      interpolate: 'rgb',
      clamp: true,
      unknown: '#999',
    },
  };
}
