/** The list of the files of a run: from its runner where that serves files, else from the stored result. */
import type { Abandoned } from '../../base/abandonment.ts';
import { RunnerFiles } from '../../contract/resources/files.ts';
import { schemaFaults } from '../../contract/validation/validate.ts';
import { fileKindOf, filePathFault, pathInAttempt } from '../../domain/runs/file-path.ts';
import type { RunFile, RunFiles, StoredResult, Uuid } from '../../contract/types.ts';
import { ObjectStoreError, type ListedObject } from './object-store/object-store.ts';
import { objectOf } from './uploads.ts';
import { fileAttempt, silenceOf, type FileAttempt, type FileAttemptParts } from './file-attempt.ts';
import { NoAnswer } from './runner/file-requests.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { ObjectStorePart } from './run-place.ts';

interface RunFilesParts extends FileAttemptParts, ObjectStorePart {
  share: EventLoopShare;
}

/**
 * Lists the files of an attempt, by default of the last one.
 * @param stop aborts when the client has left.
 * @throws SimbatchError `unknown-job`, `unknown-file` for an unknown attempt, `too-many-requests`
 */
export async function jobFiles(
  parts: RunFilesParts,
  jobId: Uuid,
  wanted: number | undefined,
  stop: Abandoned,
): Promise<RunFiles> {
  const attempt = fileAttempt(parts, jobId, wanted);
  if (attempt === undefined) {
    return { job_id: jobId, attempt: 0, is_readable: false, files: [], notes: ['the run has not been claimed yet'] };
  }
  const { attempt: number, runnerId, result } = attempt;
  const head = { job_id: jobId, attempt: number, runner_id: runnerId };
  const { files: stored, fault } = result === undefined ? NONE_UPLOADED : await uploadedFiles(parts, result);
  const notes = (result?.upload?.failed ?? []).map((it) => `not uploaded: ${it}`);
  const isAllStored = result !== undefined && stored.length > 0 && notes.length === 0 && isWhole(result);
  if (fault !== undefined) notes.push(fault.note);
  const isServed = stored.length > 0 && fault?.isUnserved !== true;
  if (isAllStored) return { ...head, is_readable: isServed, files: stored, notes };
  const found = await listOfRunner(parts, attempt, stop);
  if (typeof found !== 'string') {
    const files = found.files.map(({ path, bytes, modified_ms }): RunFile => {
      const modified_at = new Date(Math.min(Math.max(0, modified_ms), LAST_INSTANT_MS)).toISOString();
      const address = `${found.directory}/${path}`;
      return { path, kind: fileKindOf(path), bytes, modified_at, place: 'runner', address };
    });
    return { ...head, is_readable: true, files: merged(files, stored), notes: [...notes, ...found.notes] };
  }
  const files = result === undefined ? [] : await filesOfResult(parts, result);
  const source =
    result === undefined ? 'no result names its files' : 'the files are those of the result, without their sizes';
  return { ...head, is_readable: isServed, files: merged(files, stored), notes: [...notes, found, source] };
}

/** Whether every file of the result is in an object store. */
const isWhole = ({ output_files }: StoredResult): boolean => output_files.every((it) => it.startsWith('s3://'));

/** The files with those of the object store in the place of others of the same path. */
function merged(files: readonly RunFile[], stored: readonly RunFile[]): RunFile[] {
  if (stored.length === 0) return [...files];
  const paths = new Set(stored.map((it) => it.path));
  return [...stored, ...files.filter((it) => !paths.has(it.path))];
}

interface UploadedFiles {
  files: RunFile[];
  /** Why their sizes are not known. `isUnserved`: this coordinator does not read their object store. */
  fault?: { note: string; isUnserved: boolean };
}

const NONE_UPLOADED: UploadedFiles = { files: [] };

/** The files of a result that are in the object store, with sizes where it can be asked. */
async function uploadedFiles(
  parts: RunFilesParts,
  { output_files, telemetry_data }: StoredResult,
): Promise<UploadedFiles> {
  const addresses = [...output_files, telemetry_data ?? ''].filter((it) => it.startsWith('s3://'));
  const [one] = addresses;
  if (one === undefined) return NONE_UPLOADED;
  const first = objectOf(parts, one);
  const sizes = new Map<string, ListedObject>();
  let fault: UploadedFiles['fault'];
  if (first === undefined) {
    const note = `the files are in an object store that this coordinator does not read (${one.slice(0, 200)}); start it with the options --s3-*`;
    fault = { note, isUnserved: true };
  } else {
    const prefix = /^(.*\/attempt-\d+\/)/.exec(first.key)?.[1] ?? first.key;
    const listed = await first.store.list(first.bucket, prefix).catch((error: unknown) => {
      if (!(error instanceof ObjectStoreError)) throw error;
      fault = { note: `the sizes of the uploaded files are not known: ${error.message}`, isUnserved: false };
      return [];
    });
    for (const it of listed) sizes.set(`s3://${first.bucket}/${it.key}`, it);
  }
  const fileOf = (address: string): RunFile => {
    const path = pathInAttempt(address) ?? address;
    const object = sizes.get(address);
    const known =
      object === undefined || !Number.isFinite(object.modifiedMs)
        ? {}
        : { bytes: object.bytes, modified_at: new Date(object.modifiedMs).toISOString() };
    return { path, kind: fileKindOf(path), ...known, place: 'object-store', address };
  };
  const files: RunFile[] = [];
  for await (const part of parts.share.mapped(new Set(addresses), fileOf)) files.push(...part);
  return fault === undefined ? { files } : { files, fault };
}

/** The last instant of a four-digit year. */
const LAST_INSTANT_MS = 253_402_300_799_999;

/** Why there is none, as a sentence. */
async function listOfRunner(
  parts: RunFilesParts,
  attempt: FileAttempt,
  stop: Abandoned,
): Promise<RunnerFiles | string> {
  const { jobId, attempt: number, runnerId } = attempt;
  try {
    const question = { type: 'list' as const, job_id: jobId, attempt: number };
    const answer = await parts.fileRequests.ask(runnerId, question, stop);
    if (answer.type === 'refused') return `runner "${runnerId}" cannot list its files: ${answer.detail}`;
    const found = listFrom(answer.bytes);
    return found ?? `runner "${runnerId}" sent a list of files that cannot be read; update its program`;
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return silenceOf(parts, runnerId);
  }
}

function listFrom(bytes: Uint8Array): RunnerFiles | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (schemaFaults(RunnerFiles, value).length > 0) return undefined;
    const list = value as RunnerFiles;
    return list.files.some((it) => filePathFault(it.path) !== undefined) ? undefined : list;
  } catch {
    return undefined;
  }
}

async function filesOfResult(parts: RunFilesParts, { output_files, telemetry_data }: StoredResult): Promise<RunFile[]> {
  const addresses = new Set([...output_files, ...(telemetry_data == null ? [] : [telemetry_data])]);
  const files: RunFile[] = [];
  const fileOf = (address: string): RunFile => {
    const path = pathInAttempt(address) ?? address;
    return { path, kind: fileKindOf(path), place: 'runner', address };
  };
  // A result may name a hundred thousand files.
  for await (const part of parts.share.mapped(addresses, fileOf)) files.push(...part);
  return files;
}
