/** The telemetry of a drawn sample of the runs of a study: reads their files, some at once, and keeps their samples. */
import type { DrawnTelemetry, DrawOptions, RunSamples } from '../../../../analysis/table/drawn-telemetry.ts';
import { bandSample } from '../../../../analysis/band/sample.ts';
import { batchOf, runIdOf, type RunTable } from '../../../../analysis/table/run-table.ts';
import type { Uuid } from '../../../../contract/types.ts';
import type { Clock } from '../../../../base/clock.ts';
import { inParallel } from '../../../../base/async/in-parallel.ts';
import { jobId } from '../../../../domain/ids.ts';
import { samplesIn } from './samples.ts';

/** Files that are read at the same time. */
const AT_ONCE = 4;
/** The samples of the least recently used runs are dropped beyond this size. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** The bytes of a telemetry file, or why there are none. `isLasting`: a later reading would not have them either. */
export type TelemetryReading = { bytes: Uint8Array } | { why: string; isLasting: boolean };

type Read = (job: Uuid) => Promise<TelemetryReading>;

export class DrawnRuns {
  readonly #read: Read;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Samples by job, the last used at the end. The telemetry of a run that has ended does not change. */
  readonly #kept = new Map<Uuid, { samples: RunSamples; bytes: number }>();
  #bytes = 0;

  constructor(read: Read, clock: Pick<Clock, 'monotonicMs'>) {
    this.#read = read;
    this.#clock = clock;
  }

  /**
   * The telemetry of a sample of the runs. `isLasting` is false where a file may be readable later.
   * @param limitMs for reading: files that are not begun within it count as unread.
   */
  async of(
    table: RunTable,
    limitMs: number,
    options?: DrawOptions,
  ): Promise<{ telemetry: DrawnTelemetry; isLasting: boolean }> {
    const deadline = this.#clock.monotonicMs() + limitMs;
    const sample = bandSample(table, options);
    const found = await inParallel(sample.rows, AT_ONCE, (row) =>
      this.#samples(jobId(batchOf(table, row), runIdOf(table, row)), deadline),
    );
    return {
      telemetry: { ...sample, runs: found.map((it) => ('samples' in it ? it.samples : { why: it.why })) },
      isLasting: found.every((it) => 'samples' in it || it.isLasting),
    };
  }

  async #samples(job: Uuid, deadline: number): Promise<{ samples: RunSamples } | { why: string; isLasting: boolean }> {
    const known = this.#kept.get(job);
    if (known !== undefined) {
      this.#kept.delete(job);
      this.#kept.set(job, known);
      return known;
    }
    if (this.#clock.monotonicMs() > deadline) return { why: 'the time for reading was over', isLasting: false };
    const reading = await this.#read(job);
    if (!('bytes' in reading)) return reading;
    try {
      const samples = await samplesIn(reading.bytes);
      this.#keep(job, samples);
      return { samples };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { why: `its telemetry file is not readable: ${message}`.slice(0, 300), isLasting: true };
    }
  }

  #keep(job: Uuid, samples: RunSamples): void {
    let bytes = 0;
    for (const it of samples.variables.values()) bytes += it.secs.byteLength + it.values.byteLength;
    this.#kept.set(job, { samples, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: size }] of this.#kept) {
      if (this.#bytes <= MAX_KEPT_BYTES || oldest === job) break;
      this.#kept.delete(oldest);
      this.#bytes -= size;
    }
  }
}
