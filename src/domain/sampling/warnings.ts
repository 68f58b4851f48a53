/** The warnings of a submission about its design: allowed, and probably misleading. */
import { distributionEntry } from '../../base/distributions/table.ts';
import type { BatchConfig, SubmissionWarning } from '../../contract/types.ts';
import { cellCount } from '../scenarios/cells.ts';
import { allDistributions, declaredDispersions } from '../scenarios/overrides.ts';
import { RunSelection } from '../runs/run-selection.ts';
import { connectedGroups } from './correlation.ts';
import { replicateRunsOf } from './replicates.ts';
import { saltelliDesign } from './designs/saltelli.ts';

/** The members of `config` that decide how it is sampled. */
type Design = Pick<BatchConfig, 'dispersions' | 'monte_carlo' | 'correlations' | 'scenarios' | 'epistemic'>;

/**
 * The warnings of a valid study. `jobs` is the number of runs in the batch: those selected, or fewer by `runs_override`.
 */
export function samplingWarnings(config: Design, jobs: number): SubmissionWarning[] {
  const { sampling_method: method } = config.monte_carlo;
  // Every cell has the same samples.
  const totalJobs = Math.ceil(jobs / cellCount(config));
  const replicateRuns = replicateRunsOf(config.monte_carlo);
  const random = allDistributions(config).some((it) => distributionEntry(it.type)?.argument === 'uniform');
  if (totalJobs === 0 || !random) return [];
  if (replicateRuns !== undefined) return replicatesWarnings(config, totalJobs, replicateRuns);
  if (method === 'latin_hypercube') return latinHypercubeWarnings(config, totalJobs);
  if (method === 'saltelli') return saltelliWarnings(config, totalJobs);
  return method === 'quasi_monte_carlo' ? quasiMonteCarloWarnings(config, totalJobs) : [];
}

/** Points of a replicate may be few and correlated: its mean has no bias, and the replicates show its error. */
function replicatesWarnings(config: Design, totalJobs: number, replicateRuns: number): SubmissionWarning[] {
  const { sampling_method: method, runs, run_ids: runIds } = config.monte_carlo;
  const pointer = '/config/monte_carlo/replicates';
  const warnings: SubmissionWarning[] = [];
  if (!isGiven(runIds) && totalJobs < runs && totalJobs % replicateRuns !== 0) {
    const rest = totalJobs % replicateRuns;
    const detail = `the last ${rest === 1 ? 'run is' : `${rest} runs are`} a part of a replicate of ${replicateRuns} runs; run a multiple of ${replicateRuns}`;
    warnings.push({ code: 'replicate-subset', pointer: '/runs_override', detail });
  }
  if (method === 'quasi_monte_carlo' && !Number.isInteger(Math.log2(replicateRuns))) {
    const below = 2 ** Math.floor(Math.log2(replicateRuns));
    const detail = `a replicate of quasi_monte_carlo is balanced only when its runs are a power of two: use replicates of ${below} or ${2 * below} runs, not ${replicateRuns}`;
    warnings.push({ code: 'quasi-monte-carlo-not-a-power-of-two', pointer, detail });
  }
  const groups = connectedGroups(config.correlations ?? []);
  if (method === 'latin_hypercube' && groups.length > 0) warnings.push(correlatedWarning(groups));
  return warnings;
}

function latinHypercubeWarnings(config: Design, totalJobs: number): SubmissionWarning[] {
  const { runs, run_ids: runIds } = config.monte_carlo;
  const warnings: SubmissionWarning[] = [];
  const pointer = isGiven(runIds) ? '/config/monte_carlo/run_ids' : '/runs_override';
  if (totalJobs < runs) warnings.push(subsetWarning(totalJobs, runs, pointer));
  const groups = connectedGroups(config.correlations ?? []);
  if (groups.length > 0) warnings.push(correlatedWarning(groups));
  return warnings;
}

function correlatedWarning(groups: readonly (readonly string[])[]): SubmissionWarning {
  const kept = groups.map(([first]) => first!);
  const listed = kept.length > 10 ? `${kept.slice(0, 10).join(', ')}, ...` : kept.join(', ');
  return {
    code: 'latin-hypercube-correlated',
    pointer: '/config/correlations',
    detail:
      `of each group of correlated dispersions only the first by name keeps exactly one run in each stratum (${listed}); ` +
      'the others keep their distributions, as under monte_carlo',
  };
}

const isGiven = (runIds: string | null | undefined): runIds is string => typeof runIds === 'string';

function subsetWarning(totalJobs: number, runs: number, pointer: string): SubmissionWarning {
  return {
    code: 'latin-hypercube-subset',
    pointer,
    detail:
      `${totalJobs === 1 ? 'the one run is' : `the ${totalJobs} runs are`} a random part of the ${runs}-run Latin hypercube and cover no better than monte_carlo; ` +
      (pointer === '/runs_override'
        ? `set config.monte_carlo.runs to ${totalJobs} for a Latin hypercube of that size`
        : 'judge means over all runs of the design'),
  };
}

function quasiMonteCarloWarnings(config: Design, totalJobs: number): SubmissionWarning[] {
  const { runs, run_ids: runIds } = config.monte_carlo;
  if (isGiven(runIds)) return selectionWarnings(runIds, totalJobs);
  // Fixed dispersions keep their Sobol' dimension, so they count for the dimensions that are used.
  const dimensions = Object.keys(declaredDispersions(config)).length;
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

function saltelliWarnings(config: Design, totalJobs: number): SubmissionWarning[] {
  const { runs } = config.monte_carlo;
  const { rows } = saltelliDesign(config);
  const warnings: SubmissionWarning[] = [];
  if (totalJobs < runs) {
    const detail = `${totalJobs} of the ${runs} runs of the design: indices use the blocks of ${rows} runs of which every run has a value`;
    warnings.push({ code: 'saltelli-incomplete', pointer: '/config/monte_carlo/runs', detail });
  }
  const blocks = runs / rows;
  if (!Number.isInteger(Math.log2(blocks))) {
    const below = 2 ** Math.floor(Math.log2(blocks));
    const detail = `${blocks} blocks of ${rows} runs: the points are balanced only when the blocks are a power of two; use ${below * rows} or ${2 * below * rows} runs`;
    warnings.push({ code: 'saltelli-not-a-power-of-two', pointer: '/config/monte_carlo/runs', detail });
  }
  return warnings;
}

/** Runs k 2^m to (k + 1) 2^m - 1 of a Sobol' sequence are balanced, others are not. */
function selectionWarnings(runIds: string, totalJobs: number): SubmissionWarning[] {
  const selection = RunSelection.parse(runIds);
  if (typeof selection === 'string') return [];
  const first = selection.nth(0);
  const isBlock = selection.nth(totalJobs - 1) - first === totalJobs - 1;
  if (isBlock && Number.isInteger(Math.log2(totalJobs)) && first % totalJobs === 0) return [];
  const detail =
    `the ${totalJobs} selected runs are not one balanced block of the quasi_monte_carlo design; ` +
    'judge means over the whole design, or select 2^m runs that begin at a multiple of 2^m';
  return [{ code: 'quasi-monte-carlo-subset', pointer: '/config/monte_carlo/run_ids', detail }];
}
