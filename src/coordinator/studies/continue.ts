/** Submission that continues the study of the same design where there is one: amends its judgement and adds the runs that it lacks. */
import type { Lanes } from '../../base/async/lanes.ts';
import type {
  BatchSubmission,
  Continuation,
  SubmissionResponse,
  SubmissionWarning,
  Uuid,
} from '../../contract/types.ts';
import { continuationHash } from '../../domain/identity/design.ts';
import { awaitsCanaryStudy, hasFailedCanary, pendingRuns } from '../../../machines/batch.ts';
import {
  afterCanarySentence,
  amendedMembers,
  changedDesign,
  continuedSentence,
  createdSentence,
  heldRuns,
  keptMembers,
  runsToExtend,
  type GrownMember,
} from '../../domain/identity/continuation.ts';
import { AMENDED } from '../../domain/identity/members.ts';
import { designEnd } from '../../domain/study/growth.ts';
import { isDamage } from '../../domain/errors.ts';
import { isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import { familyEntries } from '../kernel/records/family.ts';
import { submittedStudy } from '../kernel/records/study-cache.ts';
import { damagedStudies, newestOfDesign, newestOfName } from '../kernel/records/study-index.ts';
import type { StoreView } from '../kernel/storage/store.ts';
import { amendWithin } from './amend.ts';
import type { DeriveParts, GrowthOptions } from './growth/derive.ts';
import { extendDesign } from './growth/extend.ts';
import { submit } from './submit.ts';

/** Studies of a family that are amended in one turn, so that none holds the event loop for long. */
const AMENDED_AT_ONCE = 8;

interface ContinueParts extends DeriveParts {
  /** Submissions that continue the same study are handled one after the other. */
  continuing: Lanes;
}

/**
 * Continues the newest study of the same design, or creates one. A repeat finds the study as it is then, and executes nothing.
 * @throws SimbatchError `invalid-request`; of an extension `illegal-transition`; `unavailable` while older studies are not listed
 */
export async function continueStudy(
  parts: ContinueParts,
  submission: BatchSubmission,
  options: Pick<GrowthOptions, 'maxRuns'> = {},
): Promise<SubmissionResponse> {
  await parts.studyIndexing.whole();
  return await parts.continuing.run(continuationHash(submission), async () => {
    const { same, damaged, ...others } = await findStudy(parts, submission);
    const answer = await (same === undefined
      ? createStudy(parts, others, submission)
      : extendStudy(parts, same, submission, options));
    return damaged.length === 0
      ? answer
      : { ...answer, warnings: [...(answer.warnings ?? []), damageWarning(damaged)] };
  });
}

interface Found {
  /** The newest submitted study of the same design that can be continued. */
  same: BatchState | undefined;
  /** The newest submitted study of the same design whose canary study has failed, where there is none that can be continued. */
  failed: Uuid | undefined;
  /** The newest submitted study of the same name, as it was submitted, where there is none of the same design. */
  named: { id: Uuid; study: BatchSubmission } | undefined;
  /** Studies that cannot be read, newest first: one of them may be that of the submission. */
  damaged: readonly Uuid[];
}

/** Damaged studies that the warning names. */
const MOST_DAMAGED = 5;

const damageWarning = (damaged: readonly Uuid[]): SubmissionWarning => ({
  code: 'study-damaged',
  pointer: '',
  detail:
    `study ${damaged.slice(0, MOST_DAMAGED).join(', ')}${damaged.length > MOST_DAMAGED ? ' and others' : ''} cannot be read, since a record is damaged, and may be the study of this submission: ` +
    'compare before you count runs twice; stop the coordinator and run `simbatch repair` to save what is left',
});

/** The studies as of one instant. */
async function findStudy(parts: DeriveParts, submission: BatchSubmission): Promise<Found> {
  await parts.groupCommit.durable();
  const view = parts.store.snapshot();
  try {
    let failed: Uuid | undefined;
    const hasFunction = submission.config.simulation.code !== undefined;
    const { actor } = parts.turns;
    const same = await newestOfDesign(view, submission, ({ context }) => {
      // A study of another owner is not this client's to extend.
      if (actor !== undefined && context.owner !== actor) return false;
      // No run of such a study has been executed. Its entrypoint may have been corrected, which the design does not say; a function is part of it.
      const mayContinue = hasFunction || !awaitsCanaryStudy(context) || !hasFailedCanary(context);
      if (mayContinue) return true;
      failed ??= context.batchId;
      return false;
    });
    const damaged = await damagedStudies(view, MOST_DAMAGED + 1);
    if (same !== undefined) return { same, failed: undefined, named: undefined, damaged };
    return { same, failed, named: await namedStudy(view, submission.name), damaged };
  } finally {
    await view.close();
  }
}

/** For the sentence alone: nothing is said about a study that cannot be read. */
async function namedStudy(view: StoreView, name: string): Promise<Found['named']> {
  try {
    const state = await newestOfName(view, name);
    if (state === undefined) return undefined;
    const id = state.context.batchId;
    return { id, study: submittedStudy({ read: (key) => view.get(key) }, id) };
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

async function createStudy(
  parts: DeriveParts,
  { failed, named }: Pick<Found, 'failed' | 'named'>,
  submission: BatchSubmission,
): Promise<SubmissionResponse> {
  const response = await submit(parts, submission);
  const changed = failed !== undefined || named === undefined ? [] : changedDesign(named.study, submission);
  const previous = failed ?? (changed.length === 0 ? undefined : named?.id);
  const sentence =
    failed === undefined
      ? createdSentence(response.batch_id, previous, changed, submission.config.simulation.version)
      : afterCanarySentence(response.batch_id, failed);
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
  while (!isCancelled) {
    const runs = runsToExtend(await familyStudies(parts, batchId), submission);
    if (runs === undefined) break;
    const {
      warnings: _,
      estimated_completion_time_mins: __,
      ...made
    } = await extendDesign(parts, batchId, { runs }, options);
    extension = made;
  }
  const kept = keptMembers(parts.studyCache.wholeSubmission(context), submission);
  const family = await familyStudies(parts, batchId);
  const held = heldRuns(family);
  const waiting = family.filter((it) => it.runs > 0);
  const sentence = continuedSentence({
    studyId: batchId,
    isCancelled,
    amended,
    kept,
    extension,
    held,
    wanted,
    waiting,
  });
  const waits = waiting.length === 0 ? {} : { waiting: waiting.map((it) => it.batchId) };
  const about = { created: false, runs: held, amended, kept, changed: [], ...waits, sentence };
  return {
    batch_id: batchId,
    total_jobs: context.totalJobs,
    estimated_completion_time_mins: null,
    continuation: extension === undefined ? about : { ...about, extension },
  };
}

/** Amends the study and its extensions, which are the same study for its author; returns the members that changed. */
async function amendFamily(
  parts: DeriveParts,
  batchId: Uuid,
  { requirements = [], outputs = {}, labels = {}, ...submission }: BatchSubmission,
): Promise<Continuation['amended']> {
  const request = { requirements, outputs, labels };
  const changed = new Set<Continuation['amended'][number]>();
  const family = extensionsOf((key) => parts.groupCommit.read(key), batchId);
  for (let at = 0; at < family.length; at += AMENDED_AT_ONCE) {
    await parts.turns.run('amend', (turn) => {
      for (const id of family.slice(at, at + AMENDED_AT_ONCE)) {
        const state = turn.state('batch', id);
        if (state === undefined) continue;
        const before = parts.studyCache.wholeSubmission(state.context, turn);
        const members = amendedMembers(before, { ...submission, ...request });
        if (members.length > 0) amendWithin(turn, id, request);
        for (const name of members) changed.add(name);
      }
    });
  }
  return AMENDED.filter((name) => changed.has(name));
}

interface FamilyStudy extends GrownMember {
  batchId: Uuid;
  /** Runs that wait for a release, since the canary has failed. */
  runs: number;
}

/** The study and its extensions that exist, oldest first; a long family is read in slices of the event loop. */
async function familyStudies(parts: DeriveParts, batchId: Uuid): Promise<FamilyStudy[]> {
  const studies: FamilyStudy[] = [];
  for await (const id of parts.share.paced(extensionsOf((key) => parts.groupCommit.read(key), batchId))) {
    const state = parts.directory.state('batch', id);
    if (state === undefined) continue;
    const { value, context } = state;
    const runs = !isTerminal(value) && hasFailedCanary(context) ? pendingRuns(context) : 0;
    const submission = parts.studyCache.wholeSubmission(context);
    studies.push({ batchId: id, submission, totalJobs: context.totalJobs, runs });
  }
  return studies;
}

/** The study and its extensions, oldest first. */
const extensionsOf = (read: (key: string) => string | undefined, batchId: Uuid): Uuid[] => [
  batchId,
  ...familyEntries(read, batchId).flatMap((it) => (it.relation === 'extension' ? [it.batch_id] : [])),
];
