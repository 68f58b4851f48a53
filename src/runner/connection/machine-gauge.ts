/** Measures the machine of a runner for its heartbeats: its clock, the free space for artifacts. Never delays a heartbeat. */
import { statfs } from 'node:fs/promises';
import type { MachineState } from '../../contract/types.ts';
import type { Clock } from '../../base/clock.ts';

export class MachineGauge {
  readonly #clock: Clock;
  readonly #directory: string;
  #diskFreeBytes: number | undefined;
  #roundTripMs: number | undefined;
  /** True while the file system has not answered. */
  #isAsked = false;

  constructor(clock: Clock, directory: string) {
    this.#clock = clock;
    this.#directory = directory;
  }

  /** The state as it is known now; the free space is that of an earlier reading. */
  state(): MachineState {
    this.#readDisk();
    return {
      clock_ms: this.#clock.now(),
      ...(this.#roundTripMs === undefined ? {} : { round_trip_ms: this.#roundTripMs }),
      ...(this.#diskFreeBytes === undefined ? {} : { disk_free_bytes: this.#diskFreeBytes }),
    };
  }

  answered(sinceMs: number): void {
    this.#roundTripMs = Math.max(0, this.#clock.monotonicMs() - sinceMs);
  }

  #readDisk(): void {
    // A file system that does not answer keeps one reading, not one for each heartbeat.
    if (this.#isAsked) return;
    this.#isAsked = true;
    statfs(this.#directory)
      .then(({ bavail, bsize }) => bavail * bsize)
      .catch(() => undefined)
      .then((bytes) => {
        this.#diskFreeBytes = bytes;
        this.#isAsked = false;
      })
      .catch(() => undefined);
  }
}
