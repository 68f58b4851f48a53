/** Answers of runners about live telemetry, each shared by all who read it at about the same time. In memory alone. */
import type { Abandoned } from '../../../base/abandonment.ts';
import type { Clock } from '../../../base/clock.ts';
import type { LiveTelemetry } from '../../../contract/types.ts';
import { NoAnswer, type FileRequests } from './file-requests.ts';

/** An answer is older than this by no more than the time in which it came. */
export const SHARED_MS = 250;
/** The most answers that are kept, of up to a MiB each. */
export const MAX_SHARED = 32;

export class LiveReadings {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #requests: Pick<FileRequests, 'beginReading'>;
  readonly #answers = new Map<string, Promise<LiveTelemetry>>();

  constructor(clock: Pick<Clock, 'after'>, requests: Pick<FileRequests, 'beginReading'>) {
    this.#clock = clock;
    this.#requests = requests;
  }

  /**
   * Returns the answer of this name, which `read` begins to get where there is none.
   * @throws SimbatchError `too-many-requests`; the reason of `stop`; the error of `read`
   */
  async read(name: string, read: () => Promise<LiveTelemetry>, stop: Abandoned): Promise<LiveTelemetry> {
    if (stop.aborted) throw stop.reason instanceof Error ? stop.reason : new NoAnswer();
    const answer = this.#answers.get(name) ?? this.#begin(name, read);
    return await new Promise((resolve, reject) => {
      const left = (): void => reject(stop.reason instanceof Error ? stop.reason : new NoAnswer());
      stop.addEventListener('abort', left, { once: true });
      // The other readers of the answer stay.
      void answer.then(resolve, reject).finally(() => stop.removeEventListener('abort', left));
    });
  }

  async #begin(name: string, read: () => Promise<LiveTelemetry>): Promise<LiveTelemetry> {
    const release = this.#requests.beginReading();
    const answer = read();
    this.#answers.set(name, answer);
    const forget = (): void => {
      this.#answers.delete(name);
    };
    try {
      const found = await answer;
      if (this.#answers.size > MAX_SHARED) forget();
      else this.#clock.after(SHARED_MS, forget);
      return found;
    } catch (error) {
      forget();
      throw error;
    } finally {
      release();
    }
  }
}
