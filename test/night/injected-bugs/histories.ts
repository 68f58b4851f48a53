/** Injected bugs of the histories of runs. */
import type { InjectedBug } from './injected-bug.ts';

const REPORTED = 'src/coordinator/histories/reported.js';
const SELECTED = 'src/coordinator/answers/worker/histories/selected.js';
const PUT = 'turn.put(keys.history(batchIdOf(jobId), place, runIdOf(jobId)), values);';
const stored = { test: 'coordinator/histories/histories.test.js', title: 'are there with the result' };
const family = { test: 'coordinator/histories/family.test.js', title: 'has of each run the latest that ended' };

export const HISTORY_BUGS: readonly InjectedBug[] = [
  {
    name: 'a history is lost',
    file: REPORTED,
    find: PUT,
    replace: `if (place > 0) ${PUT}`,
    ...stored,
  },
  {
    name: 'a history is stored twice, the second time for the next run',
    file: REPORTED,
    find: PUT,
    replace: `{ ${PUT} ${PUT.replace('runIdOf(jobId)', 'runIdOf(jobId) + 1')} }`,
    test: 'coordinator/histories/histories.test.js',
    title: 'are in an export',
  },
  {
    name: 'a run of a family has the history of another batch',
    file: SELECTED,
    find: 'const cursor = cursors[places[at]];',
    replace: 'const cursor = cursors[0];',
    ...family,
  },
];
