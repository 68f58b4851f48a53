/** Two outputs of one unit in a plane: equal axes, ellipses of dispersion, the circle of half of the runs, and polygons of a range. */
import { line } from '@observablehq/plot';
import { useCallback, useMemo, useState } from 'react';
import { Failure } from '../../parts/common.tsx';
import { brief, count, figure } from '../../parts/time.tsx';
import { isSelected, unitsIn, type Variable } from '../../plots/variables.ts';
import { findVariable, type Bench } from '../state.ts';
import {
  circle,
  dispersionOf,
  ellipse,
  type Dispersion,
  isInside,
  readPolygons,
  type Point,
  type Polygon,
} from './geometry.ts';
import type { CardKind, CardProps } from './kind.ts';
import { axisOf, STYLE } from '../../cards/style.ts';
import { colourScale, pointerMark, pointMarks } from './marks.ts';
import { PairChoice } from './pair.tsx';
import { planarOutputs, planarPair } from './planar.ts';
import type { Size, Zoom } from '../../cards/figure.tsx';
import { PlotCard } from './plot.tsx';
import { pairRows, pointsNote, pointsOf } from './points.ts';

const SIGMAS = [1, 2, 3] as const;
/** The height of the plot: equal axes need room. */
const HEIGHT = 330;

function Footprint({ bench, onRemove }: CardProps) {
  const [across, up] = pairOf(bench)!;
  const [polygons, setPolygons] = useState<readonly Polygon[]>([]);
  const [error, setError] = useState<string>();
  const { drawn } = bench;
  const rows = useMemo(() => pointsOf(drawn), [drawn]);
  const points = useMemo(
    () =>
      Array.from(across.values.keys())
        .filter((row) => isSelected(drawn.mask, row))
        .map((row): Point => [across.values[row]!, up.values[row]!])
        .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)),
    [across, up, drawn.mask],
  );
  const found = useMemo(() => dispersionOf(points), [points]);
  const inside = useMemo(() => points.filter((it) => isInside(polygons, it)).length, [points, polygons]);
  const draw = useCallback(
    ({ width, height }: Size, zoom: Zoom) => {
      const shown = Array.from(rows, (row): Point => [across.values[row]!, up.values[row]!]).filter((it) =>
        it.every((value) => Number.isFinite(value)),
      );
      const rings = polygons.flat();
      const ellipses = found === undefined ? [] : SIGMAS.map((it) => ellipse(found, it));
      const marks = [
        ...rings.map((ring) => line(ring, { x: '0', y: '1', stroke: 'var(--ok-text)', strokeWidth: 2 })),
        ...pointMarks(drawn, across, up, rows),
        ...ellipses.map((it) => line(it, { x: '0', y: '1', stroke: 'var(--text)', strokeWidth: 1 })),
        ...(found === undefined
          ? []
          : [
              line(circle(found, found.cep), {
                x: '0',
                y: '1',
                stroke: 'var(--accent)',
                strokeWidth: 1.5,
                strokeDasharray: '4 3',
              }),
            ]),
        pointerMark(drawn, across, up, rows),
      ];
      const [x, y] = equalDomains([...shown, ...ellipses.flat(), ...rings.flat()], width, height, zoom);
      return {
        ...STYLE,
        ...colourScale(drawn),
        x: { ...axisOf(drawn, across, x), type: 'linear' as const },
        y: { ...axisOf(drawn, up, y, 5), type: 'linear' as const },
        clip: true,
        marks,
      };
    },
    [drawn, across, up, rows, found, polygons],
  );
  const load = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      setPolygons(readPolygons(await file.text()));
      setError(undefined);
    } catch (failure) {
      setError((failure as Error).message);
    }
  };
  return (
    <PlotCard
      bench={bench}
      title={`Where ${across.name} and ${up.name} are`}
      heading="Footprint"
      aside={
        <PairChoice
          bench={bench}
          across={across}
          up={up}
          names={['fx', 'fy']}
          variables={planarOutputs(bench.variables)}
        />
      }
      actions={
        <label className="button quiet">
          Show a range, from GeoJSON …
          <input
            className="visually-hidden"
            type="file"
            accept=".geojson,.json,application/geo+json"
            aria-label="Polygon of a range, a GeoJSON file"
            onChange={(event) => void load(event.target.files?.[0])}
          />
        </label>
      }
      note={
        <>
          <Failure what="The range could not be read." detail={error} />
          {pointsNote(rows, bench)} {found !== undefined && dispersionText(found, across)}
          {polygons.length > 0 && ` Inside the range: ${count(inside)} of ${count(points.length)}.`}
        </>
      }
      draw={draw}
      height={HEIGHT}
      rows={() => pairRows(bench, across, up, rows)}
      python={`footprint(${JSON.stringify(across.name)}, ${JSON.stringify(up.name)})`}
      brush={{ x: across, y: up }}
      onRemove={onRemove}
    />
  );
}

function dispersionText({ n, centre, sigmas, cep }: Dispersion, across: Variable) {
  const unit = unitsIn(across);
  const text = (value: number): string => (unit === undefined ? brief(value) : `${brief(value)} ${unit}`);
  return `Mean (${figure(centre[0])}, ${figure(centre[1])}); ellipses of 1, 2 and 3 sigma, ${text(sigmas[0])} by ${text(sigmas[1])}; dashed: half of the runs, CEP ${text(cep)}. Of ${count(n)} runs with both values.`;
}

/** Domains of both axes with one scale, around all points. */
function equalDomains(points: readonly Point[], width: number, height: number, zoom: Zoom) {
  const [across, up] = [
    Math.max(50, width - STYLE.marginLeft! - STYLE.marginRight!),
    Math.max(50, height - STYLE.marginTop! - STYLE.marginBottom!),
  ];
  const ends = (at: 0 | 1, known: readonly [number, number] | undefined): readonly [number, number] => {
    if (known !== undefined) return known;
    let [least, most] = [Infinity, -Infinity];
    for (const it of points) [least, most] = [Math.min(least, it[at]), Math.max(most, it[at])];
    return least <= most ? [least, most] : [0, 1];
  };
  const [x, y] = [ends(0, zoom.x), ends(1, zoom.y)];
  const perPixel = Math.max((x[1] - x[0]) / across, (y[1] - y[0]) / up) * 1.04 || 1;
  const about = ([from, to]: readonly [number, number], pixels: number): readonly [number, number] => {
    const [middle, half] = [(from + to) / 2, (perPixel * pixels) / 2];
    return [middle - half, middle + half];
  };
  return [about(x, across), about(y, up)] as const;
}

/** The pair of the address, or else the likeliest. */
function pairOf(bench: Bench): [Variable, Variable] | undefined {
  const [x, y] = [findVariable(bench, bench.query.get('fx')), findVariable(bench, bench.query.get('fy'))];
  return planarPair(planarOutputs(bench.variables), x, y);
}

export const footprint: CardKind = {
  name: 'footprint',
  title: 'Footprint: two outputs in a plane',
  fits: (bench) => pairOf(bench) !== undefined,
  View: Footprint,
};
