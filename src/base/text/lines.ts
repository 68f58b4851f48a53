/** The lines of a text that arrives in pieces. */

/** Yields the lines of a text in UTF-8 without their line feeds; a line that has not ended comes last. */
export async function* linesFrom(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
