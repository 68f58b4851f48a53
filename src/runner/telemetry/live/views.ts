/** The live views of the running runs of a runner, as its file service sends them. */
import type { Clock } from '../../../base/clock.ts';
import type { AttemptRef, RunnerLiveHead, RunnerLiveVariable } from '../../../contract/types.ts';
import type { Telemetry } from '../server.ts';
import { terminationOf } from '../early-termination.ts';

export class LiveViews {
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #open = new Map<string, Telemetry>();

  constructor(clock: Pick<Clock, 'soon'>) {
    this.#clock = clock;
  }

  /** Serves the view of this telemetry, if it has one, until the returned function is called. */
  add(ref: AttemptRef, telemetry: Telemetry): () => void {
    if (telemetry.live === undefined) return () => {};
    const name = nameOf(ref);
    this.#open.set(name, telemetry);
    return () => {
      if (this.#open.get(name) === telemetry) this.#open.delete(name);
    };
  }

  /**
   * Returns the view of this moment as lines of JSON, its head and then each variable; undefined for an attempt without one.
   */
  async lines(ref: AttemptRef): Promise<string | undefined> {
    const telemetry = this.#open.get(nameOf(ref));
    if (telemetry?.live === undefined) return undefined;
    const { accepted, refused, lost } = telemetry.tally();
    const hit = telemetry.hit();
    const head: RunnerLiveHead = {
      samples: accepted,
      refused,
      lost,
      omitted: telemetry.live.omitted,
      ...(hit === undefined ? {} : { hit: terminationOf(hit) }),
    };
    const variables = telemetry.live.variables.map(({ name, series }): RunnerLiveVariable => {
      const { count, notFinite, reversals } = series;
      return { name, samples: count, not_finite: notFinite, reversals, ...series.points() };
    });
    const lines = [JSON.stringify(head)];
    for (const variable of variables) {
      lines.push(JSON.stringify(variable));
      // Writing all the numbers takes long, so telemetry and heartbeats are served between two variables.
      await new Promise<void>((resolve) => this.#clock.soon(resolve));
    }
    return lines.join('\n');
  }
}

const nameOf = ({ job_id, attempt }: AttemptRef): string => `${job_id}/${String(attempt)}`;
