/** Writes to stdout with back-pressure, and ends quietly when the pipe is closed (`simbatch runs | head`). */
import { once } from 'node:events';
import { EXIT } from '../exit-codes.ts';

/** Resolves when more can be written, so that a list of any size needs constant memory. */
export async function write(text: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

export const writeLine = (line = ''): Promise<void> => write(`${line}\n`);

/** Writes a value as indented JSON with exact seeds. */
export async function writeJson(value: unknown): Promise<void> {
  const { stringifyExact } = await import('../../base/json/json-writing.ts');
  // stringifyExact writes one line. Only text with integers outside the range of a double must not be parsed again.
  const line = stringifyExact(value);
  await writeLine(/\d{16}/.test(line) ? line : JSON.stringify(value, null, 2));
}

/** Writes a list as one JSON array, one element per line, as it arrives. */
export async function writeJsonArray(items: AsyncIterable<unknown>): Promise<void> {
  const { stringifyExact } = await import('../../base/json/json-writing.ts');
  let separator = '[\n';
  for await (const item of items) {
    await write(`${separator}${stringifyExact(item)}`);
    separator = ',\n';
  }
  await write(separator === '[\n' ? '[]\n' : '\n]\n');
}

/** Writes a message to stderr: progress, warnings, remedies. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Makes a closed pipe a successful end: the reader has seen enough. */
export function endQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
}
