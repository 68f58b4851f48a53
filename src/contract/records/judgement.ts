/** The records of a batch's judgement and of its history. */
import { Type, type Static } from 'typebox';
import { JudgementMembers } from '../answers/goals/judgement.ts';
import { OutputDeclaration, Requirement } from '../answers/goals/requirements.ts';
import { enumOf, ref, text } from '../build.ts';
import { BATCH_HISTORY_TYPES } from '../enums.ts';
import { count, fixedList, time } from './shapes.ts';

/** Requirements and outputs in place of those of the submission. */
export const StoredJudgement = Type.Object({
  revision: count('The number of its amendments.'),
  requirements: fixedList(ref(Requirement)),
  stated: fixedList(
    Type.Object({
      runsEnded: count('Runs that had ended when the requirement was stated.'),
      atMs: time('When it was stated.'),
    }),
  ),
  outputs: Type.Record(Type.String(), ref(OutputDeclaration)),
  amendedAtMs: Type.Optional(time('When it was amended last; absent: it was carried over from another study.')),
});
export interface StoredJudgement extends Static<typeof StoredJudgement> {}

export const StoredBatchHistory = Type.Object({
  entries: fixedList(
    Type.Object({
      atMs: time('When it happened.'),
      type: enumOf(BATCH_HISTORY_TYPES, 'What happened.'),
      reason: Type.Optional(text('The reason given.')),
      by: Type.Optional(text('The name of the client that asked for it; absent: none is known, or a rule applied.')),
      before: Type.Optional(JudgementMembers),
      after: Type.Optional(JudgementMembers),
    }),
  ),
  omitted: count('Older entries that are not kept.'),
});
export interface StoredBatchHistory extends Static<typeof StoredBatchHistory> {}
