/** Submissions that come of another study: more runs of its design, and the same runs again. Pure. */
import type { BatchSubmission, ExtendRequest, Fault, RerunRequest } from '../../contract/types.ts';
import { LIMITS } from '../../contract/limits.ts';
import { SimbatchError } from '../errors.ts';
import { cellsOf } from '../scenarios/cells.ts';
import { replicateRunsOf } from '../sampling/replicates.ts';
import { MAX_RANGES } from '../runs/run-ranges.ts';
import { RunSelection, selectedRuns } from '../runs/run-selection.ts';

type MonteCarlo = BatchSubmission['config']['monte_carlo'];

/** The part of a design that the batches of a family have. */
export interface DesignInUse {
  /** The first run id after those that a batch with this replicate was made for. */
  end: number;
  /** The highest replicate. */
  replicate: number;
}

export interface Extension {
  submission: BatchSubmission;
  mode: 'continued' | 'replicate';
  /** The run ids, where the design is `continued`. */
  runIds?: string;
  /** The number of the replicate, where the design has one. */
  replicate?: number;
}

/**
 * The first run id that a batch leaves for an extension: the number of runs of its design, or of those that `runs_override`
 * left of it; of a study with scenarios the first sample.
 */
export function designEnd({ config, runs_override: cap }: Pick<BatchSubmission, 'config' | 'runs_override'>): number {
  const { runs, run_ids: runIds, cell_run_ids: cellRunIds } = config.monte_carlo;
  return typeof (cellRunIds ?? runIds) === 'string' ? runs : Math.min(runs, cap ?? runs);
}

/**
 * Returns the extension of a study, with everything else of its submission. Monte Carlo and Sobol' designs continue: run k is
 * the same as in a study with `runs` from the start. The strata of a Latin hypercube depend on its number of runs, so it
 * gets the next replicate, unless `runs_override` cut it short and `runs` completes it. A study of replicates has further ones of the same size. Returns the fault of the request otherwise.
 * @throws SimbatchError `not-extendable` for an adaptive study
 */
export function extensionOf(
  submission: BatchSubmission,
  { runs, name }: ExtendRequest,
  inUse: DesignInUse,
): Extension | Fault {
  const design = submission.config.monte_carlo;
  if (design.sampling_method === 'adaptive') {
    throw new SimbatchError(
      'not-extendable',
      submission.config.adaptive?.algorithm === 'rare_event'
        ? 'the study repeats runs of a study of rare events; extend that study'
        : 'the runs of an adaptive study are appended in rounds, up to its budget; submit a study with a larger one',
    );
  }
  const completes = runs === design.runs && inUse.end < runs;
  const replicateRuns = replicateRunsOf(design);
  const isOneHypercube = design.sampling_method === 'latin_hypercube' && replicateRuns === undefined;
  if (isOneHypercube && !completes) return nextReplicate(submission, runs, name, inUse);
  if (runs === undefined) {
    const detail = `is missing; give the number of runs of the whole design, more than ${inUse.end}`;
    return { pointer: '/runs', detail };
  }
  if (runs <= inUse.end) {
    const detail = `is ${runs}; the study and its extensions have runs up to ${inUse.end - 1} of the design, so give more than ${inUse.end}`;
    return { pointer: '/runs', detail };
  }
  const replicates = replicateRuns === undefined ? undefined : replicatesFor(runs, replicateRuns);
  if (typeof replicates === 'string') return { pointer: '/runs', detail: replicates };
  const runIds = RunSelection.between(inUse.end, runs).toString();
  const { cell_run_ids: _, ...whole } = design;
  const grown = replicates === undefined ? whole : { ...whole, replicates };
  return {
    submission: derived(submission, { ...grown, runs, run_ids: runIds }, name),
    mode: 'continued',
    runIds,
  };
}

/** The number of replicates of so many runs, or the fault of a number that they do not divide. */
function replicatesFor(runs: number, replicateRuns: number): number | string {
  const most = replicateRuns * LIMITS.replicates;
  if (runs > most) return `is ${runs}; a study has up to ${LIMITS.replicates} replicates, so give at most ${most}`;
  if (runs % replicateRuns === 0) return runs / replicateRuns;
  const below = Math.floor(runs / replicateRuns) * replicateRuns;
  return `is ${runs}, and the replicates of the study have ${replicateRuns} runs each; give ${below} or ${below + replicateRuns}`;
}

function nextReplicate(
  submission: BatchSubmission,
  runs: number | undefined,
  name: string | undefined,
  inUse: DesignInUse,
): Extension | Fault {
  const { run_ids: _, cell_run_ids: __, ...design } = submission.config.monte_carlo;
  const replicate = inUse.replicate + 1;
  const wanted = runs ?? design.runs;
  if (wanted === 0) return { pointer: '/runs', detail: 'is missing, and the study has no runs; give a number' };
  return {
    submission: derived(submission, { ...design, runs: wanted, replicate }, name),
    mode: 'replicate',
    replicate,
  };
}

/** The runs that a batch holds. */
export const runsOf = ({ config, runs_override: cap }: BatchSubmission): RunSelection => selectedRuns(config, cap);

/**
 * Returns a submission of these runs of a study that holds `held` runs, with everything else of its submission but the changes that the request names.
 * Returns the fault when the selection is too long to write down.
 */
export function rerunOf(
  submission: BatchSubmission,
  held: number,
  selection: RunSelection,
  { simulation_version: version, container_image: image, name }: Omit<RerunRequest, 'select' | 'relation'>,
): BatchSubmission | Fault {
  const design = submission.config.monte_carlo;
  const isCapped = typeof submission.runs_override === 'number';
  const cells = cellsOf(submission.config);
  const isWhole = selection.count === design.runs * (cells?.count ?? 1) || (selection.count === held && !isCapped);
  if (!isWhole && selection.ranges.length > MAX_RANGES) return tooLong(`${selection.ranges.length} ranges`, MAX_RANGES);
  const runIds = isWhole ? undefined : selection.toString();
  if ((runIds?.length ?? 0) > LIMITS.selectionLength) return tooLong('too many characters', LIMITS.selectionLength);
  // The design as it was where its runs are the same, so that an unchanged configuration keeps its hash.
  const rerun = derived(submission, isWhole ? design : partOf(design, cells !== undefined, runIds), name);
  // Its runs are there to be executed again.
  const { reuse, ...policy } = rerun.policy ?? {};
  if (reuse !== undefined) rerun.policy = policy;
  if (selection.count < held) ruleOut(rerun);
  if (version !== undefined) rerun.config.simulation = { ...rerun.config.simulation, version };
  if (image !== undefined) {
    const { compute } = rerun.config;
    rerun.config.compute = { ...compute, container: { ...compute.container, image } };
  }
  return rerun;
}

/** The design with these runs of it: by their numbers, also of a study with scenarios, whose `run_ids` are samples. */
function partOf({ run_ids: _, ...design }: MonteCarlo, hasCells: boolean, runIds: string | undefined): MonteCarlo {
  if (runIds === undefined) return design;
  return hasCells ? { ...design, cell_run_ids: runIds } : { ...design, run_ids: runIds };
}

/**
 * Returns a submission that repeats these runs of a study that holds `held` runs, or the fault when they are too long to write down.
 * It has no requirements: the comparison is its answer, and a verdict on a drawn part would ask for further runs.
 */
export function auditOf(
  submission: BatchSubmission,
  held: number,
  selection: RunSelection,
  name: string | undefined,
): BatchSubmission | Fault {
  const audit = rerunOf(submission, held, selection, name === undefined ? {} : { name });
  if ('pointer' in audit) return audit;
  ruleOut(audit);
  delete audit.requirements;
  return audit;
}

/**
 * Leaves the priority of a policy: a part of the runs, such as the failed ones, neither shows a wrong path nor settles a requirement, and
 * its failures are what the rerun is about.
 */
function ruleOut(rerun: BatchSubmission): void {
  const { policy } = rerun;
  delete rerun.policy;
  if (policy?.priority !== undefined) rerun.policy = { priority: policy.priority };
}

const tooLong = (size: string, limit: number): Fault => ({
  pointer: '/select',
  detail: `selects runs that take ${size} to name (the limit is ${limit}); select them in parts with run_ids, such as "0-499999" first`,
});

/** The submission with another design. The number of runs is in the design, so `runs_override` goes. */
function derived(submission: BatchSubmission, monteCarlo: MonteCarlo, name: string | undefined): BatchSubmission {
  const { runs_override: _, ...rest } = submission;
  return { ...rest, name: name ?? submission.name, config: { ...submission.config, monte_carlo: monteCarlo } };
}
