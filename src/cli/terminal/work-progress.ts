/** A progress bar on the standard error for long local work; silent without a terminal. */
import { SingleBar } from 'cli-progress';

export class WorkProgress {
  #bar: SingleBar | undefined;
  #phase = '';

  /** Shows `done` of `total`; a total of 0 is unknown, and only `done` is shown. */
  show(phase: string, done: number, total: number): void {
    if (!process.stderr.isTTY) return;
    if (phase !== this.#phase) {
      this.end();
      this.#phase = phase;
      this.#bar = new SingleBar({
        format: total === 0 ? `${phase}  {value}` : `${phase}  {bar} {percentage}%  ETA {eta_formatted}`,
        barsize: 24,
        hideCursor: false,
        linewrap: false,
        stream: process.stderr,
      });
      this.#bar.start(total, done);
    } else this.#bar?.update(done);
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
    this.#phase = '';
  }
}
