/** The distribution functions and their inverses that truncation needs, exact in both tails. */
import type { Law, Tails } from './bounds.ts';
import { normalQuantileOfTails, normalTails } from './normal.ts';

/** -ln(1 - F): the standard exponential quantile from both tails. */
function exponentialQuantileOfTails(p: number, q: number): number {
  return p <= q ? -Math.log1p(-p) : -Math.log(q);
}

function exponentialTails(x: number, out: Tails): void {
  out.p = -Math.expm1(-x);
  out.q = Math.exp(-x);
}

export function normalLaw(mean: number, stdDev: number): Law {
  return {
    origin: Number.NEGATIVE_INFINITY,
    tails: (x, out) => normalTails((x - mean) / stdDev, out),
    quantile: (p, q) => mean + stdDev * normalQuantileOfTails(p, q),
  };
}

/** `mu` and `sigma` are those of ln x. */
export function lognormalLaw(mu: number, sigma: number): Law {
  return {
    origin: 0,
    tails: (x, out) => normalTails((Math.log(x) - mu) / sigma, out),
    quantile: (p, q) => Math.exp(mu + sigma * normalQuantileOfTails(p, q)),
  };
}

export function exponentialLaw(lambda: number): Law {
  return {
    origin: 0,
    tails: (x, out) => exponentialTails(x * lambda, out),
    quantile: (p, q) => exponentialQuantileOfTails(p, q) / lambda,
  };
}

export function weibullLaw(shape: number, scale: number): Law {
  return {
    origin: 0,
    tails: (x, out) => exponentialTails((x / scale) ** shape, out),
    quantile: (p, q) => scale * exponentialQuantileOfTails(p, q) ** (1 / shape),
  };
}
