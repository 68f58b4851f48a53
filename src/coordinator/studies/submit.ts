/** Submission of a study, as one record for any number of runs. */
import { meanRunMs, type Statistics } from '../scheduling/statistics.ts';
import { activeRuns, pendingRuns, type BatchInput } from '../../../machines/batch.ts';
import { designHash } from '../../domain/identity/design.ts';
import { canarySubmission } from '../../domain/probe/canary.ts';
import { runsOf } from '../../domain/study/growth.ts';
import { repeatsOf } from '../../domain/study/rare-event/repeats.ts';
import { studiesOf, withRareBudget } from '../../domain/study/rare-event/settings.ts';
import { configHash, withoutSources } from '../../domain/study/config-hash.ts';
import { neededFeatures } from '../../domain/histories/feature.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { minutesLeft } from '../../domain/runs/progress.ts';
import { parseCpu, parseMemory } from '../../domain/quantity.ts';
import { selectedRuns, type RunSelection } from '../../domain/runs/run-selection.ts';
import { imageOf } from '../../domain/study/container-image.ts';
import { designMethod, noSampleOf } from '../../domain/study/design-method.ts';
import { precisionWarnings } from '../../analysis/precision/planning.ts';
import { planningWarnings } from '../../analysis/requirements/planning.ts';
import { samplingWarnings } from '../../domain/sampling/warnings.ts';
import { SAMPLING_SCHEME } from '../../domain/sampling/sampler.ts';
import { supports, usableSlots } from '../../domain/scheduling.ts';
import type {
  BatchSubmission,
  ComputeConfig,
  Seed,
  StoredExtraction,
  StoredJudgement,
  SubmissionResponse,
  Uuid,
  SubmissionWarning,
} from '../../contract/types.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import { familyIdOf, joinFamily } from '../kernel/records/family.ts';
import { joinGroups } from '../kernel/records/key-groups.ts';
import { keys } from '../kernel/storage/keys.ts';
import { encodeSubmission } from '../kernel/records/study-cache.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import { once, type Idempotency, type IdempotencyParts } from '../kernel/turn/idempotency.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import type { StudyIndexing } from './index-studies.ts';
import { settingsWarnings } from './settings-warnings.ts';
import type { BatchIdGenerator } from '../kernel/storage/batch-id-generator.ts';

export interface SubmitParts extends IdempotencyParts {
  turns: Turns;
  directory: Directory;
  scheduler: Scheduler;
  statistics: Statistics;
  batchIds: BatchIdGenerator;
  studyIndexing: StudyIndexing;
  /** Retries of a failed job when the study sets none. */
  defaultMaxRetries: number;
  /** Called for a study that was accepted with warnings. */
  warned(batchId: Uuid, warnings: readonly SubmissionWarning[]): void;
}

/** Creates a batch. The submission has its documented shape and has passed `domain/study/submission.ts`. */
export async function submit(
  parts: SubmitParts,
  submission: BatchSubmission,
  options: Idempotency = {},
): Promise<SubmissionResponse> {
  const response = await parts.turns.run('submit', (turn) =>
    once(parts, turn, options, () => openBatch(parts, turn, submission)),
  );
  if (response.warnings !== undefined) parts.warned(response.batch_id, response.warnings);
  return response;
}

/** The origin of a batch that comes of another one, and the runs that it holds: those of its submission, already read. */
export interface Origin {
  parent: NonNullable<BatchInput['parent']>;
  selection: RunSelection;
  /** The id that it gets, where that was made before. */
  batchId?: Uuid | undefined;
  /** The digest of the code that executes its runs, of an extension of a study that pins it. */
  pinnedCode?: string | undefined;
  /** It begins without runs and takes rounds. */
  grows?: true;
  /** The judgement whose requirements it has, with the times at which they were stated. */
  judgement?: StoredJudgement | undefined;
  /** Where the files of its runs are, of an extraction. */
  extraction?: StoredExtraction | undefined;
  /** Warnings about it besides those of every submission. */
  warnings?: readonly SubmissionWarning[] | undefined;
}

/** Creates a batch within a turn, with the canary study that its policy asks for, or its repeats with other seeds. The submission is valid. */
export function openBatch(parts: SubmitParts, turn: Turn, given: BatchSubmission, origin?: Origin): SubmissionResponse {
  const submission = withRareBudget(given);
  const newId = (atMs: number): Uuid => parts.batchIds.next(atMs, parts.clock.random(6));
  if (origin === undefined && studiesOf(submission.config) > 1) return openRepeated(parts, turn, submission, newId);
  const canary = canarySubmission(submission);
  const hasRuns = (origin?.selection ?? runsOf(submission)).count > 0;
  if (canary === undefined || !hasRuns)
    return createBatch(parts, turn, submission, origin?.batchId ?? newId(turn.now), origin);
  // The canary study has the older id, so that the study itself is the latest one; the short forms of the ids, which are times, differ.
  const canaryBatch = newId(turn.now);
  const batchId = newId(turn.now + 1);
  const parent = { batchId, relation: 'probe' as const, family: familyIdOf({ batchId, parent: origin?.parent }) };
  createBatch(parts, turn, canary, canaryBatch, { parent, selection: runsOf(canary) });
  return createBatch(parts, turn, submission, batchId, origin, canaryBatch);
}

/** Creates a study of rare events and its repeats. */
function openRepeated(
  parts: SubmitParts,
  turn: Turn,
  given: BatchSubmission,
  newId: (atMs: number) => Uuid,
): SubmissionResponse {
  const seed = given.config.monte_carlo.seed ?? drawSeed(parts);
  const submission = {
    ...given,
    config: { ...given.config, monte_carlo: { ...given.config.monte_carlo, seed } },
  };
  const repeats = repeatsOf(submission, seed);
  // The repeats have the older ids, so that the study itself is the latest one; the short forms of the ids, which are times, differ.
  const ids = repeats.map((_, at) => newId(turn.now + at));
  const batchId = newId(turn.now + repeats.length);
  const response = createBatch(parts, turn, submission, batchId, undefined);
  const parent = { batchId, relation: 'repeat' as const, family: batchId };
  for (const [at, repeat] of repeats.entries())
    createBatch(parts, turn, repeat, ids[at]!, { parent, selection: runsOf(repeat), grows: true });
  return { ...response, studies: [batchId, ...ids] };
}

function createBatch(
  parts: SubmitParts,
  turn: Turn,
  submission: BatchSubmission,
  batchId: Uuid,
  origin: Origin | undefined,
  canaryBatch?: Uuid,
): SubmissionResponse {
  const seed = submission.config.monte_carlo.seed ?? drawSeed(parts);
  const input = batchInput(parts, turn.now, batchId, submission, seed, origin);
  const owner = ownerOfNew(turn, origin);
  if (owner !== undefined) input.owner = owner;
  if (canaryBatch !== undefined) input.canaryBatch = canaryBatch;
  const { totalJobs } = input;
  // Estimated before the batch exists: `totalJobs` counts its own runs.
  const estimate = estimatedMinutes(parts, input);
  turn.create('batch', batchId, input);
  turn.put(keys.submission(batchId), encodeSubmission(submission, seed, origin?.extraction));
  joinFamily(turn, input);
  joinGroups(turn, batchId, { submission, seed, extraction: origin?.extraction });
  if (origin === undefined) parts.studyIndexing.list(turn, batchId, submission, seed);
  // The runs of a derived batch complete those of the parent, or are a part of them on purpose.
  const warnings = samplingWarnings(submission.config, totalJobs).filter(
    ({ code }) => origin === undefined || !code.endsWith('-subset'),
  );
  if (origin === undefined)
    warnings.push(...planningWarnings(submission, totalJobs), ...precisionWarnings(submission, totalJobs));
  warnings.push(...settingsWarnings(parts.directory, submission, input.needs), ...(origin?.warnings ?? []));
  const response: SubmissionResponse = {
    batch_id: batchId,
    total_jobs: totalJobs,
    estimated_completion_time_mins: estimate,
  };
  return warnings.length === 0 ? response : { ...response, warnings };
}

/** An extension is a part of the study that it extends, whose owner it keeps, also when another client asks for it. */
const ownerOfNew = (turn: Turn, origin: Origin | undefined): string | undefined =>
  origin?.parent.relation === 'extension' ? turn.state('batch', origin.parent.batchId)?.context.owner : turn.actor;

function batchInput(
  parts: SubmitParts,
  now: number,
  batchId: Uuid,
  submission: BatchSubmission,
  seed: Seed,
  origin: Origin | undefined,
): BatchInput {
  const { config, runs_override } = submission;
  const { compute, monte_carlo } = config;
  // Reading a long selection takes milliseconds.
  const selected = (origin?.selection ?? selectedRuns(config, runs_override)).count;
  // A new adaptive study has no run; a rerun of its runs has these.
  const grows = config.adaptive !== undefined && (origin === undefined || origin.grows === true);
  const totalJobs = grows ? 0 : selected;
  const needs = neededFeatures(config, origin?.extraction !== undefined);
  const selectsRuns = typeof (monte_carlo.cell_run_ids ?? monte_carlo.run_ids) === 'string';
  return {
    batchId,
    name: submission.name,
    configHash: configHash({
      ...config,
      dispersions: withoutSources(config.dispersions),
      monte_carlo: { ...monte_carlo, seed },
    }),
    designHash: designHash(submission),
    createdAtMs: now,
    simulationName: config.simulation.name,
    totalJobs,
    maxParallelJobs: compute.max_parallel_jobs,
    maxRetries: compute.max_retries ?? parts.defaultMaxRetries,
    timeLimitMs: compute.job_timeout_seconds * 1000,
    cpuMilli: quantity(parseCpu(compute.container.cpu_request)),
    memoryBytes: quantity(parseMemory(compute.container.memory_request)),
    ...(Object.keys(compute.resources ?? {}).length === 0 ? {} : { resources: compute.resources! }),
    samplingScheme: SAMPLING_SCHEME,
    ...policyInput(submission, selected),
    ...(submission.policy?.code === 'pin' ? pinOf(config.compute, origin) : {}),
    ...(needs === undefined ? {} : { needs }),
    ...(grows ? { budget: selected } : {}),
    // Runs that are not a sample are not judged.
    ...((submission.requirements?.length ?? 0) === 0 || noSampleOf(designMethod(submission)) !== undefined
      ? {}
      : { requirements: submission.requirements!.length }),
    ...(origin?.judgement === undefined ? {} : { judgement: { ...origin.judgement, revision: 0 } }),
    ...(submission.labels === undefined ? {} : { labels: submission.labels }),
    ...(selectsRuns ? { selectsRuns } : {}),
    ...(origin === undefined ? {} : { parent: origin.parent }),
  };
}

/** The code of a study that pins it; an extension keeps that of its parent. */
function pinOf({ container }: ComputeConfig, origin: Origin | undefined): Pick<BatchInput, 'pinsCode' | 'pinnedCode'> {
  const image = imageOf(container.image);
  const pinsCode = image === undefined ? {} : { image };
  return origin?.pinnedCode === undefined ? { pinsCode } : { pinsCode, pinnedCode: origin.pinnedCode };
}

/** The members of the policy, with the limit on failures as a number of runs. */
function policyInput(
  { policy = {} }: BatchSubmission,
  totalJobs: number,
): Pick<BatchInput, 'canaryRuns' | 'maxFailures' | 'stopWhen' | 'reuse' | 'priority'> {
  const { canary_runs: canaryRuns, max_failures: limit, stop_when: stopWhen, reuse, priority } = policy;
  return {
    ...(canaryRuns === undefined ? {} : { canaryRuns }),
    ...(limit === undefined ? {} : { maxFailures: typeof limit === 'number' ? limit : shareOf(limit, totalJobs) }),
    ...(stopWhen === undefined ? {} : { stopWhen }),
    ...(reuse === undefined || reuse === 'none' ? {} : { reuse }),
    ...(priority === undefined ? {} : { priority }),
  };
}

/** The number of runs that `"5%"` of them are, rounded up. */
const shareOf = (percent: string, totalJobs: number): number =>
  Math.max(1, Math.ceil((Number(percent.slice(0, -1)) * totalJobs) / 100));

function quantity(parsed: number | string): number {
  if (typeof parsed === 'string') throw new SimbatchError('invalid-request', parsed);
  return parsed;
}

/** Draws 53 random bits, so that every reader's numbers hold the seed exactly. */
function drawSeed(parts: SubmitParts): number {
  const bytes = parts.clock.random(7);
  let seed = (bytes[0] as number) & 0x1f;
  for (let at = 1; at < 7; at += 1) seed = seed * 256 + (bytes[at] as number);
  return seed;
}

/** Estimates from recent run times of this simulation and the pool's slots; null when either is unknown. */
function estimatedMinutes(parts: SubmitParts, input: BatchInput): number | null {
  const meanMs = meanRunMs(parts.statistics, input.simulationName);
  let capacity = 0;
  for (const runner of parts.directory.runners.values()) {
    const { value, context } = stateOf(runner);
    if ((value === 'Idle' || value === 'Busy') && supports(context.capabilities, input.simulationName)) {
      capacity += usableSlots(context.capabilities, context.slotsLost);
    }
  }
  if (input.maxParallelJobs > 0) capacity = Math.min(capacity, input.maxParallelJobs);
  if (input.totalJobs === 0) return 0;
  if (meanMs === undefined || capacity === 0) return null;
  let ahead = 0;
  for (const batch of parts.scheduler.openBatches()) {
    if (batch.simulationName === input.simulationName) ahead += pendingRuns(batch) + activeRuns(batch);
  }
  return minutesLeft(ahead + input.totalJobs, (capacity * 60_000) / Math.max(1, meanMs)) ?? null;
}
