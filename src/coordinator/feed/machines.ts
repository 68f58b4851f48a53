/**
 * The topics of the machine view: the number of actors in each state, transitions taken, latest events; and one actor with
 * every event it takes.
 */
import type { StoreReader } from '../kernel/records/lookup.ts';
import type { ActorState, MachineName } from '../../../machines/kinds.ts';
import type { SupervisorSnapshot } from '../../../machines/supervisor/supervisor.ts';
import type { ActorData, ActorSteps, MachineData } from '../../contract/types.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { allOf } from '../kernel/storage/keys.ts';
import { jobsByStatus } from '../kernel/records/to-resource.ts';
import { decodeBatch, decodeNotification, decodeRunner } from '../kernel/actors/actor-kinds.ts';
import type { ActorJournal, JournalEntry } from '../kernel/turn/actor-journal.ts';
import type { ActorTransition } from '../kernel/turn/actor-transition.ts';
import { transitionsOf, type ChangeSet } from './change-set.ts';
import { keepLast, type Topic } from './topic.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';

interface MachineParts extends StoreReader {
  clock: Clock;
  share: EventLoopShare;
  journal: ActorJournal;
}

/** One event, as a line of a log. */
type EventLine = MachineData['events'][number];

const LINES = 40;

/** One kind of machine: counts by state (complete), transitions since the last delta, and the latest events. */
export class MachineTopic implements Topic<MachineData> {
  readonly everyMs = 200;
  readonly #parts: MachineParts;
  readonly #kind: MachineName;
  readonly #supervisor: () => SupervisorSnapshot;
  #counts: Map<string, number> | undefined;
  /** The moves since the beginning of each counting that is in progress. */
  readonly #later = new Set<Map<string, number>>();
  readonly #flow = new Map<string, number>();
  #events: EventLine[] = [];
  #isStale = false;
  #isChanged = false;

  constructor(parts: MachineParts, kind: MachineName, supervisor: () => SupervisorSnapshot) {
    this.#parts = parts;
    this.#kind = kind;
    this.#supervisor = supervisor;
  }

  async snapshot(): Promise<MachineData> {
    const counts = await this.#recount();
    return { counts: Object.fromEntries(counts), flow: {}, events: this.#events };
  }

  onCommit({ transitions, deletedBatches, forgottenRunners }: ChangeSet): boolean {
    const deleted = this.#kind === 'runner' ? forgottenRunners : deletedBatches;
    if (deleted.size > 0 && this.#kind !== 'notification') this.#markStale();
    for (const transition of transitions) {
      const { kind, id, event, from, to, now } = transition;
      if (kind === this.#kind) {
        this.#took(line(id, event?.type ?? '', from, to, now));
        this.#move(transition);
        // Old notifications are deleted without an event each.
        if (kind === 'notification') this.#markStale();
      } else if (this.#kind === 'job' && kind === 'batch' && (event === undefined || event.type === 'CANCEL')) {
        // Untouched runs are created and cancelled by number, without an event each.
        this.#markStale();
      }
    }
    return this.#isChanged;
  }

  /** The counts must be read again. */
  #markStale(): void {
    this.#isStale = true;
    this.#isChanged = true;
  }

  #took(it: EventLine): void {
    this.#isChanged = true;
    const transition = `${it.from ?? ''}|${it.event}|${it.to}`;
    this.#flow.set(transition, (this.#flow.get(transition) ?? 0) + 1);
    this.#events.push(it);
    keepLast(this.#events, LINES);
  }

  #move({ from, to }: ActorTransition): void {
    if (from === to) return;
    for (const counts of [this.#counts, ...this.#later]) {
      if (counts === undefined) continue;
      if (from !== undefined) counts.set(from, (counts.get(from) ?? 0) - 1);
      counts.set(to, (counts.get(to) ?? 0) + 1);
    }
  }

  async delta(): Promise<MachineData | undefined> {
    if (!this.#isChanged) return undefined;
    this.#isChanged = false;
    if (this.#isStale) await this.#recount();
    const delta = {
      counts: Object.fromEntries(this.#counts ?? []),
      flow: Object.fromEntries(this.#flow),
      events: this.#events,
    };
    this.#flow.clear();
    this.#events = [];
    return delta;
  }

  /** The counts of an instant, and the moves since: counting takes a while, in which actors move. */
  async #recount(): Promise<Map<string, number>> {
    this.#isStale = false;
    const moves = new Map<string, number>();
    this.#later.add(moves);
    try {
      const counts = await this.#count();
      for (const [state, change] of moves) counts.set(state, (counts.get(state) ?? 0) + change);
      this.#counts = counts;
      return counts;
    } finally {
      this.#later.delete(moves);
    }
  }

  async #count(): Promise<Map<string, number>> {
    if (this.#kind === 'supervisor') return new Map([[this.#supervisor().value, 1]]);
    const counts = new Map<string, number>();
    const add = (state: string, count: number): void => void counts.set(state, (counts.get(state) ?? 0) + count);
    const snapshot = this.#parts.store.snapshot();
    try {
      for await (const chunk of snapshot.entries(allOf(this.#kind === 'job' ? 'batch' : this.#kind))) {
        for await (const [, record] of this.#parts.share.paced(chunk)) {
          if (this.#kind === 'runner') add(decodeRunner(record).value, 1);
          else if (this.#kind === 'notification') add(decodeNotification(record).value, 1);
          else if (this.#kind === 'batch') add(decodeBatch(record).value, 1);
          else for (const [state, count] of Object.entries(jobsByStatus(decodeBatch(record)))) add(state, count);
        }
      }
    } finally {
      await snapshot.close();
    }
    return counts;
  }
}

const line = (id: string, event: string, from: string | undefined, to: string, now: number): EventLine => ({
  id,
  event,
  from,
  to,
  now,
});

/** One actor: its state and context, then each event it takes. */
export class ActorTopic implements Topic<ActorData, ActorSteps> {
  readonly everyMs = 100;
  readonly #parts: MachineParts;
  readonly #kind: MachineName;
  readonly #id: string;
  readonly #read: () => ActorState;
  #steps: ActorSteps['steps'] = [];
  #isGone = false;
  /** The version of the journal that viewers have. */
  #version: number;

  /** @param read returns the state of the actor, or throws when there is none */
  constructor(parts: MachineParts, kind: MachineName, id: string, read: () => ActorState) {
    this.#parts = parts;
    this.#kind = kind;
    this.#id = id;
    this.#read = read;
    this.#version = this.#entry.version;
  }

  get #entry(): JournalEntry {
    return this.#parts.journal.read(this.#kind, this.#id);
  }

  /** Refused events and notes, and since when they are kept. */
  #journal(): NonNullable<ActorData['journal']> {
    const { refused, notes } = this.#entry;
    return { since: this.#parts.journal.sinceMs, refused, notes };
  }

  async snapshot(): Promise<ActorData> {
    const { value, context } = this.#read();
    return { value, context, now: this.#parts.clock.now(), journal: this.#journal() };
  }

  onCommit(changes: ChangeSet): boolean {
    if (this.#isDeletedBy(changes)) this.#isGone = true;
    for (const { event, from, to, context, now } of transitionsOf(changes, this.#kind, this.#id)) {
      this.#steps.push({ event, from, to, context, now });
    }
    keepLast(this.#steps, 200);
    // The supervisor publishes its ticks, so that a refusal without a commit is seen within a second.
    return this.#isGone || this.#steps.length > 0 || this.#entry.version !== this.#version;
  }

  #isDeletedBy({ deletedBatches, forgottenRunners }: ChangeSet): boolean {
    if (this.#kind === 'runner') return forgottenRunners.has(this.#id);
    if (this.#kind === 'notification' || this.#kind === 'supervisor') return false;
    return deletedBatches.has(this.#kind === 'job' ? batchIdOf(this.#id) : this.#id);
  }

  delta(): ActorSteps | undefined {
    if (this.#isGone) {
      this.#isGone = false;
      this.#steps = [];
      // Throws for an actor that does not exist; a forgotten runner may have registered again.
      this.#read();
    }
    const { version } = this.#entry;
    const journal = version === this.#version ? {} : { journal: this.#journal() };
    this.#version = version;
    const steps = this.#steps;
    if (steps.length === 0 && !('journal' in journal)) return undefined;
    this.#steps = [];
    return { steps, ...journal };
  }
}
