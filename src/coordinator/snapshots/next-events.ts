/**
 * Lists the events that an actor accepts next, and the state after each. The machine itself decides, on one representative
 * event of each sort; deadlines are tried at the moment they expire.
 */
import { ActorPlayer } from '../../../machines/actor-player.ts';
import { SAMPLE_EVENTS } from '../../../machines/sample-events.ts';
import type { MachineName, StoredState } from './format.ts';

export interface NextEvent {
  /** The event, described in words. */
  event: string;
  /** The state after it. */
  to: string;
}

/** The events the actor accepts in this state, at its own latest time. */
export function nextEvents(machine: MachineName, stored: StoredState): NextEvent[] {
  const possible: NextEvent[] = [];
  for (const [event, message] of SAMPLE_EVENTS[machine](stored)) {
    const player = ActorPlayer.restore(machine, stored);
    if (player.send(message) !== 'refused') possible.push({ event, to: player.state });
  }
  return possible;
}
