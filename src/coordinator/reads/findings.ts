/** The findings of a batch, from its stored state, the pool, and the counts of its attempts. */
import { failingRunners } from '../../analysis/groups/failing-runners.ts';
import type { BatchContext, Finding, UnsentFiles, Uuid } from '../../contract/types.ts';
import { findingsOf } from '../../domain/findings/findings.ts';
import { isDamage } from '../../domain/errors.ts';
import type { Situation } from '../../domain/findings/finding.ts';
import { declaredDispersions } from '../../domain/scenarios/overrides.ts';
import { inputsRead } from '../../domain/runs/look-ups.ts';
import { sizesOf, studiesOf } from '../../domain/study/rare-event/settings.ts';
import { imageOf } from '../../domain/study/container-image.ts';
import { isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import { keys } from '../kernel/storage/keys.ts';
import { outboxOf } from '../files/object-store/outbox.ts';
import type { StoreWatchPart } from '../files/object-store/store-watch.ts';
import { runLengthOf } from '../scheduling/run-length.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import type { Study } from '../kernel/records/study-cache.ts';
import { jobsByStatus, toBatchTelemetry } from '../kernel/records/to-resource.ts';
import type { Budgets } from '../budgets/budgets.ts';
import { canaryOf } from './canary.ts';
import { awaitedRunners, withoutFiles } from './extractions.ts';
import { probeEffects } from './probe-effects.ts';
import { runners } from './resources.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import type { SitePools } from '../scheduling/site-pools.ts';
import type { Statistics } from '../scheduling/statistics.ts';
import type { Judgements } from '../judgement/judgements.ts';
import type { StudyHealth } from '../runs/study-health.ts';
import type { LauncherReports } from '../pool/launcher-reports.ts';
import type { StoreReader } from '../kernel/records/lookup.ts';

/** The parts that findings come from. */
export interface FindingParts extends StoreReader, StoreWatchPart {
  clock: Clock;
  share: EventLoopShare;
  health: StudyHealth;
  statistics: Statistics;
  scheduler: Scheduler;
  launcherReports: LauncherReports;
  judgements: Pick<Judgements, 'precisionOf'>;
  /** Returns the free bytes on the disk of the store; undefined where they are not known. */
  sitePools: SitePools | undefined;
  budgets: Budgets | undefined;
  freeBytes: (() => Promise<number | undefined>) | undefined;
}

/** Returns the findings, in the order of docs/api.md; none for a study of which nothing is to be said. */
export async function findings(parts: FindingParts, batchId: Uuid): Promise<Finding[]> {
  const state = readBatch(parts.store, batchId);
  const { tally } = await parts.health.read(state);
  const isOver = isTerminal(state.value);
  const { bucket, ...submitted } = ofSubmission(parts, state);
  return findingsOf({
    ...ofBatch(state),
    ...canaryOf(parts, state.context),
    batchId,
    now: parts.clock.now(),
    runLength: runLengthOf(parts.statistics, state.context),
    ...(isOver ? { runners: [] } : await poolOf(parts)),
    ...budgetOf(parts, state.context),
    ...reservationOf(parts, batchId),
    ...launchersOf(parts, batchId),
    ...submitted,
    ...(submitted.submissionFault === undefined ? await effectsOf(parts, state) : {}),
    ...unreadableOf(parts, batchId),
    ...precisionOf(parts, state),
    ...unsentOf(parts, batchId),
    ...(await goneOf(parts, state)),
    ...(await filesOf(parts, batchId, bucket)),
    attempts: tally.summary(),
    failingRunners: failingRunners(tally.runners()),
    storeFreeBytes: isOver ? undefined : await parts.freeBytes?.(),
  });
}

async function poolOf(parts: FindingParts): Promise<Pick<Situation, 'runners' | 'sitePools'>> {
  const { runners: all, site_resources: sitePools } = await runners(parts, {});
  return sitePools === undefined ? { runners: all } : { runners: all, sitePools };
}

type OfSubmission = Pick<
  Situation,
  'earlyTermination' | 'variables' | 'declared' | 'image' | 'container' | 'inputs' | 'submissionFault'
> & {
  bucket: string;
};

/** The members that the submission gives; empty ones, with the fault, where it is missing or damaged. */
function ofSubmission({ studyCache }: FindingParts, { context }: BatchState): OfSubmission {
  try {
    const study = studyCache.of(context);
    const { early_termination: earlyTermination, telemetry, compute, ...declared } = study.submission.config;
    const { environment = null, image } = compute.container;
    const { variables, storage } = telemetry;
    const container = { environment, image };
    const own = { declared, earlyTermination, variables, image: imageOf(image), container, bucket: storage.s3_bucket };
    return { ...own, ...inputsOf(study, context), ...roundWidthOf(study, context) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    const earlyTermination = { enabled: false, check_frequency_hz: 1, conditions: [] };
    const container = { environment: null, image: '' };
    return {
      declared: {},
      earlyTermination,
      variables: [],
      image: undefined,
      container,
      bucket: '',
      submissionFault: error.message,
    };
  }
}

function inputsOf({ sampler, submission }: Study, { lookUps }: BatchContext): Pick<Situation, 'inputs'> {
  if (lookUps === undefined) return {};
  const inputs = inputsRead(declaredDispersions(submission.config), sampler.names, lookUps);
  const neverRead = inputs.filter(({ read }) => read === 'never').map(({ name }) => name);
  return { inputs: { runs: lookUps.runs, asked: lookUps.asked, neverRead } };
}

/** A repeat is counted with the study that it was submitted with. */
function roundWidthOf(
  { submission: { config } }: Study,
  { growing, parent }: BatchContext,
): Pick<Situation, 'roundWidth'> {
  if (growing !== true || parent !== undefined || config.adaptive?.algorithm !== 'rare_event') return {};
  return { roundWidth: sizesOf(config.adaptive).width * studiesOf(config) };
}

async function effectsOf(parts: FindingParts, state: BatchState): Promise<Pick<Situation, 'probed'>> {
  const found = await probeEffects(parts, state);
  if (found === undefined) return {};
  const withoutEffect = [...found.effects].flatMap(([name, effect]) => (effect === 'none' ? [name] : []));
  return { probed: { probe: found.probe, withoutEffect } };
}

function unreadableOf({ scheduler }: FindingParts, batchId: Uuid): Pick<Situation, 'unreadableRuns'> {
  const runs = scheduler.runsAside(batchId);
  return runs.length === 0 ? {} : { unreadableRuns: runs };
}

function precisionOf({ judgements }: FindingParts, state: BatchState): Pick<Situation, 'precision'> {
  const precision = judgements.precisionOf(state);
  return precision === undefined ? {} : { precision };
}

function unsentOf({ store }: FindingParts, batchId: Uuid): Pick<Situation, 'unsent'> {
  const text = store.get(keys.unsent(batchId));
  return text === undefined ? {} : { unsent: JSON.parse(text) as UnsentFiles };
}

/** The finished runs without files, and those whose files are on runners that are not connected, of an extraction. */
async function goneOf(parts: FindingParts, state: BatchState): Promise<Pick<Situation, 'filesGone' | 'awaited'>> {
  if (state.context.parent?.relation !== 'extraction') return {};
  const view = parts.store.snapshot();
  try {
    const filesGone = await withoutFiles(parts, view, state);
    const awaited = isTerminal(state.value) ? undefined : await awaitedRunners(parts, view, state);
    return { ...(filesGone === undefined ? {} : { filesGone }), ...(awaited === undefined ? {} : { awaited }) };
  } catch (error) {
    if (isDamage(error)) return {};
    throw error;
  } finally {
    await view.close();
  }
}

/** The state of uploads, where the study names a bucket. */
async function filesOf(
  parts: FindingParts,
  batchId: Uuid,
  bucket: string,
): Promise<Pick<Situation, 'outbox' | 'storeFault'>> {
  if (bucket === '') return {};
  const storeFault = parts.storeWatch.faultOf(bucket);
  const outbox = await outboxOf(parts, batchId, parts.clock.now());
  return storeFault === undefined ? { outbox } : { outbox, storeFault };
}

function budgetOf({ budgets }: FindingParts, { owner }: BatchContext): Pick<Situation, 'budget'> {
  const {
    resets_at: resetsAt,
    budgets: [it],
  } = budgets?.shown(owner ?? '') ?? { resets_at: '', budgets: [] };
  if (it === undefined || it.limit_core_hours === null) return {};
  const { used_core_hours: usedHours, limit_core_hours: limitHours, is_used: isUsed } = it;
  return { budget: { owner, usedHours, limitHours, isUsed, resetsAt } };
}

function reservationOf({ scheduler }: FindingParts, batchId: Uuid): Pick<Situation, 'reservation'> {
  const reservation = scheduler.reservation(batchId);
  return reservation === undefined ? {} : { reservation };
}

function launchersOf({ launcherReports, clock }: FindingParts, batchId: Uuid): Pick<Situation, 'launchers'> {
  const launchers = launcherReports.about(batchId, clock.now());
  return launchers === undefined ? {} : { launchers };
}

type OfBatch = Pick<
  Situation,
  | 'batchStatus'
  | 'jobsByStatus'
  | 'simulation'
  | 'maxParallelJobs'
  | 'demand'
  | 'codes'
  | 'pin'
  | 'needs'
  | 'paused'
  | 'telemetry'
  | 'isGuarded'
  | 'rowsLost'
>;

function ofBatch(state: BatchState): OfBatch {
  const { value, context: c } = state;
  return {
    batchStatus: value,
    jobsByStatus: jobsByStatus(state),
    simulation: c.simulationName,
    maxParallelJobs: c.maxParallelJobs,
    codes: c.codes ?? [],
    pin: { pinsCode: c.pinsCode, pinnedCode: c.pinnedCode },
    needs: c.needs,
    demand: { cpuMilli: c.cpuMilli, memoryBytes: c.memoryBytes, resources: c.resources },
    ...(c.pausedAtMs === undefined ? {} : { paused: { reason: c.pauseReason } }),
    telemetry: c.telemetry === undefined ? undefined : toBatchTelemetry(c.telemetry),
    ...(c.rowsLost === undefined ? {} : { rowsLost: c.rowsLost }),
    isGuarded: c.canaryRuns !== undefined || c.canaryBatch !== undefined || c.maxFailures !== undefined,
  };
}
