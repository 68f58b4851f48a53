/** A file in pieces of a bounded length, for the thread that sends them. */

/** Pieces of a file are at most about this long: the thread that sends them passes each on at once. */
export const PIECE_BYTES = 512 * 1024;
/** Most pieces that are kept for the next ones: a stream has two or three in flight. */
const MOST_SPARE = 8;
const spare: Uint8Array<ArrayBuffer>[] = [];

/** Takes the memory of a piece that has been sent, for a later one. */
export function takeBack(piece: Uint8Array): void {
  if (piece.buffer.byteLength === PIECE_BYTES && spare.length < MOST_SPARE)
    spare.push(new Uint8Array(piece.buffer as ArrayBuffer));
}

/** Memory of so many bytes, which is not filled with zeros before. */
function memoryOf(length: number): Uint8Array {
  // Pieces of few bytes have memory of their length.
  if (length < PIECE_BYTES / 2) return Buffer.allocUnsafeSlow(length);
  return (spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)).subarray(0, length);
}

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
    const piece = memoryOf(part.length);
    piece.set(part);
    yield piece;
  }
}
