/** Finds the result of a finished run with the same key as a run that is about to be claimed. Reads records by key; changes nothing. */
import type { BatchContext } from '../../../machines/batch.ts';
import { shortCode, MOST_CODE_VERSIONS } from '../../domain/code-name.ts';
import { engineFor } from '../../domain/code-pin.ts';
import { isDamage } from '../../domain/errors.ts';
import { batchIdOf, jobId, runIdOf } from '../../domain/ids.ts';
import { runKey } from '../../domain/reuse/run-key.ts';
import { executionSecsOf } from '../../domain/runs/outputs.ts';
import { ofRun } from '../../domain/runs/run-metadata.ts';
import { codeOf, reasonOf } from '../../domain/runs/run-end.ts';
import { randomSeedOf } from '../../domain/seed.ts';
import { imageOf } from '../../domain/study/container-image.ts';
import type { CodeIdentity, JobRecord, RunnerContext, StoredResult, Uuid } from '../../contract/types.ts';
import type { StoredHistories } from '../histories/reported.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { familyIdOf, type ReadRecord } from '../kernel/records/family.ts';
import { groupMembers, groupOf } from '../kernel/records/key-groups.ts';
import type { Study, StudyCache } from '../kernel/records/study-cache.ts';
import { keys } from '../kernel/storage/keys.ts';

/** Studies of a group in which a run is looked for, the latest: the bound on the cost of a run that is not found. */
export const MOST_SOURCES = 32;

/** A finished run with the key. */
export interface KnownResult {
  jobId: Uuid;
  batchId: Uuid;
  endedAtMs: number;
  /** The code that executed it. */
  code: CodeIdentity;
  /** Its error, where an early-termination condition ended it. */
  error: string | undefined;
  result: StoredResult;
  histories: StoredHistories;
}

/** The records and states of one instant. */
export interface Sources {
  read: ReadRecord;
  batch(batchId: Uuid): BatchState | undefined;
  studyCache: Pick<StudyCache, 'of' | 'indexOf'>;
}

/** The code with which a runner would execute runs of a study; undefined where it is not known. */
export function codeOn(
  runner: Pick<RunnerContext, 'engines' | 'capabilities'>,
  { submission }: Pick<Study, 'submission'>,
): CodeIdentity | undefined {
  const { simulation, compute } = submission.config;
  // The code of a function comes with its study.
  if (simulation.code !== undefined) return { kind: 'function', digest: simulation.code.sha256 };
  const engine = engineFor(runner, simulation.name, imageOf(compute.container.image));
  return typeof engine === 'string' ? undefined : engine?.code;
}

/** The batches in which results for a batch are looked for, the latest first. */
export function sourcesOf(sources: Sources, batch: BatchContext, study: Study): BatchState[] {
  const { reuse, batchId } = batch;
  if (reuse === undefined) return [];
  const found: BatchState[] = [];
  for (const id of groupMembers(sources.read, groupOf(study.submission.config, study.seed)).toReversed()) {
    const state = id === batchId ? undefined : sources.batch(id);
    if (state === undefined) continue;
    if (reuse === 'family' && familyIdOf(state.context) !== familyIdOf(batch)) continue;
    found.push(state);
    if (found.length === MOST_SOURCES) break;
  }
  return found;
}

/** A run that is about to be executed. */
export interface Wanted {
  study: Study;
  runId: number;
  code: CodeIdentity;
  /** The time limit of the run; 0: none. */
  timeLimitMs: number;
}

/** Returns a finished run of these batches with the key of the wanted one; undefined where there is none. */
export function knownResult(sources: Sources, among: readonly BatchState[], wanted: Wanted): KnownResult | undefined {
  let key: string | undefined;
  const { digest } = wanted.code;
  for (const { context } of among) {
    // Most earlier studies were executed by other code: their runs need not be read.
    if (context.codes?.some(({ identity }) => identity.digest === digest) !== true) continue;
    const run = finishedRun(sources, context, wanted.runId);
    if (run === undefined) continue;
    key ??= keyOf(wanted.study, wanted.runId, wanted.code);
    if (key === undefined) return undefined;
    if (keyOf(sources.studyCache.of(context), wanted.runId, run.code) !== key) continue;
    const result = resultInTime(sources, run.jobId, wanted.timeLimitMs);
    const histories = result && historiesOf(sources, run.jobId, result);
    if (histories !== undefined) return { ...run, result: result!, histories };
  }
  return undefined;
}

/** The key of a run; undefined where damage has lost its row. */
export function keyOf({ submission, metadata, sampler }: Study, runId: number, code: CodeIdentity): string | undefined {
  const draw = sampler.drawOf?.(runId);
  if (sampler.drawOf !== undefined && draw === undefined) return undefined;
  const parameters = sampler.parameters(runId);
  const { scenario, ...own } = ofRun(sampler, metadata, runId);
  const randomSeed = randomSeedOf({ run_id: runId, metadata: own });
  return runKey(submission.config, { code, parameters, randomSeed, draw, scenario });
}

/** The histories of a run with a key, which are those of the study that wants it; undefined where one is lost. */
function historiesOf(
  sources: Sources,
  id: Uuid,
  { history_count: count = 0 }: StoredResult,
): StoredHistories | undefined {
  const at = (place: number): string => keys.history(batchIdOf(id), place, runIdOf(id));
  const found = Array.from({ length: count }, (_, place) => recordAt(sources, at(place)));
  return found.every((it) => it !== undefined) ? found : undefined;
}

/** The run of this number, where it was executed to an end of its own by a known code. */
function finishedRun(
  sources: Sources,
  batch: BatchContext,
  runId: number,
): Omit<KnownResult, 'result' | 'histories'> | undefined {
  const { batchId, codes } = batch;
  if (codes === undefined || sources.studyCache.indexOf(batch, runId) === undefined) return undefined;
  const id = jobId(batchId, runId);
  const record = recordAt(sources, keys.job(id));
  if (record === undefined) return undefined;
  const job = JSON.parse(record) as JobRecord;
  // A taken result is found at its origin, as long as that exists.
  if (job.reusedFrom !== undefined || job.completedAtMs === undefined) return undefined;
  if (job.value !== 'Completed' && !(job.value === 'Failed' && reasonOf(job) === 'early_termination')) return undefined;
  const code = wholeCode(codes, codeOf(job));
  if (code === undefined) return undefined;
  const error = job.value === 'Failed' ? (job.error ?? '') : undefined;
  return { jobId: id, batchId, endedAtMs: job.completedAtMs, code, error };
}

/** The result of a run, where it took no longer than the limit; 0: none. */
function resultInTime(sources: Sources, id: Uuid, timeLimitMs: number): StoredResult | undefined {
  const text = recordAt(sources, keys.result(id));
  if (text === undefined) return undefined;
  const result = JSON.parse(text) as StoredResult;
  return timeLimitMs > 0 && executionSecsOf(result) * 1000 > timeLimitMs ? undefined : result;
}

/** The identity of a code by its name; undefined where several have the name. */
function wholeCode(codes: NonNullable<BatchContext['codes']>, name: string | undefined): CodeIdentity | undefined {
  // Further versions have names that are not listed.
  if (name === undefined || codes.length >= MOST_CODE_VERSIONS) return undefined;
  const [first, ...others] = codes.filter(({ identity }) => shortCode(identity.digest) === name);
  return others.length > 0 ? undefined : first?.identity;
}

/** A damaged record is not found: the run is executed. */
function recordAt({ read }: Sources, key: string): string | undefined {
  try {
    return read(key);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
