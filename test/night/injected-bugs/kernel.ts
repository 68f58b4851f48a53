/** Injected bugs of the store and of the event loop. */
import type { InjectedBug } from './injected-bug.ts';

const CHECKED_STORE = 'src/coordinator/kernel/storage/integrity/checked-store.js';

export const KERNEL_BUGS: readonly InjectedBug[] = [
  {
    name: 'the coordinator writes without sync',
    file: CHECKED_STORE,
    find: '{ sync: true }',
    replace: '{ sync: false }',
    test: 'coordinator/kernel/storage/checked-store.test.js',
    title: 'syncs every group, and acknowledges and marks it afterwards only',
  },
  {
    name: 'the read cache is filled ahead of the disk',
    file: CHECKED_STORE,
    find: 'await this.#engine.write(operations',
    replace: 'for (const [key, value] of toKeep) this.#keep(key, value); await this.#engine.write(operations',
    test: 'coordinator/kernel/storage/checked-store.test.js',
    title: 'shows a new one when it is on disk',
  },
  {
    name: 'a checksum is not verified',
    file: CHECKED_STORE,
    find: 'const value = unseal(key, sealed, checksums.of);',
    replace: 'const value = sealed.slice(8);',
    test: 'coordinator/kernel/storage/checked-store.test.js',
    title: 'refuses a record whose value or key was changed, and names it',
  },
  {
    name: 'the checksums of a chunk are not verified',
    file: CHECKED_STORE,
    find: 'yield linesOf(chunk.map(([key, sealed]) => [key, check(key, sealed)]))',
    replace: 'yield linesOf(chunk.map(([key, sealed]) => [key, sealed.slice(8)]))',
    test: 'coordinator/kernel/storage/checked-store.test.js',
    title: 'refuses a record whose value or key was changed, and names it',
  },
  {
    name: 'slices of readers leave no time to requests that wait',
    file: 'src/base/event-loop-share.js',
    find: 'this.#heldMs * REQUESTS_WEIGHT',
    replace: '0',
    test: 'base/event-loop-fairness.test.js',
    title: 'leaves waiting requests the loop for twice as long as each millisecond of slices',
  },
  {
    name: 'requests that never cease keep readers from the loop',
    file: 'src/base/event-loop-share.js',
    find: '() => this.#endReservation())',
    replace: '() => {})',
    test: 'base/event-loop-fairness.test.js',
    title: 'gives readers a third of the loop at least, and each of them its turn',
  },
  {
    name: 'a checksum does not cover the key',
    file: 'src/coordinator/kernel/storage/integrity/checksum.js',
    find: 'crc32(value, sum)',
    replace: 'crc32(value)',
    test: 'coordinator/kernel/storage/checked-store.test.js',
    title: 'refuses a record whose value or key was changed, and names it',
  },
  {
    name: 'the end of the log is not compared with the high-water mark',
    file: 'src/coordinator/kernel/storage/integrity/verify-files.js',
    find: 'lastSequence < mark.sequence || lastNumber < mark.number',
    replace: 'false',
    test: 'coordinator/kernel/storage/integrity.test.js',
    title: 'refuses the store when the log was truncated or emptied, and names it',
  },
  {
    name: 'a token is compared in 16 bits',
    file: 'src/coordinator/kernel/storage/tokens.js',
    find: "timingSafeEqual(Buffer.from(record.hash, 'hex'), hashOf(token))",
    replace: "timingSafeEqual(Buffer.from(record.hash, 'hex').subarray(0, 2), hashOf(token).subarray(0, 2))",
    test: 'coordinator/kernel/storage/tokens.test.js',
    title: 'are compared whole: a token whose hash agrees in part is refused',
  },
];
