// The simulation's side of telemetry: encodes samples into the ring. When the ring is full the simulation waits for the
// runner, within bounds; what is lost all the same is counted and reported. Nothing here throws into the simulation.
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { Ring } from './ring.js';
import { SampleEncoder } from './wire.js';

// How long the runner may take nothing at all before a sample is given up.
const STALL_MS = 10_000;
// The same limit at the end of the program, for all samples that wait.
const CLOSE_STALL_MS = 5000;
const CLOSE_MS = 30_000;
const UNANSWERED = `the runner took nothing for ${CLOSE_STALL_MS / 1000} s`;

/** Writes one line to stderr, if there is a stderr. */
function say(text) {
  try {
    writeSync(2, `simbatch: ${text}\n`);
  } catch {
    // The server does not listen.
  }
}

/** The sender of a program without telemetry: it takes samples and drops them. */
class NoTelemetry {
  dropped = 0;
  send() {}
  lose() {}
  close() {}
}

/** A stream to the runner. `dropped` counts the samples that were given up, for whatever reason. */
class StreamedTelemetry {
  dropped = 0;
  #ring = new Ring();
  #encoder = new SampleEncoder();
  #closed = false;
  #stalled = false;
  #onExit = () => this.close();

  constructor(target, token) {
    const worker = new Worker(new URL('sender.js', import.meta.url), {
      workerData: { shared: this.#ring.shared, target, token },
      execArgv: [],
      env: {},
    });
    // A fault of the thread would end the simulation if no listener took it.
    worker.on('error', (error) => this.#ring.end(0, error.message));
    worker.unref();
    process.on('exit', this.#onExit);
  }

  /** Throws for a sample that cannot be sent; the caller counts it. Waits while the ring is full and the runner reads. */
  send(timestampNs, values) {
    const entry = this.#encoder.encode(timestampNs, values);
    if (this.#closed || this.#ring.ended) this.lose(1);
    else if (this.#ring.push(entry)) this.#stalled = false;
    else {
      // A runner that took nothing for so long is not waited for again until it has made room.
      if (!this.#stalled) this.#stalled = !this.#ring.waitForRoom(STALL_MS);
      if (this.#stalled || !this.#ring.push(entry)) this.lose(1);
    }
  }

  /** Counts samples that cannot be sent; the next message reports them to the runner. */
  lose(samples) {
    this.dropped += samples;
    this.#ring.lose(samples);
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    process.off('exit', this.#onExit);
    const ended = this.#ring.close(CLOSE_STALL_MS, CLOSE_MS);
    this.dropped += this.#ring.refused;
    const why = ended ? this.#ring.detail : UNANSWERED;
    if (this.dropped > 0 || why !== '') {
      say(
        `${this.dropped > 0 ? String(this.dropped) : 'some'} telemetry samples were lost${why === '' ? '' : ` (${why})`}`,
      );
    }
  }
}

/** Telemetry to `url` (`host:port`, a scheme is ignored), authenticated by `token`; a no-op without a url. */
export function connectTelemetry(url, token) {
  if (!url) return new NoTelemetry();
  try {
    return new StreamedTelemetry(url.replace(/^[a-z+]+:\/\//i, '').replace(/\/+$/, ''), token);
  } catch (error) {
    say(`telemetry is off: ${error.message}`);
    return new NoTelemetry();
  }
}
