/** Creates a batch that comes of another one, in one turn that also lists it under its parent. */
import type {
  BatchSubmission,
  Fault,
  Relation,
  StoredExtraction,
  SubmissionResponse,
  SubmissionWarning,
  Uuid,
} from '../../../contract/types.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import type { RunSelection } from '../../../domain/runs/run-selection.ts';
import { once, recall, type Idempotency } from '../../kernel/turn/idempotency.ts';
import { openBatch, type SubmitParts } from '../submit.ts';
import type { Turn } from '../../kernel/turn/turn.ts';
import type { Purges } from '../purges.ts';
import { copyRounds, keepCopies } from './copy-rounds.ts';
import { familyIdOf } from '../../kernel/records/family.ts';
import type { Store, StoreView } from '../../kernel/storage/store.ts';
import type { Study, StudyCache } from '../../kernel/records/study-cache.ts';
import type { EventLoopShare } from '../../../base/event-loop-share.ts';
import { batchOrThrow } from '../../kernel/records/lookup.ts';
import { readBatch } from '../../kernel/records/read-batch.ts';
import type { BatchState } from '../../kernel/actors/actor-kinds.ts';

export interface DeriveParts extends SubmitParts {
  store: Store;
  share: EventLoopShare;
  studyCache: StudyCache;
  purges: Purges;
}

/** `maxRuns`: the most runs that a batch may have. */
export interface GrowthOptions extends Idempotency {
  maxRuns?: number;
}

/** The batch to create: its submission, and the members of the answer beside those of every submission. */
export interface Derivation<T> {
  submission: BatchSubmission;
  /** The runs of the submission. */
  selection: RunSelection;
  relation: Relation;
  answer: T;
  /** Where the files of the runs are, of an extraction. */
  extraction?: StoredExtraction;
  warnings?: readonly SubmissionWarning[];
  /** Asked within the turn that creates the batch. @throws SimbatchError where another request has come before */
  check?: (turn: Turn) => void;
  /** The id of a batch whose rounds are copied. */
  batchId?: Uuid;
}

/** The answer to a repeated request, once it is on disk. Saves the preparation of a batch that exists already. */
export async function rememberedAnswer(parts: DeriveParts, options: Idempotency): Promise<object | undefined> {
  const answer = recall(parts, options, parts.turns.actor);
  if (answer !== undefined) await parts.groupCommit.durable();
  return answer;
}

/** Refuses a request for its faults. */
export function refuse(...faults: [Fault, ...Fault[]]): never {
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`;
  const [{ pointer, detail }] = faults;
  const message = `the request has ${count}; the first: ${pointer === '' ? 'the body' : pointer} ${detail}`;
  throw new SimbatchError('invalid-request', message, { faults });
}

/** @throws SimbatchError `invalid-request` for an extraction, of which no other batch comes */
function requireSimulations({ context: { parent } }: BatchState): void {
  if (parent?.relation !== 'extraction') return;
  const remedy = `ask about study ${parent.batchId}, of which it came`;
  refuse({ pointer: '', detail: `is about an extraction, whose runs simulate nothing; ${remedy}` });
}

/** The parent as of one instant. */
export interface Parent {
  view: StoreView;
  batch: BatchState;
  study: Study;
  /** Reads its submission, with the code of a function. */
  submission: () => BatchSubmission;
}

/** Creates the batch that `derive` makes of its parent, unless the request has an answer already. @throws SimbatchError `unknown-batch` */
export async function createDerived<T extends object>(
  parts: DeriveParts,
  parentId: Uuid,
  options: GrowthOptions,
  derive: (parent: Parent) => Promise<Derivation<T>>,
): Promise<SubmissionResponse & T> {
  const remembered = await rememberedAnswer(parts, options);
  if (remembered !== undefined) return remembered as SubmissionResponse & T;
  // A view that is older than an acknowledged change would miss runs.
  await parts.groupCommit.durable();
  const view = parts.store.snapshot();
  try {
    const batch = readBatch(view, parentId);
    const source = { read: (key: string) => view.get(key) };
    requireSimulations(batch);
    const study = parts.studyCache.of(batch.context, source);
    const submission = (): BatchSubmission => parts.studyCache.wholeSubmission(batch.context, source);
    const derivation = await derive({ view, batch, study, submission });
    await parts.share.slice();
    const create = derivation.submission.config.adaptive === undefined ? createIfCurrent : createWithRounds;
    return (await create(parts, parentId, derivation, options, () => true))!;
  } finally {
    await view.close();
  }
}

/** Creates a batch with a copy of the rounds of its parent, or neither. */
const createWithRounds: typeof createIfCurrent = async (parts, parentId, derivation, options, isCurrent) => {
  const batchId = parts.batchIds.next(parts.clock.now(), parts.clock.random(6));
  let created: Uuid | undefined;
  try {
    await copyRounds(parts, parentId, batchId);
    const response = await createIfCurrent(parts, parentId, { ...derivation, batchId }, options, isCurrent);
    created = response?.batch_id;
    return response;
  } finally {
    if (created !== batchId) parts.purges.add(batchId);
  }
};

/**
 * Creates the batch, unless `isCurrent`, asked within the turn, returns false: then the preparation is out of date, and the
 * result is undefined.
 */
export async function createIfCurrent<T extends object>(
  parts: DeriveParts,
  parentId: Uuid,
  { submission, selection, relation, answer, batchId, extraction, warnings, check }: Derivation<T>,
  { maxRuns = Infinity, ...idempotency }: GrowthOptions,
  isCurrent: (turn: Turn) => boolean,
): Promise<(SubmissionResponse & T) | undefined> {
  const { count } = selection;
  if (count > maxRuns) {
    refuse({
      pointer: '',
      detail: `asks for ${count} runs; this coordinator takes studies of up to ${maxRuns} runs: ask for fewer, or start it with a higher --max-runs`,
    });
  }
  const created = await parts.turns.run(relation, (turn): { response?: SubmissionResponse & T } => {
    const parent = batchOrThrow(turn, parentId);
    if (!isCurrent(turn)) return {};
    requireSimulations(parent);
    const link = { batchId: parentId, relation, family: familyIdOf(parent.context) };
    const act = (): SubmissionResponse & T => {
      check?.(turn);
      if (batchId !== undefined) keepCopies(turn, batchId);
      const pinnedCode = relation === 'extension' ? parent.context.pinnedCode : undefined;
      // The same runs again: a requirement that was stated after these were seen stays so.
      const judgement = relation === 'rerun' ? parent.context.judgement : undefined;
      const origin = { parent: link, selection, batchId, pinnedCode, judgement, extraction, warnings };
      return { ...openBatch(parts, turn, submission, origin), ...answer };
    };
    return { response: once(parts, turn, idempotency, act) };
  });
  const { response } = created;
  if (response?.warnings !== undefined) parts.warned(response.batch_id, response.warnings);
  return response;
}
