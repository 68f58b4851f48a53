/** The time left of a study in words, and its stragglers. Pure. */
import type { BatchStatusResponse } from '../../contract/types.ts';
import { formatDuration } from '../terminal/format.ts';

type Progress = Pick<BatchStatusResponse, 'eta' | 'estimated_completion_time_mins' | 'stragglers'>;

/** `9m 10s to 14m 00s, probably 11m 20s`; before an interval is known `about 12m 00s`; undefined when nothing is. */
export function timeLeftText({ eta, estimated_completion_time_mins: minutes }: Progress): string | undefined {
  if (eta === undefined) return minutes === undefined ? undefined : `about ${formatDuration(minutes * 60)}`;
  const [low, median, high] = [eta.low, eta.median, eta.high].map((it) => formatDuration(it)) as [
    string,
    string,
    string,
  ];
  return low === high ? `about ${median}` : `${low} to ${high}, probably ${median}`;
}

/** `run 17 (2h 07m), run 40 (1h 55m)`; undefined for none. */
export function stragglersText({ stragglers }: Progress): string | undefined {
  return stragglers?.map((it) => `run ${it.run_id} (${formatDuration(it.running_secs)})`).join(', ');
}
