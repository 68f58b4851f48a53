/** Turns an assignment into a plan of execution: engine, directory, limits. Refuses paths outside the output root. */
import type { Assignment, BatchConfig } from '../../contract/types.ts';
import { checkpointRoot, type RunnerConfig } from '../config/config.ts';
import { checkpointDirectory } from '../checkpoints/checkpoints.ts';
import { type Declared, type Plan as HistoryPlan, planOf } from '../../domain/histories/stream/plan.ts';
import { SyntaxFault } from '../../domain/histories/syntax.ts';
import { parseCpu, parseMemory } from '../../domain/quantity.ts';
import { imageOf } from '../../domain/study/container-image.ts';
import type { ContainerWish } from '../containers/containers.ts';
import type { CgroupLimits } from '../processes/cgroups.ts';
import { attemptDirectory } from '../files/artifacts.ts';
import { chooseEngine } from '../launch/engine.ts';
import type { ResourceRequest } from '../../domain/scheduling.ts';
import { parentPlace } from './extraction/parent-runs.ts';
import type { ExecutionPlan } from './execution-site.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * `<output_root>/<batch_id>/<run_id, 8 digits>/attempt-<n>/`, with the run configuration beside the directory, not in it:
 * everything in it is an artifact.
 */
export function executionPlan(
  config: Pick<RunnerConfig, 'engines' | 'outputRoot' | 'checkpointDir'>,
  assignment: Assignment,
  batch: BatchConfig | undefined,
): { type: 'plan'; plan: ExecutionPlan } | { type: 'invalid'; message: string } {
  const { job, attempt } = assignment;
  const { run_id: runId, metadata } = job.run_config;
  // The ids become parts of a path.
  if (!UUID.test(job.batch_id)) return invalid(`batch_id ${JSON.stringify(job.batch_id)} is not a UUID`);
  if (!Number.isSafeInteger(runId) || runId < 0)
    return invalid(`run_id ${String(runId)} is not an integer of at least 0`);
  if (!Number.isSafeInteger(attempt)) return invalid(`attempt ${String(attempt)} is not an integer`);
  if (batch === undefined) return invalid(`the configuration of study ${job.batch_id} did not come with the run`);
  const engine = chooseEngine(config.engines, metadata.simulation_name);
  if (engine === undefined) return invalid('this runner has no engine');
  const { code } = batch.simulation;
  if (code !== undefined && engine.name !== metadata.simulation_name)
    return invalid(`this runner does not execute functions for Python ${code.python}; see allow_functions`);
  const wanted = wantedBy(batch);
  if (typeof wanted === 'string') return invalid(wanted);
  const { histories } = wanted;
  const directory = attemptDirectory(config.outputRoot, job.batch_id, runId, attempt);
  return {
    type: 'plan',
    // With all members, also those that are set later: objects of one shape are made and read much faster.
    plan: {
      runConfig: job.run_config,
      telemetry: wanted.telemetry,
      earlyTermination: wanted.earlyTermination,
      histories,
      environment: wanted.environment,
      container: wanted.container,
      limits: wanted.limits,
      timeoutSecs: job.timeout_secs,
      sinceMs: undefined,
      engine,
      isShared: wanted.isShared,
      isComputed: assignment.extraction === true && histories !== undefined,
      parent: assignment.extraction === true && histories === undefined ? parentPlace(directory) : undefined,
      lane: undefined,
      devices: undefined,
      code: code && { batchId: job.batch_id, sha256: code.sha256 },
      reported: undefined,
      directory,
      attempt,
      checkpointDirectory:
        assignment.extraction === true
          ? undefined
          : checkpointDirectory(checkpointRoot(config), job.batch_id, runId, attempt),
      notes: undefined,
      runConfigPath: `${directory}.run_config.json`,
    },
  };
}

/** The members of a plan that all runs of a study have in common. */
type OfStudy = Pick<
  ExecutionPlan,
  'telemetry' | 'earlyTermination' | 'histories' | 'environment' | 'container' | 'limits' | 'isShared'
>;

const ofStudies = new WeakMap<BatchConfig, OfStudy>();

/** The wishes of a study for each run; the fault of a declaration that cannot be read. Runs that are claimed together share the object. */
function wantedBy(batch: BatchConfig): OfStudy | string {
  const known = ofStudies.get(batch);
  if (known !== undefined) return known;
  const histories = historiesOf(batch);
  if (typeof histories === 'string') return histories;
  const found = {
    telemetry: batch.telemetry,
    earlyTermination: batch.early_termination,
    histories,
    environment: batch.compute.container.environment ?? null,
    container: containerOf(batch),
    limits: limitsOf(batch),
    isShared: batch.compute.isolation === 'shared',
  };
  ofStudies.set(batch, found);
  return found;
}

/** The histories and derived outputs of a study, undefined where it declares none; the fault of a declaration that cannot be read. */
export function historiesOf(study: Declared): HistoryPlan | undefined | string {
  const isNone = (study.histories ?? []).length + (study.derived ?? []).length === 0;
  try {
    return isNone ? undefined : planOf(study);
  } catch (error) {
    if (error instanceof SyntaxFault) return `a history or derived output cannot be read: ${error.message}`;
    throw error;
  }
}

/** The container that a study names, if any. */
export function containerOf({ compute }: Pick<BatchConfig, 'compute'>): ContainerWish | undefined {
  const image = imageOf(compute.container.image);
  if (image === undefined) return undefined;
  return { image, environment: compute.container.environment ?? {}, limits: limitsOf({ compute }) };
}

/** The container's limits that are set. The coordinator has validated the quantities; an invalid one counts as absent. */
export function limitsOf({ compute }: Pick<BatchConfig, 'compute'>): CgroupLimits {
  const { memory_limit, cpu_limit } = compute.container;
  const memoryBytes = memory_limit == null ? undefined : parseMemory(memory_limit);
  const cpuMilli = cpu_limit == null ? undefined : parseCpu(cpu_limit);
  return {
    ...(typeof memoryBytes === 'number' ? { memoryBytes } : {}),
    ...(typeof cpuMilli === 'number' ? { cpuMilli } : {}),
  };
}

/** Returns the resources that a run requests; the coordinator has validated the quantities, and an invalid one counts as 0. */
export function resourcesOf(batch: BatchConfig | undefined): ResourceRequest {
  const container = batch?.compute.container;
  const cpuMilli = container === undefined ? 0 : parseCpu(container.cpu_request);
  const memoryBytes = container === undefined ? 0 : parseMemory(container.memory_request);
  const resources = batch?.compute.resources;
  return {
    cpuMilli: typeof cpuMilli === 'number' ? cpuMilli : 0,
    memoryBytes: typeof memoryBytes === 'number' ? memoryBytes : 0,
    ...(resources === undefined ? {} : { resources }),
  };
}

function invalid(message: string): { type: 'invalid'; message: string } {
  return { type: 'invalid', message };
}
