/** The looks at the code of one engine, in a thread of their own: a file system that does not answer holds nothing else of the runner. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import type { CodeIdentity } from '../../contract/types.ts';
import type { Looked, LookTime } from './code-look.ts';
import type { LookAnswer, LookQuestion, LookWork } from './look-worker.ts';

// The sources run without a build during development.
const WORKER_FILE = fileURLToPath(
  new URL(`./look-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

/** A run does not wait longer for a look, in seconds: its code is unknown then. Its claim counts for a minute. */
const PATIENCE_SECS = 20;

export interface LookThreadOptions extends LookWork {
  clock: Clock;
  /** Called when an identity differs from that before, with files that have changed. */
  onChange: (identity: CodeIdentity, files: readonly string[]) => void;
}

export class LookThread {
  readonly #options: LookThreadOptions;
  /** Questions without an answer, the oldest first. Monotonic times, in ms. */
  readonly #asked = new Map<number, { sinceMs: number; answer: (looked: Looked) => void }>();
  #worker: Worker | undefined;
  #questions = 0;
  #changesMs: readonly number[] = [];

  constructor(options: LookThreadOptions) {
    this.#options = options;
  }

  /** Looks at the files, as `CodeLook.look` does. Never rejects; a fault that is `late` after `patienceSecs` without an answer. */
  look(time: LookTime = 'now', patienceSecs: number = PATIENCE_SECS): Promise<Looked> {
    const { clock } = this.#options;
    const id = this.#questions++;
    return new Promise((resolve) => {
      const fault = `the look at the files of the entrypoint takes longer than ${String(patienceSecs)} s`;
      const cancel = afterSeconds(clock, patienceSecs, () => resolve({ fault, late: true }));
      const answer = (looked: Looked): void => {
        cancel();
        resolve(looked);
      };
      this.#asked.set(id, { sinceMs: clock.monotonicMs(), answer });
      this.#thread().postMessage({ id, time } satisfies LookQuestion);
    });
  }

  /** For how long a question waits for its answer, in ms; 0: none does. */
  get silentMs(): number {
    const [oldest] = this.#asked.values();
    return oldest === undefined ? 0 : this.#options.clock.monotonicMs() - oldest.sinceMs;
  }

  /** The time of the first known change of the code since an instant, in ms since the epoch; undefined: none is known. Call `look` before. */
  changedMs(sinceMs: number): number | undefined {
    const since = this.#changesMs.filter((it) => it >= sinceMs);
    return since.length === 0 ? undefined : Math.min(...since);
  }

  #thread(): Worker {
    return (this.#worker ??= this.#start());
  }

  #start(): Worker {
    const { entrypoint, globs, own, env, onChange } = this.#options;
    const worker = new Worker(WORKER_FILE, {
      name: 'code',
      workerData: { entrypoint, globs, own, env } satisfies LookWork,
    });
    worker.on('message', (message: LookAnswer) => {
      if ('changed' in message) return onChange(message.changed, message.files);
      this.#changesMs = message.changesMs;
      this.#settle(message.id, message.looked);
    });
    const ended = (why: string): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const id of this.#asked.keys()) this.#settle(id, { fault: `the look at the code ended: ${why}` });
    };
    worker.once('error', (error) => ended(error.message));
    worker.once('exit', (code) => ended(`exit code ${String(code)}`));
    // Questions keep the process alive, a thread without any does not. After the listeners: to listen takes it back.
    worker.unref();
    return worker;
  }

  #settle(id: number, looked: Looked): void {
    this.#asked.get(id)?.answer(looked);
    this.#asked.delete(id);
  }
}

/**
 * Calls `action` after so many seconds, counted in steps of one second: a pause of the whole process is one step, so that an answer that came
 * meanwhile is read before. Returns a function that cancels it.
 */
function afterSeconds(clock: Pick<Clock, 'after'>, secs: number, action: () => void): () => void {
  let left = secs;
  const tick = (): void => {
    if (left <= 0) return action();
    left -= 1;
    cancel = clock.after(1000, tick, { keepAlive: true });
  };
  let cancel = (): void => {};
  tick();
  return () => cancel();
}
