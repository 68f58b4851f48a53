/** The effects of the inputs of a study, from its latest probe: the same simulation, inputs and code. */
import type { EvidenceFacts } from '../../analysis/evidence/facts.ts';
import { runClassOf } from '../../analysis/table/run-class.ts';
import type { Batch, BatchSubmission, Uuid } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { jobId } from '../../domain/ids.ts';
import { probeFault, probeLabel, type ProbePlan, probePlan } from '../../domain/probe/plan.ts';
import { probeTable, type ProbeRun } from '../../domain/probe/table.ts';
import { outputsOf } from '../../domain/runs/outputs.ts';
import { jobResult } from '../kernel/records/results.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { batches, type ListingParts } from './listings.ts';
import { codeVersions, job, submission as submissionOf } from './resources.ts';

/** Probes of a study that are looked at, the newest. */
const MOST_PROBES = 10;

/** Empty where no probe has ended that has the simulation, the inputs and the code of the study. */
export async function probeEffects(
  parts: ListingParts,
  batchId: Uuid,
  submission: BatchSubmission,
): Promise<EvidenceFacts['effects']> {
  if (probeFault(submission) !== undefined) return new Map();
  const plan = probePlan(submission);
  const [name, value] = probeLabel(submission.name);
  const ended = { label: [`${name}=${value}`], status: ['Completed', 'Failed'] as ['Completed', 'Failed'] };
  const found = await batches(parts, { ...ended, order: 'newest' }, { limit: MOST_PROBES });
  const probes: Batch[] = [];
  for await (const chunk of found.chunks) probes.push(...chunk);
  for (const probe of probes) {
    const runs = runsOf(parts, probe.id, plan);
    if (runs === undefined || !isSame(parts, batchId, probe.id)) continue;
    const { inputs } = probeTable(plan, runs);
    return new Map(
      inputs.map((it) => [it.name, { effect: it.effect === 'some' ? 'changes' : it.effect, probe: probe.id }]),
    );
  }
  return new Map();
}

/** True when both have the same simulation and one known code. */
function isSame(parts: ListingParts, batchId: Uuid, probeId: Uuid): boolean {
  const [one, other] = [batchId, probeId].map((id) => submissionOf(parts, id).config.simulation);
  const digests = [batchId, probeId].flatMap((id) => codeVersions(parts, id).map(({ digest }) => digest));
  return (
    one!.name === other!.name &&
    one!.version === other!.version &&
    digests.length >= 2 &&
    digests.every((it) => it !== null && it === digests[0])
  );
}

/** The ended runs of a probe in the order of the plan; undefined where one has other parameters, or has no end. */
function runsOf(parts: ListingParts, probeId: Uuid, { rows }: ProbePlan): ProbeRun[] | undefined {
  if (readBatch(parts.store, probeId).context.totalJobs < rows.length) return undefined;
  const runs: ProbeRun[] = [];
  for (const [run, row] of rows.entries()) {
    const id = jobId(probeId, run);
    const { parameters } = job(parts, id).run_config;
    if (Object.entries(row).some(([name, value]) => !Object.is(parameters[name], value))) return undefined;
    const result = resultOf(parts, id);
    if (result === undefined) return undefined;
    const outputs = Object.fromEntries(outputsOf(result.metadata));
    runs.push({ run_id: run, class: runClassOf(result.status, result.reason), outputs });
  }
  return runs;
}

function resultOf(parts: ListingParts, id: Uuid): ReturnType<typeof jobResult> | undefined {
  try {
    return jobResult(parts, id);
  } catch (error) {
    if (error instanceof SimbatchError && error.code === 'result-not-ready') return undefined;
    throw error;
  }
}
