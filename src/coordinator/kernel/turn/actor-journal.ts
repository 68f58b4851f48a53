/**
 * The latest refused events, measures of the supervisor and changes of runners, by actor: for the inspector. In memory, bounded, empty after a
 * start; an event that an actor takes costs nothing here. No decision depends on it.
 */
import type { ActorFailed, AnyEvent, Fact } from '../../../../machines/protocol.ts';
import { RecentMap } from '../../../base/recent-map.ts';

/** An event that an actor did not take, with its state and context at that time. Equal ones in a row are one. */
interface RefusedEvent {
  event: AnyEvent;
  state: string;
  /** Must not be modified. */
  context: object;
  /** The latest of them. */
  now: number;
  times: number;
}

/** A fact about an actor that its later state does not show. */
interface ActorNote {
  type: string;
  now: number;
  detail?: string;
}

export interface JournalEntry {
  /** Another one after each change. */
  version: number;
  refused: RefusedEvent[];
  notes: ActorNote[];
}

/** Actors with entries; the one whose entry is oldest is forgotten. */
const MOST_ACTORS = 400;
const MOST_REFUSED = 12;
const MOST_NOTES = 60;
const SUPERVISOR = 'supervisor/supervisor';

const EMPTY: JournalEntry = { version: 0, refused: [], notes: [] };

export class ActorJournal {
  /** Everything since then is here, as far as the limits allow. */
  readonly sinceMs: number;
  readonly #entries = new RecentMap<string, JournalEntry>(MOST_ACTORS);

  constructor(sinceMs: number) {
    this.sinceMs = sinceMs;
  }

  read(kind: string, id: string): JournalEntry {
    return this.#entries.get(`${kind}/${id}`) ?? EMPTY;
  }

  refused(address: string, event: AnyEvent, { value, context }: { value: string; context: object }, now: number): void {
    const entry = this.#of(address);
    const last = entry.refused.at(-1);
    if (last !== undefined && last.event.type === event.type && last.state === value) {
      Object.assign(last, { event, context, now, times: last.times + 1 });
      return;
    }
    entry.refused.push({ event, state: value, context, now, times: 1 });
    if (entry.refused.length > MOST_REFUSED) entry.refused.shift();
  }

  /** An actor threw: the turn was rolled back, and the supervisor took a measure. */
  failed({ address, measure, message, now }: ActorFailed): void {
    this.#note(address, { type: measure, now, detail: message });
    this.#note(SUPERVISOR, { type: measure, now, detail: `${address}: ${message}` });
  }

  committed(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (!fact.type.startsWith('runner.') || !('runnerId' in fact) || fact.runnerId === undefined) continue;
      // A registration without lost attempts emits an empty loss.
      if ('held' in fact && fact.held.length === 0 && fact.type !== 'runner.signed-off') continue;
      const detail = 'cause' in fact ? { detail: fact.cause } : {};
      this.#note(`runner/${fact.runnerId}`, { type: fact.type, now: fact.now, ...detail });
    }
  }

  #note(address: string, note: ActorNote): void {
    const { notes } = this.#of(address);
    notes.push(note);
    if (notes.length > MOST_NOTES) notes.shift();
  }

  #of(address: string): JournalEntry {
    const entry = this.#entries.get(address) ?? { version: 0, refused: [], notes: [] };
    entry.version += 1;
    this.#entries.set(address, entry);
    return entry;
  }
}
