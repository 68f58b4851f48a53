/** Injected bugs of the files of runs: readings, and uploads to an object store. */
import type { InjectedBug } from './injected-bug.ts';

export const FILE_BUGS: readonly InjectedBug[] = [
  {
    name: 'the reading of a file that is refused is not released',
    file: 'src/coordinator/files/runner/runner-place.js',
    find: 'catch (error) {\n            release();',
    replace: 'catch (error) {',
    test: 'coordinator/files/runner/runner-place.test.js',
    title: 'frees the reading of a file that its runner refuses, so that others can read afterwards',
  },
  {
    name: 'a list of files with `..` is taken from a runner',
    file: 'src/coordinator/files/runner/runner-place.js',
    find: 'some((it) => filePathFault(it.path) !== undefined)',
    replace: 'some(() => false)',
    test: 'coordinator/files/runner/runner-place.test.js',
    title: 'does not take a list that names ../secret.csv',
  },
  {
    name: 'the size and digest of an uploaded object are not compared',
    file: 'src/coordinator/files/run-place.js',
    find: 'if (found?.size !== upload.size || found.sha256 !== upload.sha256)',
    replace: 'if (found === undefined)',
    test: 'coordinator/files/uploads.test.js',
    title: 'refuses after a lost answer an object that is not the declared one: truncated, or of another content',
  },
  {
    name: 'the attempt is not looked at again when the store has answered',
    file: 'src/coordinator/files/uploads.js',
    find: 'requireEnded(jobOrThrow(turn, jobId), jobId, runner_id, attempt);',
    replace: '',
    test: 'coordinator/files/uploads.test.js',
    title: 'looks at the attempt again when the store has answered: a study that was deleted meanwhile gets no record',
  },
];
