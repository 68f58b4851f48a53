/** The effects of the inputs of a study, from its latest probe: the same simulation, inputs and code. */
import { runClassOf } from '../../analysis/table/run-class.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { BatchSubmission, JobResult, Uuid } from '../../contract/types.ts';
import { isDamage, SimbatchError } from '../../domain/errors.ts';
import { jobId } from '../../domain/ids.ts';
import { probeGroup } from '../../domain/probe/group.ts';
import { probeDesign, probeFault, valueOf, type ProbeDesign } from '../../domain/probe/plan.ts';
import { probeTable, type InputEffect, type ProbeRun } from '../../domain/probe/table.ts';
import { outputsOf } from '../../domain/runs/outputs.ts';
import { isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import { groupMembers } from '../kernel/records/key-groups.ts';
import type { StoreReader } from '../kernel/records/lookup.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { jobResult } from '../kernel/records/results.ts';
import { codeVersions, job } from './resources.ts';

/** Probes of a study that are looked at, the newest. */
const MOST_PROBES = 10;

/** The probe was deleted meanwhile. */
const GONE: ReadonlySet<string> = new Set(['unknown-batch', 'unknown-job']);

export interface ProbeParts extends StoreReader {
  share: EventLoopShare;
}

/** The effect of each dispersed input of a study, and the probe that shows it. */
export interface ProbeEffects {
  probe: Uuid;
  effects: ReadonlyMap<string, InputEffect>;
}

/** The effects that ended probes show for a study; undefined: the probe has other inputs. An ended probe does not change. */
type KnownEffects = Map<Uuid, ProbeEffects['effects'] | undefined>;
/** By the submission in the cache of studies, with which they are dropped. */
const known = new WeakMap<BatchSubmission, KnownEffects>();

/** Undefined where no probe has ended that has the simulation, the inputs and the code of the study. */
export async function probeEffects(parts: ProbeParts, { context }: BatchState): Promise<ProbeEffects | undefined> {
  const digest = onlyCode(parts, context.batchId);
  if (digest === undefined) return undefined;
  const { submission } = parts.studyCache.of(context);
  const probes = groupMembers((key) => parts.store.get(key), probeGroup(submission.config)).slice(-MOST_PROBES);
  if (probes.length === 0 || probeFault(submission) !== undefined) return undefined;
  for (const probe of probes.toReversed()) {
    const effects = await effectsShown(parts, submission, probe, digest);
    if (effects !== undefined) return { probe, effects };
  }
  return undefined;
}

/** Undefined where the probe has not ended, has other inputs or code, or is damaged or deleted. */
async function effectsShown(
  parts: ProbeParts,
  submission: BatchSubmission,
  probe: Uuid,
  digest: string,
): Promise<ProbeEffects['effects'] | undefined> {
  const shown = known.get(submission) ?? new Map();
  known.set(submission, shown);
  if (shown.has(probe)) return shown.get(probe);
  try {
    const { value, context } = readBatch(parts.store, probe);
    if (!isTerminal(value)) return undefined;
    const design = probeDesign(submission.config);
    const isSame = onlyCode(parts, probe) === digest && context.totalJobs >= design.roles.length;
    const runs = isSame ? await runsOf(parts, probe, design) : undefined;
    const inputs = runs === undefined ? undefined : probeTable(design, runs).inputs;
    const effects = inputs === undefined ? undefined : new Map(inputs.map((it) => [it.name, it.effect]));
    // A study has one code at a time: another one has other effects.
    if (isSame) shown.set(probe, effects);
    return effects;
  } catch (error) {
    if (isDamage(error) || (error instanceof SimbatchError && GONE.has(error.code))) return undefined;
    throw error;
  }
}

/** The code of all runs of a study that have started; undefined where there are several, or one is not known. */
function onlyCode(parts: ProbeParts, batchId: Uuid): string | undefined {
  const [first, ...others] = codeVersions(parts, batchId);
  return others.length > 0 ? undefined : (first?.digest ?? undefined);
}

/** The ended runs of a probe in the order of the roles; undefined where one has other parameters, or has no end. */
async function runsOf(parts: ProbeParts, probe: Uuid, { inputs, roles }: ProbeDesign): Promise<ProbeRun[] | undefined> {
  const runs: ProbeRun[] = [];
  for await (const role of parts.share.paced(roles)) {
    const run = runs.length;
    const id = jobId(probe, run);
    const { parameters } = job(parts, id).run_config;
    if (inputs.some((it) => !Object.is(parameters[it.name], valueOf(it, role)))) return undefined;
    const result = resultOf(parts, id);
    if (result === undefined) return undefined;
    const outputs = Object.fromEntries(outputsOf(result.metadata));
    runs.push({ run_id: run, class: runClassOf(result.status, result.reason), outputs });
  }
  return runs;
}

function resultOf(parts: ProbeParts, id: Uuid): JobResult | undefined {
  try {
    return jobResult(parts, id);
  } catch (error) {
    if (error instanceof SimbatchError && error.code === 'result-not-ready') return undefined;
    throw error;
  }
}
