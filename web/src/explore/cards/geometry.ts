/** The dispersion of points in a plane: ellipses, the circle of half of them, and polygons of a range. Pure. */

import { sortedQuantile } from '../../../../src/analysis/numeric/quantile.ts';

/** The dispersion of points about their mean, under a normal distribution in two dimensions. */
export interface Dispersion {
  n: number;
  centre: readonly [number, number];
  /** Standard deviations along the axes of the ellipse, the greater first. */
  sigmas: readonly [number, number];
  /** Angle of the greater axis, in radians from the first coordinate. */
  angle: number;
  /** Circular error probable: the radius about the mean that holds half of the points. */
  cep: number;
}

export type Point = readonly [number, number];

/** The dispersion of at least three points; undefined for fewer. */
export function dispersionOf(points: readonly Point[]): Dispersion | undefined {
  const n = points.length;
  if (n < 3) return undefined;
  let [mx, my] = [0, 0];
  for (const [x, y] of points) [mx, my] = [mx + x / n, my + y / n];
  let [xx, yy, xy] = [0, 0, 0];
  for (const [x, y] of points) {
    xx += (x - mx) ** 2 / (n - 1);
    yy += (y - my) ** 2 / (n - 1);
    xy += ((x - mx) * (y - my)) / (n - 1);
  }
  const half = (xx + yy) / 2;
  const root = Math.hypot((xx - yy) / 2, xy);
  const radii = Float64Array.from(points, ([x, y]) => Math.hypot(x - mx, y - my)).sort();
  return {
    n,
    centre: [mx, my],
    sigmas: [Math.sqrt(half + root), Math.sqrt(Math.max(0, half - root))],
    angle: Math.atan2(2 * xy, xx - yy) / 2,
    cep: sortedQuantile(radii, 0.5),
  };
}

/** The outline of an ellipse of so many standard deviations. */
export function ellipse({ centre: [cx, cy], sigmas: [a, b], angle }: Dispersion, times: number, steps = 72): Point[] {
  return Array.from({ length: steps + 1 }, (_, at) => {
    const turn = (2 * Math.PI * at) / steps;
    const [u, v] = [times * a * Math.cos(turn), times * b * Math.sin(turn)];
    return [cx + u * Math.cos(angle) - v * Math.sin(angle), cy + u * Math.sin(angle) + v * Math.cos(angle)];
  });
}

/** The outline of a circle about the mean. */
export const circle = (dispersion: Dispersion, radius: number): Point[] =>
  ellipse({ ...dispersion, sigmas: [radius, radius] }, 1);

/** A polygon: its outline, then its holes. */
export type Polygon = Point[][];

/** Most points of all outlines. */
const MOST_POINTS = 20_000;

/**
 * The polygons of a GeoJSON text, whose coordinates are in the units of the plot.
 * @throws Error that says what is wrong
 */
export function readPolygons(text: string): Polygon[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error('the file is not JSON; choose a GeoJSON file');
  }
  const found: Polygon[] = [];
  const pending: unknown[] = [parsed];
  const take = (coordinates: unknown): void => {
    const rings = ringsOf(coordinates);
    found.push(rings);
    count += rings.reduce((sum, ring) => sum + ring.length, 0);
    if (count > MOST_POINTS) throw new Error(`the polygons have more than ${MOST_POINTS} points; simplify them`);
  };
  let count = 0;
  while (pending.length > 0) {
    const it = pending.pop();
    if (typeof it !== 'object' || it === null) continue;
    const { type, coordinates, geometry, geometries, features } = it as Record<string, unknown>;
    if (type === 'Polygon') take(coordinates);
    else if (type === 'MultiPolygon') listed(coordinates).forEach(take);
    else pending.push(geometry, ...listed(geometries), ...listed(features));
  }
  if (found.length === 0) throw new Error('the file holds no Polygon and no MultiPolygon');
  return found;
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

function ringsOf(value: unknown): Polygon {
  const rings = listed(value).map((ring) =>
    listed(ring).map((it): Point => {
      const [x, y] = listed(it);
      if (typeof x !== 'number' || typeof y !== 'number') throw new Error('a coordinate of a polygon is not a number');
      return [x, y];
    }),
  );
  if (rings.length === 0 || rings.some((it) => it.length < 4))
    throw new Error('a ring of a polygon has fewer than four positions');
  return rings;
}

/** True for a point inside one of the polygons and outside of its holes. */
export const isInside = (polygons: readonly Polygon[], point: Point): boolean =>
  polygons.some((rings) => rings.filter((ring) => isInRing(ring, point)).length % 2 === 1);

function isInRing(ring: readonly Point[], [x, y]: Point): boolean {
  let inside = false;
  for (let at = 0, before = ring.length - 1; at < ring.length; before = at, at += 1) {
    const [[ax, ay], [bx, by]] = [ring[at]!, ring[before]!];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}
