/** Reads the output directory of a simulation: the list of its files, and `metadata.json`. Trusts none of it. */
import { below } from '../../base/directories.ts';
import { isJsonObject } from '../../base/json/json-object.ts';
import { closeSync, constants, type Dir, type Dirent, fstatSync, openSync, readFile, readSync } from 'node:fs';
import { opendir, unlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { lossyFault } from '../../base/json/json-loss.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Uuid } from '../../contract/types.ts';
import { MOST_READS_BYTES, READS_FILE } from './look-ups.ts';

/** The folder of a run below an absolute root: `<batch_id>/<run_id, 8 digits>`. */
export const runFolder = (root: string, batchId: Uuid, runId: number): string =>
  below(root, `${batchId}${sep}${String(runId).padStart(8, '0')}`);

/** The directory of an attempt below an absolute root: of its outputs, or of its checkpoint. */
export const attemptDirectory = (root: string, batchId: Uuid, runId: number, attempt: number): string =>
  below(runFolder(root, batchId, runId), `attempt-${String(attempt)}`);

export interface ArtifactLimits {
  files: number;
  /** Characters of all paths together. */
  pathLength: number;
  depth: number;
  metadataBytes: number;
  metadataDepth: number;
  metadataValues: number;
}

/** Bytes of the histories in metadata.json: the values of all that a study can have. */
const HISTORIES_BYTES = 2 << 20;

/** Limits of the runner, below those of the coordinator. */
export const ARTIFACT_LIMITS: ArtifactLimits = {
  files: LIMITS.outputFiles / 5,
  pathLength: 4 << 20,
  depth: 64,
  metadataBytes: 1 << 20,
  metadataDepth: LIMITS.freeFormDepth - 2,
  metadataValues: LIMITS.freeFormValues / 2,
};

export interface Artifacts {
  /** Absolute paths of the files, sorted. */
  files: string[];
  metadata: Record<string, unknown>;
  /** The member `histories` of `metadata.json`, which is not in `metadata`, where it is an object of lists. */
  histories?: Readonly<Record<string, readonly unknown[]>>;
  /** Omitted files and the reasons, for people. */
  notes: string[];
  /** The parameters that the simulation looked up, as it reports them; absent: it does not. */
  reads?: unknown;
}

/**
 * Never throws for the content; a directory that cannot be read becomes a note.
 * @param stop ends the listing early, with a note.
 */
export async function collectArtifacts(
  directory: string,
  stop?: Pick<AbortSignal, 'aborted'>,
  limits = ARTIFACT_LIMITS,
): Promise<Artifacts> {
  const notes: string[] = [];
  const listed = await listFiles(directory, limits, notes, stop);
  const reads = join(directory, READS_FILE);
  const files = listed.filter((it) => it !== reads);
  const has = files.includes(join(directory, 'metadata.json'));
  const read = has ? await readMetadata(directory, limits, notes) : { metadata: {} };
  return { files, ...read, notes, ...(listed.includes(reads) ? { reads: await takeReads(reads) } : {}) };
}

/** The report of look-ups, which is not a file of the run. */
async function takeReads(path: string): Promise<unknown> {
  try {
    const text = await readBounded(path, MOST_READS_BYTES);
    await unlink(path);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Absolute paths of the regular files below a directory, sorted; links are not followed. `notes` gets what is missing. */
export async function listFiles(
  root: string,
  limits: ArtifactLimits,
  notes: string[],
  stop: Pick<AbortSignal, 'aborted'> | undefined,
): Promise<string[]> {
  const files: string[] = [];
  const pending = [{ directory: root, depth: 0 }];
  let length = 0;
  const isStopped = (): boolean => stop?.aborted === true;
  let odd = 0;
  let tooMany = 0;
  for (let next = pending.pop(); next !== undefined && !isStopped(); next = pending.pop()) {
    const { directory, depth } = next;
    try {
      // Entry by entry: a directory may hold more names than memory.
      for await (const entry of entriesOf(await opendir(directory, { bufferSize: ENTRIES_AT_ONCE }))) {
        if (isStopped()) break;
        const path = join(directory, entry.name);
        if (entry.isDirectory() && depth < limits.depth) pending.push({ directory: path, depth: depth + 1 });
        else if (!entry.isFile()) odd += 1;
        else if (files.length >= limits.files || length + path.length > limits.pathLength) tooMany += 1;
        else {
          files.push(path);
          length += path.length;
        }
      }
    } catch (error) {
      notes.push(`${directory} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (isStopped()) notes.push(`the list of files is incomplete: listing ${root} took too long`);
  if (odd > 0)
    notes.push(`${String(odd)} entries are not listed: symbolic links, special files or too deep directories`);
  if (tooMany > 0) notes.push(`${String(tooMany)} more files are in ${root}; the list is limited`);
  return files.sort();
}

/** How many entries are read without waiting from a directory that has answered just now: most have fewer. */
const ENTRIES_AT_ONCE = 256;

async function* entriesOf(directory: Dir): AsyncIterable<Dirent> {
  try {
    for (let read = 0; read < ENTRIES_AT_ONCE; read += 1) {
      const entry = directory.readSync();
      if (entry === null) return;
      yield entry;
    }
    for (let entry = await directory.read(); entry !== null; entry = await directory.read()) yield entry;
  } finally {
    directory.closeSync();
  }
}

/** The files of a directory that has nothing but this text as `metadata.json`; null: nothing at all. */
export function artifactsOfText(directory: string, text: string | null, limits = ARTIFACT_LIMITS): Artifacts {
  if (text === null) return { files: [], metadata: {}, notes: [] };
  const notes: string[] = [];
  return { files: [join(directory, 'metadata.json')], ...metadataOf(text, limits, notes), notes };
}

/** The outputs of a run without a directory, by their text; null: none. */
export function outputsOfText(text: string | null, limits = ARTIFACT_LIMITS): Artifacts {
  const notes: string[] = [];
  return { files: [], ...(text === null ? { metadata: {} } : metadataOf(text, limits, notes)), notes };
}

type Metadata = Pick<Artifacts, 'metadata' | 'histories'>;

async function readMetadata(root: string, limits: ArtifactLimits, notes: string[]): Promise<Metadata> {
  try {
    const text = await readBounded(join(root, 'metadata.json'), limits.metadataBytes + HISTORIES_BYTES);
    if (text !== undefined) return metadataOf(text, limits, notes);
    notes.push(tooLarge(limits));
  } catch (error) {
    notes.push(`metadata.json is not used: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { metadata: {} };
}

const tooLarge = ({ metadataBytes }: ArtifactLimits): string =>
  `metadata.json is not used: it is larger than ${String(metadataBytes)} bytes`;

function metadataOf(text: string, limits: ArtifactLimits, notes: string[]): Metadata {
  const refuse = (why: string): Metadata => {
    notes.push(`metadata.json is not used: ${why}`);
    return { metadata: {} };
  };
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return refuse('it must be a JSON object');
    const { histories, ...others } = value;
    const hasHistories = isObjectOfLists(histories);
    const metadata = hasHistories ? others : value;
    if (Buffer.byteLength(hasHistories ? JSON.stringify(metadata) : text) > limits.metadataBytes) {
      notes.push(tooLarge(limits));
      return { metadata: {} };
    }
    if (!isBounded(metadata, limits)) {
      return refuse(
        `it is nested deeper than ${String(limits.metadataDepth)} or has more than ${String(limits.metadataValues)} values`,
      );
    }
    const loss = lossyFault(text, value, { numbers: true });
    if (loss !== undefined) notes.push(`metadata.json loses data: ${loss.pointer} ${loss.detail}`);
    return hasHistories ? { metadata, histories } : { metadata };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const hint =
      /\b(NaN|Infinity)\b/.test(why) || why.includes('"N"') || why.includes("'N'")
        ? ' (JSON has no NaN or Infinity)'
        : '';
    return refuse(`${why}${hint}`);
  }
}

const isObjectOfLists = (value: unknown): value is Record<string, unknown[]> =>
  isJsonObject(value) && Object.values(value).every((it) => Array.isArray(it));

/** A file of so many bytes is read without waiting from a directory that has answered just now. */
const BYTES_AT_ONCE = 64 << 10;
const readText = promisify(readFile);

/** The file's text, or undefined when it is larger. A link or a pipe put in its place is neither followed nor waited for. */
async function readBounded(path: string, maxBytes: number): Promise<string | undefined> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) throw new Error('it is not a regular file');
    if (found.size > maxBytes) return undefined;
    return found.size <= BYTES_AT_ONCE ? readBeginning(fd, found.size) : await readText(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** Reads `size` bytes at most, whatever is appended meanwhile. */
function readBeginning(fd: number, size: number): string {
  const bytes = Buffer.allocUnsafe(size);
  let done = 0;
  for (let count = -1; count !== 0 && done < size; done += count) count = readSync(fd, bytes, done, size - done, done);
  return bytes.toString('utf8', 0, done);
}

/** Level by level, not recursive: the nesting is the simulation's choice. */
function isBounded(value: object, limits: ArtifactLimits): boolean {
  let level: object[] = [value];
  let values = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.metadataDepth) return false;
    const next: object[] = [];
    for (const container of level) {
      for (const member of Object.values(container) as unknown[]) {
        values += 1;
        if (values > limits.metadataValues) return false;
        if (typeof member === 'object' && member !== null) next.push(member);
      }
    }
    level = next;
  }
  return true;
}
