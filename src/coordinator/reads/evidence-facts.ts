/** The facts for the evidence about a study that its runs do not say: code, runners, audits, history. */
import type { EvidenceFacts } from '../../analysis/evidence/facts.ts';
import type { BatchLink, Uuid } from '../../contract/types.ts';
import { judgementOf } from '../../domain/identity/judgement.ts';
import { declaredDispersions } from '../../domain/scenarios/overrides.ts';
import { inputsRead } from '../../domain/runs/look-ups.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { toBatch, toBatchHistory } from '../kernel/records/to-resource.ts';
import { auditAnswer } from './audit-answer.ts';
import type { FindingParts } from './findings.ts';
import { probeEffects, type ProbeEffects } from './probe-effects.ts';
import { codeVersions, runners } from './resources.ts';

/** Audits that are listed, the latest. */
const MOST_AUDITS = 20;

/** @throws SimbatchError `unknown-batch` */
export async function evidenceFacts(parts: FindingParts, batchId: Uuid): Promise<EvidenceFacts> {
  const state = readBatch(parts.store, batchId);
  const batch = toBatch(state, (key) => parts.store.get(key));
  const audits = (batch.children ?? []).filter(({ relation }) => relation === 'audit');
  return {
    batch,
    history: toBatchHistory(state),
    codeVersions: codeVersions(parts, batchId),
    runners: (await runners(parts, {})).runners,
    audits: await auditsOf(parts, audits.slice(-MOST_AUDITS)),
    auditsOmitted: Math.max(0, audits.length - MOST_AUDITS),
    read: readOf(parts, state),
    effects: effectsOf(await probeEffects(parts, state)),
    stated: statedOf(parts, state),
  };
}

function effectsOf(found: ProbeEffects | undefined): EvidenceFacts['effects'] {
  const { probe, effects = [] } = found ?? { probe: '' };
  return new Map(
    [...effects].map(([name, effect]) => [name, { effect: effect === 'some' ? 'changes' : effect, probe }]),
  );
}

/** Whether each varying input was looked up by a completed run. */
function readOf(parts: FindingParts, { context: c }: BatchState): EvidenceFacts['read'] {
  const { sampler, submission } = parts.studyCache.of(c);
  const found = inputsRead(declaredDispersions(submission.config), sampler.names, c.lookUps);
  return new Map(found.map(({ name, read }) => [name, read]));
}

/** When each requirement in force was stated: those of the submission before the first run. */
function statedOf(parts: FindingParts, { context: c }: BatchState): EvidenceFacts['stated'] {
  const { requirements, stated } = judgementOf(parts.studyCache.of(c).submission, c);
  return new Map(
    requirements.map(({ name }, at) => {
      const { runsEnded = 0, atMs = c.createdAtMs } = stated[at] ?? {};
      return [name, { runs_ended: runsEnded, at: new Date(atMs).toISOString() }];
    }),
  );
}

async function auditsOf(parts: FindingParts, links: readonly BatchLink[]): Promise<EvidenceFacts['audits']> {
  const found: EvidenceFacts['audits'][number][] = [];
  for (const { batch_id: id } of links) {
    try {
      found.push({ ...(await auditAnswer(parts, id)), status: readBatch(parts.store, id).value });
    } catch (error) {
      // It was deleted meanwhile.
      if (!(error instanceof SimbatchError && error.code === 'unknown-batch')) throw error;
    }
  }
  return found;
}
