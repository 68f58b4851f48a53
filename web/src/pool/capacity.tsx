/** Slots of the pool and the runs that they held, by minute since the coordinator started, then as they change. */
import { useEffect, useRef, useState } from 'react';
import type { PoolHistory } from '../../../src/contract/types.ts';
import { useRequest } from '../data/api.ts';
import { useIsConnected } from '../data/live.ts';
import { Panel } from '../parts/common.tsx';
import { TimeSeries } from '../plots/time-series.tsx';

const EVERY_MS = 5_000;
const MOST = 720;
/** Minutes further apart than this have an outage of the coordinator between them. */
const GAP_SECS = 90;

interface Points {
  times: number[];
  slots: (number | null)[];
  busy: (number | null)[];
}

const EMPTY: Points = { times: [], slots: [], busy: [] };

/** The minutes as points, with a gap where some are missing. */
export function pointsOf(minutes: PoolHistory['minutes']): Points {
  const points: Points = { times: [], slots: [], busy: [] };
  for (const { at, slots, busy } of minutes) {
    const time = Date.parse(at) / 1_000 + 30;
    const last = points.times.at(-1);
    if (last !== undefined && time - last > GAP_SECS) add(points, (last + time) / 2, null, null);
    add(points, time, slots, busy);
  }
  return points;
}

function add(points: Points, time: number, slots: number | null, busy: number | null): void {
  points.times.push(time);
  points.slots.push(slots);
  points.busy.push(busy);
}

export function Capacity({ slots, busy }: { slots: number; busy: number }) {
  const { data } = useRequest<PoolHistory>('/pool/history');
  const recent = useRecent(slots, busy);
  const before = pointsOf(data?.minutes ?? []);
  // The minute that runs is in the recent points.
  const from = recent.times[0] ?? Infinity;
  const kept = before.times.filter((it) => it < from - 1).length;
  const joined = (name: keyof Points): (number | null)[] => [...before[name].slice(0, kept), ...recent[name]];
  const times = joined('times') as number[];
  if (times.length === 0) return null;
  return (
    <Panel title="Capacity over time" aside={<span className="small soft">means of minutes, then every 5 s</span>}>
      <TimeSeries
        label="Slots of connected runners, and runs held, over time"
        times={times}
        series={[
          { name: 'Slots', colour: 'pending', values: joined('slots') },
          { name: 'Runs held', colour: 'running', values: joined('busy'), fill: true },
        ]}
        height={160}
        leastSpan={300}
      />
    </Panel>
  );
}

/** A point every few seconds while this page is open; a gap while the connection is lost. */
function useRecent(slots: number, busy: number): Points {
  const isConnected = useIsConnected();
  const latest = useRef({ slots, busy, isConnected });
  latest.current = { slots, busy, isConnected };
  const [points, setPoints] = useState<Points>(EMPTY);
  useEffect(() => {
    const sample = (): void => {
      const now = latest.current;
      const value = (it: number): number | null => (now.isConnected ? it : null);
      setPoints((before) => ({
        times: [...before.times, Date.now() / 1_000].slice(-MOST),
        slots: [...before.slots, value(now.slots)].slice(-MOST),
        busy: [...before.busy, value(now.busy)].slice(-MOST),
      }));
    };
    sample();
    const timer = window.setInterval(sample, EVERY_MS);
    return () => window.clearInterval(timer);
  }, []);
  return points;
}
