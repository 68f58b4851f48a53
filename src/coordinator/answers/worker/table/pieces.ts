/** A file in pieces of a bounded length, for the thread that sends them. */

/** Pieces of a file are at most about this long: the thread that sends them passes each on at once. */
const PIECE_BYTES = 512 * 1024;

/** Bytes in pieces of a bounded length. */
export function* split(bytes: Uint8Array): Generator<Uint8Array> {
  if (bytes.length <= PIECE_BYTES) {
    if (bytes.length > 0) yield bytes;
    return;
  }
  yield* copiedPieces(bytes);
}

/** Such pieces in memory of their own, also of few bytes. */
export function* copiedPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const part = bytes.subarray(at, at + PIECE_BYTES);
    // Memory that is not filled with zeros before.
    const piece = Buffer.allocUnsafeSlow(part.length);
    piece.set(part);
    yield piece;
  }
}
