/** The events of one actor as a lane of the inspector. */
import { useMemo } from 'react';
import { useActor } from '../machines/use-actor.ts';
import { eventsOf, type Lane, type StoryEvent } from './story.ts';

export interface LaneStory {
  lane: Lane;
  events: StoryEvent[];
  /** Refused events are kept since then; undefined while the actor is read. */
  since: number | undefined;
  error: string | undefined;
}

const NONE: StoryEvent[] = [];

/** `id` undefined: there is no such actor, and the lane is empty. */
export function useLane(kind: Lane['kind'], id: string | undefined): LaneStory {
  const { steps, error, journal } = useActor(kind, id);
  return useMemo(() => {
    const lane = { kind, id: id ?? '' };
    return { lane, events: id === undefined ? NONE : eventsOf(lane, steps, journal), since: journal?.since, error };
  }, [kind, id, steps, error, journal]);
}
