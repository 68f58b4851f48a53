/**
 * Judges whether this machine is fit for jobs. A machine that fails every run would fail a whole study within seconds: it pauses,
 * longer each time.
 */
import type { AttemptEnd } from '../attempt/outcome.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
const MOST_DOUBLINGS = 10;

export class Fitness {
  #failuresInARow = 0;

  /** Takes the end of an attempt. @returns how long to claim no new jobs and why; undefined when the machine is not at fault. */
  judge(end: AttemptEnd): { pauseMs: number; why: string } | undefined {
    if (end.type === 'abandoned' || end.type === 'released' || end.type === 'lost') return undefined;
    if (end.type === 'complete' || end.reason !== 'infrastructure') {
      this.#failuresInARow = 0;
      return undefined;
    }
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failuresInARow, MOST_DOUBLINGS));
    this.#failuresInARow += 1;
    return { pauseMs, why: end.error_message };
  }
}
