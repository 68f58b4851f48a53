/** Reading recordings and texts as snapshots, for the tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';
import type { Snapshot } from '../../src/coordinator/snapshots/format.ts';
import { readSnapshot } from '../../src/coordinator/snapshots/read.ts';
import { SimbatchError } from '../../src/domain/errors.ts';

const ROOT = join(packageRoot, 'snapshots');

export interface Recording {
  /** `format-1/job-completed.json` */
  name: string;
  text: string;
}

/** Every committed recording of the coordinator, of every format there ever was. */
export function recordings(): Recording[] {
  const names = readdirSync(ROOT, { recursive: true, encoding: 'utf8' });
  const paths = names.filter((it) => it.startsWith('format-') && it.endsWith('.json'));
  return paths.sort().map((name) => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }));
}

/** The recording of the current format with this name, parsed. */
export function recording(name: string): any {
  return JSON.parse(readFileSync(join(ROOT, 'format-1', `${name}.json`), 'utf8'));
}

/** The text cut in pieces of some length, as a stream would cut it. */
export async function* inPieces(text: string, length = 1_000): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

export const open = (document: unknown, length?: number): Promise<Snapshot> =>
  readSnapshot(inPieces(typeof document === 'string' ? document : JSON.stringify(document), length));

/** The error of something that must be refused by the product's own word. */
export async function refusal(attempt: () => Promise<unknown>): Promise<SimbatchError> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof SimbatchError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
