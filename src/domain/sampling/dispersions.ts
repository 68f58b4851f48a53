/**
 * Which dispersions can be sampled: every fault of a submission's `config.dispersions`, and what is allowed but will probably
 * mislead. Nothing is sampled for keeping here, nothing thrown.
 */
import { pointerToken } from '../../base/json-pointer.ts';
import type { BatchConfig, DistributionType, Fault, SubmissionWarning } from '../../contract/types.ts';
import { quantileFunction } from './quantiles.ts';
import { SOBOL_DIMENSIONS } from './sobol.ts';

/**
 * The greatest alpha and beta. The time of a sample grows with their square root, and far above it a beta distribution is
 * narrower than a double can tell.
 */
export const MAX_BETA_PARAMETER = 1e9;

type Rule = (value: number) => string | undefined;
const finite: Rule = () => undefined;
const notNegative: Rule = (value) => (value < 0 ? 'must be >= 0' : undefined);
const positive: Rule = (value) => (value <= 0 ? 'must be > 0' : undefined);
const positiveUpToLimit: Rule = (value) =>
  value > MAX_BETA_PARAMETER ? `must be <= ${MAX_BETA_PARAMETER}` : positive(value);

/** The numeric members of each distribution and the range of each. */
const RULES: { readonly [Type in DistributionType['type']]: Readonly<Record<string, Rule>> } = {
  normal: { mean: finite, std_dev: notNegative },
  uniform: { min: finite, max: finite },
  exponential: { lambda: positive },
  gamma: { shape: positive, scale: positive },
  beta: { alpha: positiveUpToLimit, beta: positiveUpToLimit },
  fixed: { value: finite },
};

/** Where every distribution is tried for overflow: the least and greatest uniform there are, and the middle. */
const PROBES = [2 ** -53, 0.5, 1 - 2 ** -53];

/**
 * All faults of the dispersions of a study, with pointers into the submission (`/config/dispersions/...`); empty when they can be
 * sampled. Expects the documented shape and names what is missing of it.
 */
export function dispersionFaults(config: Pick<BatchConfig, 'dispersions' | 'monte_carlo'>): Fault[] {
  const pointer = '/config/dispersions';
  const faults: Fault[] = [];
  const entries = Object.entries(config.dispersions);
  if (config.monte_carlo.sampling_method === 'quasi_monte_carlo' && entries.length > SOBOL_DIMENSIONS) {
    const detail = `quasi_monte_carlo takes at most ${SOBOL_DIMENSIONS} dispersions, not ${entries.length}; use latin_hypercube`;
    faults.push({ pointer, detail });
  }
  for (const [name, dispersion] of entries) {
    const here = pointer + pointerToken(name);
    if (name === '') faults.push({ pointer: here, detail: 'the name of a dispersion must not be empty' });
    if (!name.isWellFormed()) {
      faults.push({ pointer: here, detail: 'the name of a dispersion must be valid Unicode, without lone surrogates' });
    }
    faults.push(...distributionFaults(dispersion.distribution, `${here}/distribution`));
  }
  return faults;
}

function distributionFaults(distribution: DistributionType, pointer: string): Fault[] {
  const { type } = distribution;
  if (!Object.hasOwn(RULES, type)) {
    const known = Object.keys(RULES).join(', ');
    return [{ pointer: `${pointer}/type`, detail: `must be one of ${known}, not ${JSON.stringify(type)}` }];
  }
  const faults: Fault[] = [];
  const members = new Map<string, unknown>(Object.entries(distribution));
  for (const [member, rule] of Object.entries(RULES[type])) {
    const value = members.get(member);
    const broken = typeof value === 'number' && Number.isFinite(value) ? rule(value) : 'must be a finite number';
    if (broken === undefined) continue;
    const found = value === undefined ? 'is missing' : `not ${typeof value === 'number' ? value : typeof value}`;
    faults.push({ pointer: `${pointer}/${member}`, detail: `${broken}, ${found}` });
  }
  if (faults.length > 0) return faults;
  if (distribution.type === 'uniform' && distribution.min > distribution.max) {
    const detail = `must be <= max (${distribution.max}), not ${distribution.min}`;
    return [{ pointer: `${pointer}/min`, detail }];
  }
  // A beta sample cannot overflow and is the one that takes long to try.
  if (distribution.type === 'beta') return [];
  const quantile = quantileFunction(distribution);
  if (PROBES.every((u) => Number.isFinite(quantile(u)))) return [];
  const given = Object.keys(RULES[type]).map((member) => `${member} ${String(members.get(member))}`);
  const detail = `as ${type} with ${given.join(' and ')} has extreme samples that overflow a double; use a narrower one`;
  return [{ pointer, detail }];
}

/**
 * What is allowed in a study and will probably mislead. `totalJobs` is the number of runs that will really be made: `runs`, or
 * fewer by `runs_override`.
 */
export function samplingWarnings(
  config: Pick<BatchConfig, 'dispersions' | 'monte_carlo'>,
  totalJobs: number,
): SubmissionWarning[] {
  const { runs, sampling_method: method } = config.monte_carlo;
  const random = Object.values(config.dispersions).filter(({ distribution }) => distribution.type !== 'fixed').length;
  if (totalJobs === 0 || random === 0) return [];
  if (method === 'latin_hypercube' && totalJobs < runs) return [subsetWarning(totalJobs, runs)];
  if (method !== 'quasi_monte_carlo') return [];
  // Fixed dispersions keep their Sobol' dimension, so they count for the dimensions that are used.
  return quasiMonteCarloWarnings(totalJobs, runs, Object.keys(config.dispersions).length);
}

function subsetWarning(totalJobs: number, runs: number): SubmissionWarning {
  return {
    code: 'latin-hypercube-subset',
    pointer: '/runs_override',
    detail:
      `${totalJobs === 1 ? 'the one run is' : `the ${totalJobs} runs are`} a random part of the ${runs}-run Latin hypercube and cover no better than monte_carlo; ` +
      `set config.monte_carlo.runs to ${totalJobs} for a Latin hypercube of that size`,
  };
}

function quasiMonteCarloWarnings(totalJobs: number, runs: number, dimensions: number): SubmissionWarning[] {
  const pointer = totalJobs < runs ? '/runs_override' : '/config/monte_carlo/runs';
  const warnings: SubmissionWarning[] = [];
  if (totalJobs < 64) {
    const detail = `quasi_monte_carlo with ${totalJobs} runs leaves parameters strongly correlated: use at least 64, or latin_hypercube`;
    warnings.push({ code: 'quasi-monte-carlo-few-runs', pointer, detail });
  } else if (totalJobs < 16 * dimensions) {
    const detail =
      `quasi_monte_carlo with ${totalJobs} runs for ${dimensions} dispersions leaves parameters correlated: ` +
      `use at least ${16 * dimensions} (16 for each dispersion), or latin_hypercube`;
    warnings.push({ code: 'quasi-monte-carlo-few-runs-for-dispersions', pointer, detail });
  }
  if (!Number.isInteger(Math.log2(totalJobs))) {
    const below = 2 ** Math.floor(Math.log2(totalJobs));
    const detail = `quasi_monte_carlo is balanced only when the runs are a power of two: use ${below} or ${2 * below}, not ${totalJobs}`;
    warnings.push({ code: 'quasi-monte-carlo-not-a-power-of-two', pointer, detail });
  }
  return warnings;
}
