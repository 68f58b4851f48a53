/** Writes results with back-pressure, in the layouts of docs/cli.md, and ends quietly when the pipe is closed (`simbatch runs | head`). */
import { once } from 'node:events';
import { EXIT } from '../exit-codes.ts';
import { destination } from './destination.ts';
import { escaped } from './format.ts';
import { widthOf, wrap } from './screen.ts';

/** Resolves when more can be written, so that a list of any size needs constant memory. */
export async function write(text: string | Uint8Array): Promise<void> {
  const { put } = destination();
  if (put !== undefined) return put(text);
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Writes CSV or JSON. On a terminal, which would obey them, control characters and direction overrides are escaped; a JSON text has the
 * same values then. Elsewhere every byte is as given.
 */
export async function writeData(piece: string | Uint8Array): Promise<void> {
  if (destination().isTTY !== true) return write(piece);
  // A chunk may end within a character.
  await write(escaped(typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })));
}

export const writeLine = (line = ''): Promise<void> => write(`${line}\n`);

/** Writes sentences; on a terminal they are wrapped at words. */
export async function writeText(lines: readonly string[]): Promise<void> {
  const width = outputWidth();
  for (const line of lines) await writeLine(line.includes('\n') ? line : wrap(line, width));
}

/** Columns for results: those of the terminal, without limit elsewhere. */
export const outputWidth = (): number => widthOf(destination());

/** Writes a value as JSON, indented by two, with exact seeds. */
export async function writeJson(value: unknown): Promise<void> {
  const { stringifyExact } = await import('../../base/json/json-writing.ts');
  await writeData(`${stringifyExact(value, 2)}\n`);
}

/** The members of an object under their names in snake_case, as in all JSON of the program; deeper members are unchanged. */
export const snakeCased = (value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key.replaceAll(/[A-Z]/g, (it) => `_${it.toLowerCase()}`), member]),
  );

/** Writes a list as one JSON array, one element per line, as it arrives. */
export async function writeJsonArray(items: AsyncIterable<unknown>): Promise<void> {
  const { stringifyExact } = await import('../../base/json/json-writing.ts');
  let separator = '[\n';
  for await (const item of items) {
    await writeData(`${separator}${stringifyExact(item)}`);
    separator = ',\n';
  }
  await write(separator === '[\n' ? '[]\n' : '\n]\n');
}

/** Writes a list as JSON, one element per line, as it arrives. */
export async function writeJsonLines(items: AsyncIterable<unknown>): Promise<void> {
  const { stringifyExact } = await import('../../base/json/json-writing.ts');
  for await (const item of items) await writeData(`${stringifyExact(item)}\n`);
}

/** Writes a message to stderr: progress, warnings, remedies. On a terminal it is wrapped at words. */
export function note(text: string): void {
  const width = widthOf(process.stderr);
  for (const line of text.split('\n')) process.stderr.write(`${wrap(line, width)}\n`);
}

/** Makes a closed pipe a successful end: the reader has seen enough. */
export function endQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
}
