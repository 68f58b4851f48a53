/** Writing to stdout: waits for a slow reader, and ends quietly when the reader has gone (`simbatch jobs | head`). */
import { once } from 'node:events';
import { EXIT } from '../exit-codes.ts';

/** Resolves when more may be written, so that a list of any size is printed in constant memory. */
export async function write(text: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

export const writeLine = (line = ''): Promise<void> => write(`${line}\n`);

/** A value as indented JSON; a seed above 2^53 - 1 keeps its digits. */
export async function writeJson(value: unknown): Promise<void> {
  const { stringifyExact } = await import('../../base/json-writing.ts');
  // stringifyExact writes one line; people read indented ones, and only integers outside a double must not be parsed.
  const line = stringifyExact(value);
  await writeLine(/\d{16}/.test(line) ? line : JSON.stringify(value, null, 2));
}

/** A whole list as one JSON array, one element a line, as it arrives. */
export async function writeJsonArray(items: AsyncIterable<unknown>): Promise<void> {
  const { stringifyExact } = await import('../../base/json-writing.ts');
  let separator = '[\n';
  for await (const item of items) {
    await write(`${separator}${stringifyExact(item)}`);
    separator = ',\n';
  }
  await write(separator === '[\n' ? '[]\n' : '\n]\n');
}

/** For a message beside the output proper: progress, warnings, remedies. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A reader that closes the pipe has seen what it wanted: that is no failure. */
export function endQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
}
