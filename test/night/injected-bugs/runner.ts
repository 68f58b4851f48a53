/** Injected bugs of the runner. */
import type { InjectedBug } from './injected-bug.ts';

export const RUNNER_BUGS: readonly InjectedBug[] = [
  {
    name: "the runner's outcome is not synced",
    file: 'src/runner/spool.js',
    find: 'await this.#write({ ...attempt, outcome }, true)',
    replace: 'await this.#write({ ...attempt, outcome }, false)',
    test: 'runner/durability.test.js',
    title: 'syncs an outcome to the disk, and only an outcome',
  },
  {
    name: 'an outcome is reported before it is spooled',
    file: 'src/runner/attempt/outcome-delivery.js',
    find: 'await spool.ended(',
    replace: 'void spool.ended(',
    test: 'runner/durability.test.js',
    title: 'reports an outcome after it is in the spool',
  },
  {
    name: 'SIGKILL goes to the leader of a group only',
    file: 'src/runner/processes/process-scope.js',
    find: 'sendKill(-this.#leader);',
    replace: 'sendKill(this.#leader);',
    test: 'e2e/runner/orphans.test.js',
    title: 'kill ends members of the group that have dropped its environment',
  },
  {
    name: 'a link in place of metadata.json is followed',
    file: 'src/runner/files/artifacts.js',
    find: 'constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK',
    replace: 'constants.O_RDONLY | constants.O_NONBLOCK',
    test: 'runner/durability.test.js',
    title: 'does not follow a link that replaces metadata.json after it was listed',
  },
  {
    name: 'a log is opened through a link or a pipe that is in its place',
    file: 'src/runner/attempt/output-capture.js',
    find: 'O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW',
    replace: 'O_WRONLY | O_CREAT',
    test: 'runner/parts.test.js',
    title: 'creates a log only where there is nothing, and follows no link',
  },
];
