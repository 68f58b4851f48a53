/** Submission that continues the study of the same design where there is one: amends its judgement and adds the runs that it lacks. */
import type { BatchSubmission, Continuation, SubmissionResponse, Uuid } from '../../contract/types.ts';
import { designHash } from '../../domain/identity/design.ts';
import {
  changedDesign,
  continuedMembers,
  continuedSentence,
  createdSentence,
  heldRuns,
  isContinuedBy,
  runsToExtend,
} from '../../domain/identity/continuation.ts';
import { designEnd } from '../../domain/study/growth.ts';
import { decodeBatch, type BatchState } from '../kernel/actors/actor-kinds.ts';
import { stateOf } from '../kernel/actors/directory.ts';
import { familyEntries } from '../kernel/records/family.ts';
import { allOf } from '../kernel/storage/keys.ts';
import type { StoreView } from '../kernel/storage/store.ts';
import { amendWithin } from './amend.ts';
import type { DeriveParts, GrowthOptions } from './growth/derive.ts';
import { extendBatch } from './growth/extend.ts';
import { openBatch } from './submit.ts';

/** Batches whose records are read at a time. */
const CHUNK = 100;

/**
 * Continues the newest study of the same design, or creates one. A repeat finds the study as it is then, and executes nothing.
 * @throws SimbatchError `invalid-request`; of an extension `illegal-transition`
 */
export async function continueStudy(
  parts: DeriveParts,
  submission: BatchSubmission,
  options: Pick<GrowthOptions, 'maxRuns'> = {},
): Promise<SubmissionResponse> {
  for (;;) {
    const found = await findStudy(parts, submission);
    if (found.same !== undefined) return extendStudy(parts, found.same, submission, options);
    const created = await createStudy(parts, found.named, submission);
    // Another client has created it meanwhile.
    if (created !== undefined) return created;
  }
}

interface Found {
  /** The newest submitted study of the same design. */
  same: BatchState | undefined;
  /** The newest submitted study of the same name. */
  named: BatchState | undefined;
}

/** The studies as of one instant, read in slices of the event loop. */
async function findStudy(parts: DeriveParts, submission: BatchSubmission): Promise<Found> {
  await parts.groupCommit.durable();
  const hash = designHash(submission);
  const view = parts.store.snapshot();
  let named: BatchState | undefined;
  try {
    for await (const chunk of view.entries(allOf('batch'), { chunkSize: CHUNK, reverse: true })) {
      for await (const states of parts.share.mapped(chunk, ([, record]) => decodeBatch(record))) {
        for (const state of states) {
          if (state.context.parent !== undefined) continue;
          if (state.context.designHash === hash && isContinuedBy(studyAt(parts, view, state), submission))
            return { same: state, named };
          if (state.context.name === submission.name) named ??= state;
        }
      }
    }
    return { same: undefined, named };
  } finally {
    await view.close();
  }
}

const studyAt = (parts: DeriveParts, view: Pick<StoreView, 'get'>, { context }: BatchState): BatchSubmission =>
  parts.studyCache.wholeSubmission(context, { read: (key) => view.get(key) });

/** Creates the study in one turn, unless an open one of its design exists by now. */
async function createStudy(
  parts: DeriveParts,
  named: BatchState | undefined,
  submission: BatchSubmission,
): Promise<SubmissionResponse | undefined> {
  const hash = designHash(submission);
  const created = await parts.turns.run('submit', (turn): { response?: SubmissionResponse } => {
    for (const activation of parts.directory.batches.values()) {
      const { context } = stateOf(activation);
      if (context.designHash !== hash || context.parent !== undefined) continue;
      if (isContinuedBy(parts.studyCache.wholeSubmission(context, turn), submission)) return {};
    }
    return { response: openBatch(parts, turn, submission) };
  });
  const { response } = created;
  if (response === undefined) return undefined;
  if (response.warnings !== undefined) parts.warned(response.batch_id, response.warnings);
  const before = named === undefined ? undefined : parts.studyCache.wholeSubmission(named.context);
  const changed = before === undefined ? [] : changedDesign(before, submission);
  const previous = changed.length === 0 ? undefined : named?.context.batchId;
  const sentence = createdSentence(response.batch_id, previous, changed, submission.config.simulation.version);
  const about = { created: true, runs: response.total_jobs, amended: [], kept: [], changed, sentence };
  return { ...response, continuation: previous === undefined ? about : { ...about, previous } };
}

async function extendStudy(
  parts: DeriveParts,
  { value, context }: BatchState,
  submission: BatchSubmission,
  options: Pick<GrowthOptions, 'maxRuns'>,
): Promise<SubmissionResponse> {
  const { batchId } = context;
  const amended = await amendFamily(parts, batchId, submission);
  const wanted = designEnd(submission);
  const isCancelled = value === 'Cancelled';
  let extension: Continuation['extension'];
  for (let family = familyStudies(parts, batchId); !isCancelled; family = familyStudies(parts, batchId)) {
    const runs = runsToExtend(family, submission);
    if (runs === undefined) break;
    const {
      warnings: _,
      estimated_completion_time_mins: __,
      ...made
    } = await extendBatch(parts, batchId, { runs }, options);
    extension = made;
  }
  const study = parts.studyCache.wholeSubmission(context);
  const { kept } = continuedMembers(study, submission);
  const held = heldRuns(familyStudies(parts, batchId));
  const sentence = continuedSentence({ studyId: batchId, isCancelled, amended, kept, extension, held, wanted });
  const about = { created: false, runs: held, amended, kept, changed: [], sentence };
  return {
    batch_id: batchId,
    total_jobs: context.totalJobs,
    estimated_completion_time_mins: null,
    continuation: extension === undefined ? about : { ...about, extension },
  };
}

/** Amends the study and its extensions, which are the same study for its author; returns the members that changed. */
function amendFamily(parts: DeriveParts, batchId: Uuid, submission: BatchSubmission): Promise<Continuation['amended']> {
  const { requirements = [], outputs = {}, labels = {} } = submission;
  return parts.turns.run('amend', (turn) => {
    const changed = new Set<Continuation['amended'][number]>();
    const read = (key: string): string | undefined => turn.read(key);
    for (const id of extensionsOf(read, batchId)) {
      const state = turn.state('batch', id);
      if (state === undefined) continue;
      const before = parts.studyCache.wholeSubmission(state.context, turn);
      const { amended } = continuedMembers(before, submission);
      if (amended.length === 0) continue;
      amendWithin(turn, id, { requirements, outputs, labels });
      for (const name of amended) changed.add(name);
    }
    return [...changed];
  });
}

/** The study and its extensions that exist, oldest first. */
function familyStudies(parts: DeriveParts, batchId: Uuid) {
  const read = (key: string): string | undefined => parts.groupCommit.read(key);
  return extensionsOf(read, batchId).flatMap((id) => {
    const state = parts.directory.state('batch', id);
    if (state === undefined) return [];
    return [{ submission: parts.studyCache.wholeSubmission(state.context), totalJobs: state.context.totalJobs }];
  });
}

const extensionsOf = (read: (key: string) => string | undefined, batchId: Uuid): Uuid[] => [
  batchId,
  ...familyEntries(read, batchId).flatMap((it) => (it.relation === 'extension' ? [it.batch_id] : [])),
];
