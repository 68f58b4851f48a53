/** A progress bar on the standard error for long local work; silent without a terminal and for short work. */
import { SingleBar } from 'cli-progress';
import { systemClock } from '../../base/clock.ts';

/** Work that takes less than this shows no bar. */
const SHORT_MS = 500;

export class WorkProgress {
  #bar: SingleBar | undefined;
  #phase = '';
  #sinceMs = 0;

  /** Shows `done` of `total`; a total of 0 is unknown, and only `done` is shown. */
  show(phase: string, done: number, total: number): void {
    if (!process.stderr.isTTY) return;
    if (phase !== this.#phase) {
      this.end();
      this.#phase = phase;
      this.#sinceMs = systemClock.now();
    }
    if (this.#bar !== undefined) this.#bar.update(done);
    else if (systemClock.now() - this.#sinceMs > SHORT_MS) this.#start(done, total);
  }

  #start(done: number, total: number): void {
    this.#bar = new SingleBar({
      format: total === 0 ? `${this.#phase}  {value}` : `${this.#phase}  {bar} {percentage}%  ETA {eta_formatted}`,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      barsize: 24,
      hideCursor: false,
      linewrap: false,
      stream: process.stderr,
    });
    this.#bar.start(total, done);
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
    this.#phase = '';
  }
}
