/** Bugs that are injected into the compiled program, each with the test that must fail then. */

export interface InjectedBug {
  name: string;
  /** Below `dist/`. */
  file: string;
  /** A text that occurs exactly once in the file, and its replacement. */
  find: string;
  replace: string;
  /** The test file below `dist/test/` that must fail. */
  test: string;
}

const CHECKED_STORE = 'src/coordinator/kernel/storage/integrity/checked-store.js';

export const INJECTED_BUGS: readonly InjectedBug[] = [
  {
    name: 'the coordinator writes without sync',
    file: CHECKED_STORE,
    find: '{ sync: true }',
    replace: '{ sync: false }',
    test: 'coordinator/kernel/storage/checked-store.test.js',
  },
  {
    name: 'the read cache is filled ahead of the disk',
    file: CHECKED_STORE,
    find: 'await this.#engine.write(operations',
    replace: 'for (const [key, value] of toKeep) this.#keep(key, value); await this.#engine.write(operations',
    test: 'coordinator/kernel/storage/checked-store.test.js',
  },
  {
    name: 'a checksum is not verified',
    file: CHECKED_STORE,
    find: 'const value = unseal(key, sealed, checksums.of);',
    replace: 'const value = sealed.slice(8);',
    test: 'coordinator/kernel/storage/checked-store.test.js',
  },
  {
    name: 'the attempts before a lifted quarantine count again after a restart',
    file: 'src/coordinator/runs/study-health.js',
    find: 'attempt.endedMs <= countedSinceMs(attempt.runnerId)',
    replace: 'false',
    test: 'coordinator/runs/quarantine.test.js',
  },
  {
    name: 'the checksums of a chunk are not verified',
    file: 'src/coordinator/kernel/storage/integrity/bulk-check.js',
    find: 'crc32(bytes) !== expected >>> 0',
    replace: 'false',
    test: 'coordinator/kernel/storage/bulk-check.test.js',
  },
  {
    name: 'slices of readers leave no time to requests that wait',
    file: 'src/base/event-loop-share.js',
    find: 'this.#heldMs * REQUESTS_WEIGHT',
    replace: '0',
    test: 'base/event-loop-fairness.test.js',
  },
  {
    name: 'requests that never cease keep readers from the loop',
    file: 'src/base/event-loop-share.js',
    find: '() => this.#endReservation())',
    replace: '() => {})',
    test: 'base/event-loop-fairness.test.js',
  },
  {
    name: 'a checksum does not cover the key',
    file: 'src/coordinator/kernel/storage/integrity/checksum.js',
    find: 'crc32(value, sum)',
    replace: 'crc32(value)',
    test: 'coordinator/kernel/storage/checked-store.test.js',
  },
  {
    name: 'the end of the log is not compared with the high-water mark',
    file: 'src/coordinator/kernel/storage/integrity/verify-files.js',
    find: 'lastSequence < mark.sequence || lastNumber < mark.number',
    replace: 'false',
    test: 'coordinator/kernel/storage/integrity.test.js',
  },
  {
    name: "the runner's outcome is not synced",
    file: 'src/runner/spool.js',
    find: 'await this.#write({ ...attempt, outcome }, true)',
    replace: 'await this.#write({ ...attempt, outcome }, false)',
    test: 'runner/durability.test.js',
  },
  {
    name: 'an outcome is reported before it is spooled',
    file: 'src/runner/attempt/outcome-delivery.js',
    find: 'await spool.ended(',
    replace: 'void spool.ended(',
    test: 'runner/durability.test.js',
  },
  {
    name: 'a token is compared in 16 bits',
    file: 'src/coordinator/kernel/storage/tokens.js',
    find: "timingSafeEqual(Buffer.from(record.hash, 'hex'), hashOf(token))",
    replace: "timingSafeEqual(Buffer.from(record.hash, 'hex').subarray(0, 2), hashOf(token).subarray(0, 2))",
    test: 'coordinator/kernel/storage/tokens.test.js',
  },
  {
    name: 'SIGKILL goes to the leader of a group only',
    file: 'src/runner/processes/process-scope.js',
    find: 'sendKill(-this.#leader);',
    replace: 'sendKill(this.#leader);',
    test: 'runner/durability.test.js',
  },
  {
    name: 'a link in place of metadata.json is followed',
    file: 'src/runner/files/artifacts.js',
    find: 'constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK',
    replace: 'constants.O_RDONLY | constants.O_NONBLOCK',
    test: 'runner/durability.test.js',
  },
  {
    name: 'a log is opened through a link or a pipe that is in its place',
    file: 'src/runner/attempt/output-capture.js',
    find: 'O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW',
    replace: 'O_WRONLY | O_CREAT',
    test: 'runner/parts.test.js',
  },
  {
    name: 'a runner is forgotten while a change of it is in flight',
    file: 'src/coordinator/pool/departures.js',
    find: 'live !== undefined && commits.holds(live)',
    replace: 'false',
    test: 'coordinator/studies/retention.test.js',
  },
  {
    name: 'one refused report fails its whole bulk',
    file: 'src/coordinator/runs/reports.js',
    find: 'return { job_id: report.job_id, refusal: error };',
    replace: 'throw error;',
    test: 'coordinator/runs/reports.test.js',
  },
];
