// The simulation's side of telemetry: encodes into the ring and goes on. Whatever happens behind it (no server, a slow one,
// one that hangs) the simulation neither waits, nor fails, nor stays when it wants to exit.
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { Ring } from './ring.js';
import { SampleEncoder } from './wire.js';

const CLOSE_MS = 2000;

/** One line on stderr; silence when there is none. */
function say(text) {
  try {
    writeSync(2, `simbatch: ${text}\n`);
  } catch {
    // Nobody listens.
  }
}

/** Takes samples and does nothing with them. */
class NoTelemetry {
  dropped = 0;
  send() {}
  close() {}
}

/** A stream to the runner. `dropped` counts the samples that were given up, for whatever reason. */
class StreamedTelemetry {
  dropped = 0;
  #ring = new Ring();
  #encoder = new SampleEncoder();
  #closed = false;
  #onExit = () => this.close();

  constructor(target) {
    const worker = new Worker(new URL('sender.js', import.meta.url), {
      workerData: { shared: this.#ring.shared, target },
      execArgv: [],
      env: {},
    });
    // Without a listener a fault there would end the simulation.
    worker.on('error', (error) => this.#ring.end(0, error.message));
    worker.unref();
    process.on('exit', this.#onExit);
  }

  send(timestampNs, values) {
    if (this.#closed || this.#ring.ended || !this.#ring.push(this.#encoder.encode(timestampNs, values)))
      this.dropped += 1;
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    process.off('exit', this.#onExit);
    const ended = this.#ring.close(CLOSE_MS);
    this.dropped += this.#ring.refused;
    const why = ended ? this.#ring.detail : 'the runner did not take them in time';
    if (this.dropped > 0 || why !== '') {
      say(
        `${this.dropped > 0 ? String(this.dropped) : 'some'} telemetry samples were lost${why === '' ? '' : ` (${why})`}`,
      );
    }
  }
}

/** Telemetry to `url` (`host:port`, a scheme is ignored); a no-op without one, or where there can be none. */
export function connectTelemetry(url) {
  if (!url) return new NoTelemetry();
  try {
    return new StreamedTelemetry(url.replace(/^[a-z+]+:\/\//i, '').replace(/\/+$/, ''));
  } catch (error) {
    say(`telemetry is off: ${error.message}`);
    return new NoTelemetry();
  }
}
