/** Requests that are safe to repeat, repeated while the coordinator does not answer; and the progress of runs that a command waits for. */
import { sleep, systemClock } from '../../base/clock.ts';
import { ApiError, UnreachableError } from '../../client/client.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { LiveBlock } from '../progress/live-block.ts';
import { formatDuration, plural } from '../terminal/format.ts';
import { note } from '../terminal/output.ts';

/** How long a coordinator that restarts is waited for. */
export const PATIENCE_MS = 120_000;
const LONGEST_PAUSE_MS = 5_000;
/** Without a terminal, progress is written at most so often. */
const LINE_MS = 30_000;

interface Persistence {
  patienceMs?: number;
  signal?: AbortSignal;
  /** Called once when a request has failed and is repeated. */
  repeating?: (text: string) => void;
}

/** Repeats a request with growing pauses while it may succeed later, for up to `patienceMs` after the first failure. */
export async function persist<T>(
  request: () => Promise<T>,
  { patienceMs = PATIENCE_MS, signal, repeating }: Persistence = {},
): Promise<T> {
  let sinceMs: number | undefined;
  for (let pauseMs = 200; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.6)) {
    try {
      return await request();
    } catch (error) {
      const isTransient = error instanceof UnreachableError || (error instanceof ApiError && error.transient);
      const nowMs = systemClock.now();
      sinceMs ??= nowMs;
      if (!isTransient || signal?.aborted === true || nowMs - sinceMs >= patienceMs) throw error;
      if (sinceMs === nowMs) repeating?.(`${error.message}; retrying for ${formatDuration(patienceMs / 1000)}`);
    }
    await sleep(systemClock, pauseMs, signal);
    signal?.throwIfAborted();
  }
}

/**
 * Calls `wait` with a signal that Ctrl-C and SIGTERM abort.
 * @param continues what continues without the command, and how it is seen again
 * @throws Failure with that sentence, once aborted
 */
export async function interruptible<T>(continues: () => string, wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const onSignal = (): void => interrupted.abort(new Failure(EXIT.interrupted, continues()));
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  try {
    return await wait(interrupted.signal);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

/** The progress of the runs that a command waits for, on stderr. */
export class RunsProgress {
  readonly #subject: string;
  readonly #block = process.stderr.isTTY ? new LiveBlock(process.stderr) : undefined;
  #last = '';
  #lastMs = 0;

  /** @param subject such as `round 3` */
  constructor(subject: string) {
    this.#subject = subject;
  }

  show(counts: Readonly<Record<string, number>>): void {
    const { open = 0, ...ended } = counts;
    const sum = Object.values(ended).reduce((total, it) => total + it, 0);
    const classes = Object.entries(ended).map(([name, it]) => `${it} ${name}`);
    const text = [`${this.#subject}: ${sum} of ${plural(sum + open, 'run')} ended`, ...classes].join('  ');
    if (text === this.#last) return;
    if (this.#block !== undefined) this.#block.show([{ text }]);
    else if (this.#last !== '' && systemClock.now() - this.#lastMs < LINE_MS && open > 0) return;
    else note(text);
    this.#last = text;
    this.#lastMs = systemClock.now();
  }

  /** Writes a line that stays. */
  readonly say = (line: string): void => {
    if (this.#block === undefined) note(line);
    else this.#block.say(line);
  };
}
