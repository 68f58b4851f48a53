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
  {
    name: 'a run that its worker has not begun counts as lost with the worker',
    file: 'src/runner/launch/shared/worker.js',
    find: 'const isWaiting = first?.isAnnounced === true && ids.delete(first.id);',
    replace: 'const isWaiting = false;',
    test: 'runner/launch/shared/worker.test.js',
    title: 'ends before it begins a run: each of its runs has ended, is lost or is executed elsewhere',
  },
  {
    name: 'a run ends before the last of its stderr has come',
    file: 'src/runner/launch/shared/worker.js',
    find: '(stdout.lastId < it.id || stderr.lastId < it.id)',
    replace: 'stdout.lastId < it.id',
    test: 'runner/launch/shared/worker.test.js',
    title: 'ends a run when its message and both marks have come, in whatever order and pieces',
  },
  {
    name: 'a study of short runs keeps its slot for ever',
    file: 'src/runner/capacity/lanes.js',
    find: 'this.#slots.waiting > kind.asked &&',
    replace: 'false &&',
    test: 'runner/capacity/lanes.test.js',
    title: 'gives its slot to another study after its turn, and both get all their runs',
  },
];
