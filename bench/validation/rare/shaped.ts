/** The problems on which the method was shaped: what is measured on them flatters it. */
import { gammaLaw } from '../../../src/base/distributions/gamma.ts';
import { NormalSpace } from '../../../src/domain/sampling/normal-space.ts';
import { along, either, type Problem, squares, sum, upper } from './problem.ts';

function linear(d: number, beta: number): Problem {
  return { name: `linear, beta = ${beta}`, d, score: (z) => along(z) - beta, p: upper(beta) };
}

function shell(d: number): Problem {
  const p = 1e-5;
  const r2 = gammaLaw(d / 2, 2).quantile(1 - p, p);
  return { name: 'outside of a sphere', d, score: (z) => squares(z) - r2, p };
}

function fourBranches([a = 0, b = 0]: Float64Array): number {
  const bend = 3 + 0.1 * (a - b) ** 2;
  const sides = [bend - (a + b) / Math.SQRT2, bend + (a + b) / Math.SQRT2];
  return -Math.min(...sides, a - b + 7 / Math.SQRT2, b - a + 7 / Math.SQRT2);
}

function metaballs([a = 0, b = 0]: Float64Array): number {
  const first = (4 * (a + 2) ** 2) / 9 + (b * b) / 25;
  const second = (a - 2.5) ** 2 / 4 + (b - 0.5) ** 2 / 25;
  return -(30 / (first * first + 1) + 20 / (second * second + 1) - 5);
}

/** A linear score with a quadratic term in all other directions. */
function convex(z: Float64Array): number {
  const t = along(z);
  return t - 3.5 + 0.05 * (squares(z) - t * t - (z.length - 1));
}

/** Mild curvature everywhere, and an interaction. */
function quadratic(z: Float64Array): number {
  const norm = Math.sqrt(z.reduce((total, _, at) => total + Math.cos(at) ** 2, 0));
  const t = z.reduce((total, it, at) => total + it * Math.cos(at), 0) / norm;
  return t + 0.3 * ((t * (z[0]! + z[1]!)) / 2) + 0.02 * (squares(z) - z.length) - 4.6;
}

const space = new NormalSpace(
  {
    stiffness: { distribution: { type: 'lognormal', mu: 2, sigma: 0.1 }, units: '' },
    strength: { distribution: { type: 'lognormal', mu: 3, sigma: 0.15 }, units: '' },
    load: { distribution: { type: 'weibull', shape: 2.5, scale: 6 }, units: '' },
    gust: { distribution: { type: 'exponential', lambda: 1 }, units: '' },
    bias: { distribution: { type: 'uniform', min: -1, max: 1 }, units: '' },
  },
  [
    { parameters: ['gust', 'load'], rank: 0.5 },
    { parameters: ['stiffness', 'strength'], rank: 0.3 },
  ],
);
const physics = new Float64Array(5);

function physical(z: Float64Array): number {
  space.parametersInto(z, 0, physics);
  const [bias = 0, gust = 0, load = 0, stiffness = 0, strength = 0] = physics;
  return load + 0.35 * gust + 0.5 * bias - ((strength * stiffness) / Math.exp(2)) * 1.3;
}

/** Two regions, of which the score climbs to the less probable one first; the other gives no sign of itself. */
const hidden = (z: Float64Array, other: number, first: number): number =>
  Math.max(z[0]! - first, other < -3.9 ? 0.5 : -9);

const steep = (z: Float64Array): number => Math.max(z[0]! - 4.5, 2.5 * (-z[1]! - 4.2));
const equal = (z: Float64Array): number => Math.max(z[0]! - 4, -z[1]! - 4.1);

/** The probabilities of the curved ones are by quadrature. */
export const SHAPED: readonly Problem[] = [
  {
    name: 'a second region of 60 % of P along no parameter, without a sign of itself',
    d: 10,
    score: (z) => hidden(z, sum(z, 1) / Math.sqrt(z.length - 1), 4),
    p: either(upper(4), upper(3.9)),
  },
  { name: 'the same along a parameter', d: 10, score: (z) => hidden(z, z[1]!, 4), p: either(upper(4), upper(3.9)) },
  { name: 'the same, of 93 % of P', d: 2, score: (z) => hidden(z, z[1]!, 4.5), p: either(upper(4.5), upper(3.9)) },
  {
    name: 'strong noise of its own',
    d: 5,
    score: (z, noise) => 0.9 * along(z) + Math.sqrt(1 - 0.81) * noise - 4,
    p: upper(4),
  },
  ...[2, 10].map((d) => ({
    name: 'two regions of different steepness',
    d,
    score: steep,
    p: either(upper(4.5), upper(4.2)),
  })),
  ...[10, 50].map((d) => ({
    name: 'two regions of equal steepness',
    d,
    score: equal,
    p: either(upper(4), upper(4.1)),
  })),
  { name: 'four branches', d: 2, score: fourBranches, p: 2.2201e-3 },
  { name: 'metaballs', d: 2, score: metaballs, p: 1.1303e-5 },
  {
    name: 'a parabola, two design points',
    d: 2,
    score: ([a = 0, b = 0]) => -(5 - b - 0.5 * (a - 0.1) ** 2),
    p: 3.0169e-3,
  },
  {
    name: 'a bent valley',
    d: 2,
    score: ([a = 0, b = 0]) => -(0.3 * (b - 0.35 * a * a) ** 2 + (2.9 - a)),
    p: 7.188e-6,
  },
  { name: 'a convex safe set', d: 10, score: convex, p: 3.3019e-4 },
  { name: 'correlated loads and strengths', d: 5, score: physical, p: 9.6056e-6 },
  { name: 'curved, with an interaction', d: 100, score: quadratic, p: 3.0321e-4 },
  {
    name: 'a step: three values',
    d: 2,
    score: (z) => (along(z) > 4 ? 1 : along(z) > 2 ? -0.5 : -1),
    p: upper(4),
  },
  { name: 'a staircase', d: 10, score: (z) => Math.floor(2 * along(z)) / 2 - 4, p: upper(4) },
  { name: 'a flag', d: 2, score: (z) => (along(z) > 4 ? 1 : -1), p: upper(4) },
  ...[2, 10, 100].map(shell),
  ...[2, 10, 100].flatMap((d) => [3, 4, 5].map((beta) => linear(d, beta))),
];
