/** The rounds of an adaptive study as bands of a bar: neighbouring rounds share a band where there are more than a bar can show. Pure. */
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import type { JobStatus, Round } from '../../../src/contract/types.ts';
import { STATUS_CODE } from '../data/run-columns.ts';

/** The most bands of a bar. */
export const MOST_BANDS = 240;

/** The rounds that share a band: a power of two, so that a study that grows halves its bands and reads none of them again. */
export function roundsPerBand(rounds: number): number {
  let step = 1;
  while (rounds > MOST_BANDS * step) step *= 2;
  return step;
}

/** The first round of a band. */
export type Edge = Pick<Round, 'round' | 'first_run_id' | 'key'>;

export interface Band {
  /** Its first round and its last one. */
  from: number;
  to: number;
  /** The key of its only round; null for several rounds, or for a round without one. */
  key: string | null;
  runs: number;
  /** Runs by state. */
  counts: Record<JobStatus, number>;
  /** True while it has a run that has not ended. */
  isOpen: boolean;
}

const OPEN: readonly JobStatus[] = ['Pending', 'Claimed', 'Running'];

/** Runs by state, from a run up to the one before `end`. */
export function countsBetween(status: Uint8Array, first: number, end: number): Record<JobStatus, number> {
  const byCode = JOB_STATUSES.map(() => 0);
  for (let run = first; run < end; run += 1) byCode[status[run]!]! += 1;
  return Object.fromEntries(JOB_STATUSES.map((it) => [it, byCode[STATUS_CODE[it]]!])) as Record<JobStatus, number>;
}

export const hasOpenRuns = (counts: Record<JobStatus, number>): boolean => OPEN.some((it) => counts[it] > 0);

/** @param status of each run, by its number @param rounds of the study @param step rounds of a band */
export function bandsOf(edges: readonly Edge[], status: Uint8Array, rounds: number, step: number): Band[] {
  return edges.map(({ round, first_run_id: first, key }, at) => {
    const end = edges[at + 1]?.first_run_id ?? status.length;
    const counts = countsBetween(status, first, end);
    const to = Math.min(rounds, round + step) - 1;
    return { from: round, to, key: to === round ? key : null, runs: end - first, counts, isOpen: hasOpenRuns(counts) };
  });
}

/** The condition of the table of runs that selects the runs of these rounds. */
export const whereOfRounds = ({ from, to }: Pick<Band, 'from' | 'to'>): string =>
  from === to ? `round = ${from}` : `round >= ${from} and round <= ${to}`;

/** A round for people: its number, and its key where it has one. */
export function nameOf({ from, to, key }: Pick<Band, 'from' | 'to' | 'key'>): string {
  if (from !== to) return `Rounds ${from} to ${to}`;
  return key === null ? `Round ${from}` : `Round ${from}, ${key}`;
}
