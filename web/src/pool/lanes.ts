/** Lanes of a runner: its latest attempts, so that no two of a lane overlap. Pure. */

export interface Bar {
  jobId: string;
  from: number;
  to: number;
  /** `running`, or how it ended. */
  outcome: string;
}

/** Puts each bar, in the order of starts, into the first lane that is free. At least `least` lanes. */
export function lanesOf(bars: readonly Bar[], least: number): Bar[][] {
  const lanes: Bar[][] = Array.from({ length: least }, () => []);
  for (const bar of [...bars].sort((a, b) => a.from - b.from)) {
    const free = lanes.find((it) => (it.at(-1)?.to ?? -Infinity) <= bar.from);
    if (free === undefined) lanes.push([bar]);
    else free.push(bar);
  }
  return lanes;
}

/** The part of the time from `from` to `to` in which a lane executes, over all lanes. */
export function utilisation(lanes: readonly (readonly Bar[])[], from: number, to: number): number {
  if (lanes.length === 0 || to <= from) return 0;
  let busy = 0;
  for (const lane of lanes) for (const it of lane) busy += Math.max(0, Math.min(it.to, to) - Math.max(it.from, from));
  return busy / ((to - from) * lanes.length);
}
