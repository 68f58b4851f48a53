/** Ends the reading of a file whose reader takes it too slowly: the few readings at once are there for all readers. */
import type { Clock } from '../../base/clock.ts';

/** A reader that takes nothing for this long is cut. */
export const READER_STALL_MS = 30_000;
/** Length of the windows in which a reader must take at least `SLOWEST_BYTES_PER_SEC` on average; a slower one is cut. */
export const READER_WINDOW_MS = 120_000;
export const SLOWEST_BYTES_PER_SEC = 64_000;

/** Size of a piece, which a reader takes as a whole; small, so that slow progress is seen. */
const PIECE_BYTES = 65_536;
/** Bytes of a window, without the piece that the reader is taking at its end. */
const WINDOW_BYTES = (READER_WINDOW_MS / 1000) * SLOWEST_BYTES_PER_SEC - PIECE_BYTES;

/** A reader was cut; its connection ends before the announced length. */
export class SlowReader extends Error {}

/**
 * Passes a file on in pieces, and calls `cut` when its reader keeps one waiting for 30 s, or has kept them waiting for 120 s in which it took less than
 * 64 kB/s. The time in which the place of the file has not sent the next bytes does not count: each place has deadlines of its own.
 */
export async function* inPieces(
  content: AsyncIterable<Uint8Array>,
  clock: Pick<Clock, 'after' | 'monotonicMs'>,
  cut: (why: SlowReader) => void,
): AsyncGenerator<Uint8Array> {
  let takenBytes = 0;
  let waitedMs = 0;
  for await (const part of content) {
    for (let at = 0; at < part.length; at += PIECE_BYTES) {
      const piece = part.subarray(at, at + PIECE_BYTES);
      const offeredMs = clock.monotonicMs();
      const patienceMs = Math.min(READER_STALL_MS, READER_WINDOW_MS - waitedMs);
      const cancel = clock.after(patienceMs, () => cut(slow(patienceMs, takenBytes)));
      try {
        yield piece;
      } finally {
        cancel();
      }
      takenBytes += piece.length;
      waitedMs += clock.monotonicMs() - offeredMs;
      if (takenBytes < WINDOW_BYTES) continue;
      takenBytes = 0;
      waitedMs = 0;
    }
  }
}

const slow = (patienceMs: number, takenBytes: number): SlowReader =>
  new SlowReader(
    patienceMs === READER_STALL_MS
      ? `a reader took nothing for ${String(READER_STALL_MS / 1000)} s`
      : `a reader took ${String(takenBytes)} bytes in ${String(READER_WINDOW_MS / 1000)} s, fewer than ${String(SLOWEST_BYTES_PER_SEC)} per second`,
  );
