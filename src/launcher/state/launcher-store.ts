/** The launcher's records on disk: allocations, queues, and totals, in a store of its own. */
import { SimbatchError } from '../../domain/errors.ts';
import type { Store } from '../../coordinator/kernel/storage/store.ts';
import type { KeyRange } from '../../coordinator/kernel/storage/keys.ts';
import { allocationMachine } from '../../../machines/allocation/allocation.ts';
import type { AllocationRecord } from './allocations.ts';
import type { QueueState } from './queue-state.ts';

/** The version of the records. */
const FORMAT = 1;

const keyOf = { allocation: (id: string) => `!allocation!${id}`, queue: (name: string) => `!queue!${name}` };
const LAUNCHER_KEY = '!launcher!';
const rangeOf = (kind: 'allocation' | 'queue'): KeyRange => ({ gte: `!${kind}!`, lt: `!${kind}"` });

/** The record of the launcher itself. */
export interface LauncherRecord {
  format: typeof FORMAT;
  /** The label in the engines. It cannot change while allocations live under it. */
  launcher: string;
  /** Core milliseconds of allocations whose records were deleted. */
  forgottenCoreMs: number;
  /** The last instant at which deletion was allowed; absent: none yet. */
  instantMs?: number;
}

export interface StoredLauncher {
  launcher: LauncherRecord | undefined;
  allocations: AllocationRecord[];
  queues: Map<string, QueueState>;
}

/** @throws SimbatchError `store-newer` for records of a later version, `store-damaged` for unreadable ones */
export async function readLauncherStore(store: Store): Promise<StoredLauncher> {
  const text = store.get(LAUNCHER_KEY);
  const launcher = text === undefined ? undefined : (parsed(LAUNCHER_KEY, text) as LauncherRecord);
  if (launcher !== undefined && launcher.format > FORMAT) {
    throw new SimbatchError('store-newer', 'the state folder was written by a newer simbatch; use that version');
  }
  const read: StoredLauncher = { launcher, allocations: [], queues: new Map() };
  for await (const [key, value] of entries(store, rangeOf('allocation'))) {
    const record = parsed(key, value) as AllocationRecord;
    if (!Object.hasOwn(allocationMachine.states, record.value)) throw damaged(key);
    read.allocations.push(record);
  }
  for await (const [key, value] of entries(store, rangeOf('queue'))) {
    read.queues.set(key.slice(key.indexOf('!', 1) + 1), parsed(key, value) as QueueState);
  }
  return read;
}

async function* entries(store: Store, range: KeyRange): AsyncGenerator<readonly [string, string]> {
  const view = store.snapshot();
  try {
    for await (const chunk of view.entries(range)) yield* chunk;
  } finally {
    await view.close();
  }
}

function parsed(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(key);
  }
}

const damaged = (key: string): SimbatchError =>
  new SimbatchError('store-damaged', `the state folder of the launcher is damaged: the record ${key} cannot be read`);

/** The parts that changed. */
export interface LauncherChanges {
  launcher?: LauncherRecord;
  allocations: readonly [id: string, record: AllocationRecord | undefined][];
  queues: readonly [name: string, state: QueueState][];
}

/** Resolves when all changes are on disk, as one atomic write. */
export async function writeLauncherStore(store: Store, changes: LauncherChanges): Promise<void> {
  const entriesToWrite: [string, string | null][] = [
    ...changes.allocations.map(([id, it]): [string, string | null] => [
      keyOf.allocation(id),
      it === undefined ? null : JSON.stringify(it),
    ]),
    ...changes.queues.map(([name, it]): [string, string] => [keyOf.queue(name), JSON.stringify(it)]),
  ];
  if (changes.launcher !== undefined) entriesToWrite.push([LAUNCHER_KEY, JSON.stringify(changes.launcher)]);
  if (entriesToWrite.length > 0) await store.write(entriesToWrite);
}
