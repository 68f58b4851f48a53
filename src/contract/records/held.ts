/** The attempts that a runner holds, as in its record. */
import { Type, type Static } from 'typebox';
import { JOB_ID_PATTERN } from '../patterns.ts';
import { resourceCounts } from '../scalars.ts';
import { amount, count, time } from './shapes.ts';

/** An attempt that a runner holds, with its share of the machine. */
export const HeldAttempt = Type.Object({
  jobId: Type.String({ pattern: JOB_ID_PATTERN }),
  attempt: count('Number of the attempt.'),
  cpuMilli: amount('Its CPU, in thousandths of a core.'),
  memoryBytes: amount('Its memory.'),
  resources: Type.Optional(resourceCounts('Its counted resources; absent: none.', 1)),
  missingSinceMs: Type.Optional(time('The first heartbeat in a row that does not name it; absent while one does.')),
});

/** The most runs of one sequence. */
export const MOST_HELD_RUNS = 1_024;

/** Attempts at runs of one study that follow each other, alike in all else. */
export const HeldRuns = Type.Object({
  ...HeldAttempt.properties,
  runs: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: MOST_HELD_RUNS,
      description: 'How many runs of the study it is, from this one on; absent: one.',
    }),
  ),
});

export interface HeldAttempt extends Static<typeof HeldAttempt> {}
export interface HeldRuns extends Static<typeof HeldRuns> {}
