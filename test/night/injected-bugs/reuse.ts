/** Injected bugs of the reuse of finished runs. */
import type { InjectedBug } from './injected-bug.ts';

const RESULTS = 'src/coordinator/reuse/known-results.js';
const reuse = (title: string) => ({ test: 'coordinator/reuse/reuse.test.js', title });
const kills = { test: 'coordinator/reuse/kills.test.js', title: 'takes only what is on the disk' };

export const REUSE_BUGS: readonly InjectedBug[] = [
  {
    name: 'a study stays in its group when it is deleted',
    file: 'src/coordinator/studies/deletions.js',
    find: 'leaveGroups(turn, batchId);',
    replace: '{}',
    ...kills,
  },
  {
    name: 'a study joins its group in a commit of its own',
    file: 'src/coordinator/studies/submit.js',
    find: 'joinGroups(turn, batchId, { submission, seed, extraction: origin?.extraction });',
    replace:
      "setImmediate(() => parts.turns.run('join', (it) => joinGroups(it, batchId, { submission, seed })).catch(() => {}));",
    ...kills,
  },
  {
    name: 'the result of a failed run is taken',
    file: RESULTS,
    find: "if (job.value !== 'Completed' && !(job.value === 'Failed' && reasonOf(job) === 'early_termination'))\n        return undefined;",
    replace: '',
    ...reuse('takes no failed, timed out or cancelled run'),
  },
  {
    name: 'a result of other code is taken',
    file: RESULTS,
    find: 'wanted.runId, run.code) !== key)',
    replace: 'wanted.runId, wanted.code) !== key)',
    ...reuse('takes of a study that two programs executed the results of its own code alone'),
  },
  {
    name: 'a taken result is taken again',
    file: RESULTS,
    find: 'if (job.reusedFrom !== undefined || job.completedAtMs === undefined)',
    replace: 'if (job.completedAtMs === undefined)',
    ...reuse('finds no result of a deleted study'),
  },
];
