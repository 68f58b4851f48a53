/** The allocations of a launcher: one actor of the allocation machine each, with its history, and the records to be written. */
import { createActor, type Actor } from 'xstate';
import { compiledMachine } from '../../base/interpreters/compiled-machine.ts';
import {
  newAllocation,
  type AllocationContext,
  type AllocationEvent,
  type AllocationFact,
  type AllocationInput,
} from '../../../machines/allocation/context.ts';
import { allocationMachine, type AllocationStatus } from '../../../machines/allocation/allocation.ts';
import { isLive, type Allocation } from '../decision/usage.ts';

/** One transition, for people. */
export interface HistoryEntry {
  atMs: number;
  to: AllocationStatus;
  event: AllocationEvent['type'] | 'PLAN';
  reason?: string;
}

/** The stored form of an allocation. */
export interface AllocationRecord extends Allocation {
  history: readonly HistoryEntry[];
  /** A token may exist that must be revoked when the allocation has ended. */
  hasToken: boolean;
}

/** The last transitions are kept: an allocation that runs for a year flips between Idle and Busy. */
const MAX_HISTORY = 50;

export class Allocations {
  readonly #records = new Map<string, AllocationRecord>();
  readonly #actors = new Map<string, Actor<typeof allocationMachine>>();
  readonly #changed = new Set<string>();
  readonly #machine: typeof allocationMachine;

  /** `onFact` receives the facts of all allocations, in order. */
  constructor(onFact: (fact: AllocationFact) => void) {
    this.#machine = compiledMachine(allocationMachine, (fact) => onFact(fact as AllocationFact));
  }

  /** Takes a record as it was stored. */
  restore(record: AllocationRecord): void {
    this.#records.set(record.context.id, record);
  }

  /** A new allocation in the state Planned. Nothing is asked of the engine before its record is on disk. */
  plan(input: AllocationInput): AllocationRecord {
    const entry: HistoryEntry = { atMs: input.now, to: 'Planned', event: 'PLAN' };
    const record = { value: 'Planned' as const, context: newAllocation(input), history: [entry], hasToken: false };
    this.#records.set(input.id, record);
    this.#changed.add(input.id);
    return record;
  }

  get(id: string): AllocationRecord | undefined {
    return this.#records.get(id);
  }

  all(): IterableIterator<AllocationRecord> {
    return this.#records.values();
  }

  live(): AllocationRecord[] {
    return [...this.#records.values()].filter(isLive);
  }

  /** Sends an event. Returns false when the state does not take it; then nothing has changed. */
  send(id: string, event: AllocationEvent): boolean {
    const record = this.#records.get(id);
    if (record === undefined || !isLive(record)) return false;
    const actor = this.#actorOf(record);
    const before = actor.getSnapshot();
    actor.send(event);
    const after = actor.getSnapshot();
    if (after === before) return false;
    if (after.status === 'error') {
      this.#actors.delete(id);
      throw after.error;
    }
    const context: AllocationContext = after.context;
    this.#records.set(id, { ...record, value: after.value, context, history: historyWith(record, after.value, event) });
    if (after.value !== record.value || !isEqual(context, record.context)) this.#changed.add(id);
    if (after.status === 'done') this.#actors.delete(id);
    return true;
  }

  noteToken(id: string, hasToken: boolean): void {
    const record = this.#records.get(id);
    if (record === undefined || record.hasToken === hasToken) return;
    this.#records.set(id, { ...record, hasToken });
    this.#changed.add(id);
  }

  forget(id: string): void {
    this.#records.delete(id);
    this.#actors.delete(id);
    this.#changed.add(id);
  }

  /** The ids whose records differ from the stored ones, once: undefined for a record that is to be deleted. */
  takeChanges(): [id: string, record: AllocationRecord | undefined][] {
    const changes = [...this.#changed].map((id): [string, AllocationRecord | undefined] => [id, this.#records.get(id)]);
    this.#changed.clear();
    return changes;
  }

  #actorOf({ value, context }: AllocationRecord): Actor<typeof allocationMachine> {
    const known = this.#actors.get(context.id);
    if (known !== undefined) return known;
    const actor = createActor(this.#machine, {
      snapshot: this.#machine.resolveState({ value, context }),
      // The context is restored with the snapshot; the input is not used.
      input: { ...context, now: context.plannedAtMs },
    });
    // An error is thrown by `send`; without an observer XState would throw it from a timer too.
    actor.subscribe({ error: () => {} });
    actor.start();
    this.#actors.set(context.id, actor);
    return actor;
  }
}

function historyWith(record: AllocationRecord, to: AllocationStatus, event: AllocationEvent): readonly HistoryEntry[] {
  if (to === record.value && event.type !== 'STOP' && event.type !== 'UNANSWERED') return record.history;
  const reason = 'reason' in event ? event.reason : event.type === 'OBSERVED' ? event.seen.reason : undefined;
  const entry: HistoryEntry = { atMs: event.now, to, event: event.type, ...(reason === undefined ? {} : { reason }) };
  return [...record.history, entry].slice(-MAX_HISTORY);
}

const isEqual = (a: AllocationContext, b: AllocationContext): boolean => JSON.stringify(a) === JSON.stringify(b);
