/** Where the results of a command go: the standard output, or the file of `--file`. */
import { existsSync, statSync } from 'node:fs';
import { makeWhole, writeFileFrom, type Put } from './output-file.ts';

/** A place for results: a file is not a terminal and has no width. */
export interface Destination {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Writes to the file; undefined for the standard output. */
  readonly put?: Put;
}

let file: { put: Put } | undefined;

/** The place of the results of this command. */
export const destination = (): Destination => file ?? process.stdout;

/**
 * Executes `work` with its results going to the file, which is replaced as a whole at the end, and stays as it is where the work fails.
 * @throws Failure `cannotOpen` when the file cannot be written; what `work` throws
 */
export async function intoFile(path: string, work: () => Promise<void>): Promise<void> {
  const fill = async (put: Put): Promise<void> => {
    file = { put };
    try {
      await work();
    } finally {
      file = undefined;
    }
  };
  // A device or a pipe cannot be replaced by a file of its name.
  if (existsSync(path) && !statSync(path).isFile()) return writeFileFrom(path, fill);
  const begun = `${path}.partial`;
  return makeWhole(path, begun, () => writeFileFrom(path, fill, { begun }));
}
