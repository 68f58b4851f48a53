/** The forecast of a submission: the runs that would take results of finished runs, were it submitted now. A reading, in slices of the event loop. */
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { codeOf, reasonOf } from '../../domain/runs/run-end.ts';
import { shortCode } from '../../domain/code-name.ts';
import { jobId } from '../../domain/ids.ts';
import { plural } from '../../domain/plural.ts';
import { runMetadata } from '../../domain/runs/run-metadata.ts';
import { selectedRuns } from '../../domain/runs/run-selection.ts';
import { studySampler } from '../../domain/sampling/sampler.ts';
import { supports } from '../../domain/scheduling.ts';
import type { BatchSubmission, CodeIdentity, JobRecord, ReuseForecast, Uuid } from '../../contract/types.ts';
import { decodeBatch, isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import { groupMembers, groupOf } from '../kernel/records/key-groups.ts';
import type { Study, StudyCache } from '../kernel/records/study-cache.ts';
import { allOf, keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { GroupCommit } from '../kernel/turn/group-commit.ts';
import { codeOn, knownResult, MOST_SOURCES, type Sources } from './known-results.ts';

interface ForecastParts {
  store: Store;
  studyCache: StudyCache;
  share: EventLoopShare;
  directory: Directory;
  groupCommit: GroupCommit;
}

/** Recent studies of the simulation in which the reason is looked for why a run is not taken, and the records read to find them. */
const MOST_NEAR = 8;
const MOST_READ = 2_000;

/** The forecast of a valid submission. */
export async function reuseForecast(parts: ForecastParts, submission: BatchSubmission): Promise<ReuseForecast> {
  const { config, policy, runs_override: cap } = submission;
  const rule = policy?.reuse ?? 'none';
  const selection = selectedRuns(config, cap);
  const { seed } = config.monte_carlo;
  const nothing = (why: string): ReuseForecast => ({
    rule,
    runs: selection.count,
    known: 0,
    new: selection.count,
    studies: [],
    not_taken: [],
    codes: [],
    sentence: `${plural(selection.count, 'run')}: all are new, ${why}`,
  });
  if (rule === 'none') return nothing('the study takes no results; set policy.reuse');
  if (rule === 'family') return nothing('a study that is submitted begins a family; `all` takes results of others');
  if (config.adaptive !== undefined) return nothing('the rows of an adaptive study are not known yet');
  if (seed === null || seed === undefined)
    return nothing('a seed is drawn at the submission; give that of the other study');
  await parts.groupCommit.durable();
  const read = (key: string): string | undefined => parts.store.get(key);
  const sources: Sources = { read, batch: (id) => batchAt(read, id), studyCache: parts.studyCache };
  const study: Study = {
    revision: undefined,
    submission,
    seed,
    selection,
    metadata: runMetadata(config, seed, ''),
    createdAt: '',
    sampler: studySampler(config, seed),
  };
  const among = groupMembers(read, groupOf(config, seed))
    .toReversed()
    .slice(0, MOST_SOURCES)
    .flatMap((id) => sources.batch(id) ?? []);
  const codes = codesFor(parts.directory, study, among);
  const near = await nearStudies(parts, config.simulation.name);
  const taken = new Tally();
  const missed = new Tally();
  const timeLimitMs = config.compute.job_timeout_seconds * 1000;
  for await (const runId of parts.share.paced(selection.runIds())) {
    const known = first(codes, (code) => knownResult(sources, among, { study, runId, code, timeLimitMs }));
    if (known !== undefined) taken.add(known.batchId, shortCode(known.code.digest));
    else {
      const other = first(near, (batch) => whyNot(sources, study, runId, batch, codes));
      if (other !== undefined) missed.add(other.batchId, other.why);
    }
  }
  const forecast = {
    rule,
    runs: selection.count,
    known: taken.count,
    new: selection.count - taken.count,
    studies: taken.list().map(({ batchId, label, runs }) => ({ batch_id: batchId, runs, code: label })),
    not_taken: missed.list().map(({ batchId, label, runs }) => ({ batch_id: batchId, runs, why: label })),
    codes: codes.map(({ digest }) => shortCode(digest)),
  };
  return { ...forecast, sentence: sentenceOf(forecast) };
}

function sentenceOf({ runs, studies, new: executed, not_taken: missed }: Omit<ReuseForecast, 'sentence'>): string {
  const found = studies.map(
    (it) => `${it.runs} are in study ${it.batch_id.slice(0, 8)} (same code ${it.code}, parameters, environment)`,
  );
  const others = missed.map((it) => `${it.runs} of study ${it.batch_id.slice(0, 8)} (${it.why})`);
  const parts = [...found, `${executed} are new`, ...(others.length === 0 ? [] : [`not taken: ${others.join(', ')}`])];
  return `${plural(runs, 'run')}: ${parts.join('; ')}`;
}

function batchAt(read: (key: string) => string | undefined, id: Uuid): BatchState | undefined {
  const record = read(keys.batch(id));
  return record === undefined ? undefined : decodeBatch(record);
}

/** The codes of the connected runners that execute the simulation; without any, those of the studies. */
function codesFor(directory: Directory, study: Study, among: readonly BatchState[]): CodeIdentity[] {
  const byDigest = new Map<string, CodeIdentity>();
  for (const runner of directory.runners.values()) {
    const { value, context } = stateOf(runner);
    if (value === 'Offline' || !supports(context.capabilities, study.submission.config.simulation.name)) continue;
    const code = codeOn(context, study);
    if (code !== undefined) byDigest.set(code.digest, code);
  }
  if (byDigest.size > 0) return [...byDigest.values()];
  for (const { context } of among)
    for (const { identity } of context.codes ?? []) byDigest.set(identity.digest, identity);
  return [...byDigest.values()];
}

/** The latest studies of a simulation. */
async function nearStudies({ store, share }: ForecastParts, simulation: string): Promise<BatchState[]> {
  const near: BatchState[] = [];
  const view = store.snapshot();
  try {
    let count = 0;
    for await (const chunk of view.entries(allOf('batch'), { reverse: true, chunkSize: 64, onDamage: () => {} })) {
      for await (const [, record] of share.paced(chunk)) {
        const state = decodeBatch(record);
        if (state.context.simulationName === simulation) near.push(state);
        count += 1;
        if (near.length === MOST_NEAR || count === MOST_READ) return near;
      }
    }
    return near;
  } finally {
    await view.close();
  }
}

/** Why the run of a study with the same parameters and random seed is not taken; undefined where it has no such run that has ended. */
function whyNot(
  { read, studyCache }: Sources,
  study: Study,
  runId: number,
  { context }: BatchState,
  codes: readonly CodeIdentity[],
): { batchId: Uuid; why: string } | undefined {
  if (studyCache.indexOf(context, runId) === undefined) return undefined;
  const other = studyCache.of(context);
  if (BigInt(other.seed) !== BigInt(study.seed) || other.sampler.drawOf !== undefined) return undefined;
  if (!isSameRow(study.sampler.parameters(runId), other.sampler.parameters(runId))) return undefined;
  const record = read(keys.job(jobId(context.batchId, runId)));
  const job = record === undefined ? undefined : (JSON.parse(record) as JobRecord);
  if (job === undefined || job.reusedFrom !== undefined || !isTerminal(job.value)) return undefined;
  return { batchId: context.batchId, why: differenceOf(study, other, job, codes) };
}

function differenceOf(study: Study, other: Study, job: JobRecord, codes: readonly CodeIdentity[]): string {
  const isTerminated = reasonOf(job) === 'early_termination';
  if (job.value !== 'Completed' && !isTerminated) return job.value === 'Cancelled' ? 'cancelled' : 'failed';
  const keyed = ({ submission: { config } }: Study): Record<string, unknown> => ({
    version: config.simulation.version,
    duration: config.simulation.duration_minutes,
    environment: Object.entries(config.compute.container.environment ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)),
    rules: config.early_termination.enabled
      ? [config.early_termination.conditions, config.early_termination.shadow === true]
      : [],
    telemetry: [config.telemetry.sampling_rate_hz, config.telemetry.variables.toSorted()],
  });
  const [mine, theirs] = [keyed(study), keyed(other)];
  const changed = Object.keys(mine).filter((name) => JSON.stringify(mine[name]) !== JSON.stringify(theirs[name]));
  if (changed.includes('rules') && isTerminated) return 'ended by a rule that has changed';
  if (changed.length > 0) return `other ${changed.join(', ')}`;
  const code = codeOf(job);
  if (code === undefined) return 'its code is not known';
  return codes.some(({ digest }) => shortCode(digest) === code) ? 'longer than the time limit' : `other code ${code}`;
}

function isSameRow(a: Record<string, number>, b: Record<string, number>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.is(a[name], b[name]));
}

function first<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Runs by batch and label. */
class Tally {
  count = 0;
  readonly #entries = new Map<string, { batchId: Uuid; label: string; runs: number }>();

  add(batchId: Uuid, label: string): void {
    this.count += 1;
    const key = `${batchId} ${label}`;
    const entry = this.#entries.get(key) ?? { batchId, label, runs: 0 };
    entry.runs += 1;
    this.#entries.set(key, entry);
  }

  list(): { batchId: Uuid; label: string; runs: number }[] {
    return [...this.#entries.values()].sort((a, b) => b.runs - a.runs);
  }
}
