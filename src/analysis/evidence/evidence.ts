/** The evidence about a study, made of its runs and of the facts that the coordinator knows. Pure. */
import type { CodeVersion, EvidenceReport, Runner } from '../../contract/types.ts';
import { countedRuns } from './counting.ts';
import { factorsOf } from './factors.ts';
import type { EvidenceFacts } from './facts.ts';
import { limitsOf } from './limits.ts';
import type { DeclaredInput, RunsEvidence } from './runs.ts';

/** @param facts absent where the coordinator is not at hand: the report says that these are not known. */
export function evidenceReport(evidence: RunsEvidence, facts: EvidenceFacts | undefined): EvidenceReport {
  const { summary } = evidence;
  const report = {
    batch_id: summary.batch_id,
    name: facts?.batch.name ?? null,
    status: facts?.batch.status ?? null,
    asked: {
      requirements: evidence.requirements.length,
      precisions: evidence.precisions,
      stated: evidence.requirements.map(({ name }) => statedOf(name, facts)),
    },
    executed: {
      simulation: evidence.simulation ?? 'not known',
      design: evidence.design ?? 'not known',
      config_hash: facts?.batch.config_hash ?? null,
      image: evidence.image,
      code: [...(facts?.codeVersions ?? [])],
      runners: facts === undefined ? [] : runnersOf(facts.codeVersions, facts.runners),
      parent: facts?.batch.parent ?? null,
      reused_runs: facts === undefined ? (summary.reused ?? null) : (facts.batch.reused_jobs ?? 0),
    },
    inputs: evidence.inputs.map((it) => inputOf(it, facts)),
    results: summary,
    convergence: evidence.convergence,
    dependence: evidence.dependence,
    counted: countedRuns(evidence),
    retries: evidence.retries,
    audits: (facts?.audits ?? []).map((it) => ({
      batch_id: it.batch_id,
      status: it.status,
      runs: it.runs,
      compared: it.compared,
      differing: it.differing,
      same_runner: it.same_runner,
      sentence: it.sentence,
    })),
    audits_omitted: facts?.auditsOmitted ?? 0,
    history: facts?.history ?? null,
  };
  const limits = limitsOf(report, evidence);
  return {
    ...report,
    sentence: `${summary.sentence}; ${String(limits.length)} limits`,
    limits,
    factors: factorsOf(report),
  };
}

function statedOf(name: string, facts: EvidenceFacts | undefined): EvidenceReport['asked']['stated'][number] {
  const known = facts?.stated.get(name);
  return { name, runs_ended: known?.runs_ended ?? null, at: known?.at ?? null };
}

function inputOf(input: DeclaredInput, facts: EvidenceFacts | undefined): EvidenceReport['inputs'][number] {
  const found = facts?.effects.get(input.name);
  return {
    ...input,
    read: facts?.read.get(input.name) ?? 'unknown',
    effect: found?.effect ?? 'unknown',
    probe: found?.probe ?? null,
  };
}

function runnersOf(
  versions: readonly CodeVersion[],
  registered: readonly Runner[],
): EvidenceReport['executed']['runners'] {
  const ids = [...new Set(versions.flatMap((it) => it.runners))];
  return ids.map((id) => {
    const found = registered.find((it) => it.id === id);
    const capabilities = found?.capabilities;
    const { python_version: python, container_runtime: containers } = capabilities ?? {};
    return {
      id,
      registered: found !== undefined,
      hostname: found?.hostname ?? null,
      cpu_cores: known(capabilities?.cpu_cores),
      memory_gb: known(capabilities?.memory_gb),
      versions: {
        ...(python === undefined ? {} : { python }),
        ...(containers === undefined ? {} : { containers }),
      },
    };
  });
}

/** A runner declares 0 for a size that it does not know. */
const known = (value: number | undefined): number | null => (value === undefined || value === 0 ? null : value);
