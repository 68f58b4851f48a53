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
   * The view as lines of JSON: its head, then each variable. A variable is complete in itself; samples may come between two.
   * Returns undefined for an attempt without a view.
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
    const lines = [JSON.stringify(head)];
    for (const { name, series } of [...telemetry.live.variables]) {
      const { count, notFinite, reversals } = series;
      const variable: RunnerLiveVariable = {
        name,
        samples: count,
        not_finite: notFinite,
        reversals,
        ...series.points(),
      };
      lines.push(JSON.stringify(variable));
      // Telemetry and heartbeats come between two variables.
      await new Promise<void>((resolve) => this.#clock.soon(resolve));
    }
    return lines.join('\n');
  }
}

const nameOf = ({ job_id, attempt }: AttemptRef): string => `${job_id}/${String(attempt)}`;
