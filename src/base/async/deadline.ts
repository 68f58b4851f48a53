/** Requests that end with their time, also when garbage is collected: Node's `fetch` holds its signals weakly. */

/** The signal of a time limit is collected before it fires where only `AbortSignal.any` or a `Request` depends on it. */
const held = new Set<AbortSignal>();

/**
 * Calls an operation with a signal that aborts after `limitMs` with a `TimeoutError`, or with `stop` and its reason. The limit
 * covers the operation as a whole: read the body of an answer in it, with `readBody`. Give the signal to `fetch` itself and not to a
 * `Request`, whose own signal is collected before the answer arrives.
 */
export async function withDeadline<T>(
  limitMs: number,
  stop: AbortSignal | undefined,
  operation: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(limitMs);
  const signal = stop === undefined ? limit : AbortSignal.any([limit, stop]);
  held.add(limit).add(signal);
  try {
    return await operation(signal);
  } finally {
    held.delete(limit);
    held.delete(signal);
  }
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
    // Without effect on a body that was read to its end.
    leave();
  }
}
