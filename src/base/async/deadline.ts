/** Requests that end with their time, also when garbage is collected: Node's `fetch` holds its signals weakly. */
import { systemClock } from '../clock.ts';

/**
 * Calls an operation with a signal that aborts after `limitMs` with a `TimeoutError`, or with `stop` and its reason. The limit
 * covers the operation as a whole: read the body of an answer in it, with `readBody`. Give the signal to `fetch` itself and not to a
 * `Request`, whose own signal is collected before the answer arrives.
 *
 * One controller, which the timer holds: `AbortSignal.timeout` would be collected where only `AbortSignal.any` depends on it, and the two
 * cost a runner a good part of a small request.
 */
export async function withDeadline<T>(
  limitMs: number,
  stop: AbortSignal | undefined,
  operation: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const onStop = (): void => ending.abort(stop?.reason);
  const cancelLimit = systemClock.after(limitMs, () => {
    ending.abort(new DOMException(`no answer within ${String(limitMs)} ms`, 'TimeoutError'));
  });
  if (stop?.aborted === true) onStop();
  else stop?.addEventListener('abort', onStop, { once: true });
  try {
    return await operation(ending.signal);
  } finally {
    cancelLimit();
    stop?.removeEventListener('abort', onStop);
  }
}

/** The cause of a request that failed, which `fetch` wraps, and whether it is the limit of `withDeadline`. */
export function failureOf(error: unknown): { cause: unknown; isLate: boolean } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return { cause, isLate: cause instanceof Error && cause.name === 'TimeoutError' };
}

/**
 * The body of an answer, or its first bytes: it is left when it has more than `mostBytes`. The signal ends the reading and the
 * connection; `fetch` may have lost it once the head of the answer has arrived.
 * @throws the reason of the signal, or the error of the connection
 */
export async function readBody(response: Response, signal: AbortSignal, mostBytes = Infinity): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const leave = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', leave, { once: true });
  const parts: Uint8Array[] = [];
  try {
    for (let bytes = 0; bytes <= mostBytes;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      bytes += value.byteLength;
    }
    signal.throwIfAborted();
    return Buffer.concat(parts);
  } finally {
    signal.removeEventListener('abort', leave);
    // `leave` has no effect on a body that was read to its end.
    leave();
  }
}
