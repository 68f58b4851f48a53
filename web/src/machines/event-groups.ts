/** Equal events of a machine in a row, as one. Pure. */
import type { MachineData } from '../../../src/contract/types.ts';

export type Event = MachineData['events'][number];

/** Equal events that follow each other. */
interface Group extends Event {
  times: number;
}

/** The newest first; events of the same type between the same states, one after the other, are one group. */
export function grouped(events: readonly Event[]): Group[] {
  const groups: Group[] = [];
  for (const it of events.toReversed()) {
    const last = groups.at(-1);
    if (last !== undefined && last.event === it.event && last.from === it.from && last.to === it.to) last.times += 1;
    else groups.push({ ...it, times: 1 });
  }
  return groups;
}
