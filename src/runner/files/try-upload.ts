/**
 * One try to send the files of a run that has ended, in groups: a group is reported before the spool forgets its files, so that a
 * crash in between sends it again. A file that is gone or has changed since the run ended is named in the result and never sent.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, type Client } from '../../client/client.ts';
import type { Clock } from '../../base/clock.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { SignedUpload, UploadCompleteRequest, UploadRequest } from '../../contract/types.ts';
import { Stopped } from '../connection/coordinator-connection.ts';
import type { Spool, SpooledAttempt } from '../spool.ts';
import { oneLine } from '../system-error.ts';
import { Final, isUnavailable, repeated } from './object-transfer.ts';
import { readPart } from './read-part.ts';
import { digestFile, sendFile, type FileDigests, type ReadBytes } from './send-file.ts';

/** The coordinator, the spool and the runner for which files are sent. */
export interface UploadLink {
  client: Pick<Client, 'files'>;
  /** An exchange with the coordinator. @throws ApiError when it refuses; Stopped */
  ask: <T>(exchange: () => Promise<T>) => Promise<T>;
  clock: Clock;
  /** Aborted when nothing more is to be sent. */
  stop: AbortSignal;
  /** The runner that executed the run. */
  runnerId: string;
  spool: Pick<Spool, 'running' | 'finished'>;
  /** Called when a file is in the object store, or lost. */
  onFile?: (path: string) => void;
}

/** The end of a try. */
export interface Tried {
  /** Files that are in the object store by it. */
  sent: number;
  /** Files that will never be sent, with the reason. */
  lost: Failed[];
  /** The attempt with the files that are left; none: the spool has forgotten it. */
  record: SpooledAttempt;
  /** Why files are left. */
  reason?: string;
}

type Sent = UploadCompleteRequest['files'][number];
type Failed = UploadCompleteRequest['failed'][number];
type Declared = FileDigests & { path: string };

/** Files of one exchange with the coordinator; it takes a hundred. */
const FILES_AT_ONCE = 20;
const DETAIL_LENGTH = 500;

/** Refusals by which the files of an attempt are not wanted: a later attempt ended the run, or the study was deleted. */
const SUPERSEDED = new Set(['stale-attempt', 'unknown-job', 'unknown-batch']);

/** Whether the coordinator does not want the files of the attempt, now and later. */
export const isSuperseded = (error: unknown): error is ApiError =>
  error instanceof ApiError && SUPERSEDED.has(error.code);

/** Another one when the file was written to: the time of its last change and its size. A copy of the folder keeps both. */
export const versionOf = ({ mtimeMs, size }: { mtimeMs: number; size: number }): string =>
  `${String(Math.round(mtimeMs * 1000))}-${String(size)}`;

/**
 * Sends as many files of an attempt as the store takes; ends early when it takes none.
 * @param reported the reason that the coordinator has of an earlier try
 * @throws ApiError when the coordinator refuses, Stopped
 */
export async function tryUpload(link: UploadLink, start: SpooledAttempt, reported?: string): Promise<Tried> {
  const tried: Tried = { sent: 0, lost: [], record: start };
  let todo = start.upload?.files ?? [];
  const left: string[] = [];
  while (todo.length > 0) {
    const group = todo.slice(0, FILES_AT_ONCE);
    todo = todo.slice(FILES_AT_ONCE);
    const { sent, lost, missed, reason } = await reportGroup(link, tried.record, group, {
      others: left.length + todo.length,
      earlier: tried.reason,
      reported: tried.reason ?? reported,
    });
    left.push(...missed);
    tried.sent += sent.length;
    tried.lost.push(...lost);
    if (reason !== undefined) tried.reason = reason;
    const files = [...left, ...todo];
    tried.record = { ...tried.record, upload: { ...tried.record.upload, files } };
    if (files.length === 0) link.spool.finished(tried.record);
    else if (files.length < (start.upload?.files.length ?? 0)) await link.spool.running(tried.record);
    // The store takes nothing now.
    if (sent.length === 0 && missed.length > 0) break;
  }
  return tried;
}

interface Group {
  sent: Sent[];
  lost: Failed[];
  missed: string[];
  reason?: string;
}

/** Sends a group, and reports it to the coordinator, which gets no reason twice. */
async function reportGroup(
  link: UploadLink,
  record: SpooledAttempt,
  paths: readonly string[],
  { others, earlier, reported }: { others: number; earlier: string | undefined; reported: string | undefined },
): Promise<Group> {
  const group = await sendGroup(link, record, paths);
  const report = (): Promise<unknown> => {
    const { sent: files, lost: failed, missed, reason = earlier } = group;
    const left = others + missed.length;
    const why = left > 0 && reason !== undefined ? { reason } : {};
    return complete(link, record, { files, failed, left, ...why });
  };
  const hasNews = group.sent.length + group.lost.length > 0 || (group.reason ?? earlier) !== reported;
  try {
    if (hasNews) await repeated(report, link);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    // The store did not confirm them.
    group.missed.push(...group.sent.map((it) => it.path));
    group.sent = [];
    group.reason = detailOf(error);
    await report();
  }
  for (const { path } of [...group.sent, ...group.lost]) link.onFile?.(path);
  return group;
}

/** @throws ApiError when the coordinator refuses, Stopped */
async function sendGroup(link: UploadLink, record: SpooledAttempt, paths: readonly string[]): Promise<Group> {
  const group: Group = { sent: [], lost: [], missed: [] };
  const fail = async (path: string, error: unknown): Promise<void> => {
    const loss = await lossOf(record, path);
    if (loss !== undefined) group.lost.push({ path, detail: loss });
    else {
      group.missed.push(path);
      group.reason = `${path}: ${detailOf(error)}`.slice(0, LIMITS.reasonLength);
    }
  };
  const files: Declared[] = [];
  for (const path of paths) {
    const loss = await lossOf(record, path);
    if (loss !== undefined) group.lost.push({ path, detail: loss });
    else
      await digestFile(record.directory, path, link.clock).then(
        (it) => files.push({ path, ...it }),
        (error) => fail(path, error),
      );
  }
  if (files.length === 0) return group;
  const atMs = link.clock.monotonicMs();
  let signed: readonly SignedUpload[];
  try {
    signed = (await repeated(() => begin(link, record, files), link)).files;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    group.missed.push(...files.map((it) => it.path));
    return { ...group, reason: detailOf(error) };
  }
  let isAway = false;
  for (const [index, file] of files.entries()) {
    if (isAway) group.missed.push(file.path);
    else
      try {
        group.sent.push(await sendOne(link, record, file, { upload: signed[index], atMs }));
      } catch (error) {
        if (error instanceof Stopped || (error instanceof ApiError && !isUnavailable(error))) throw error;
        // A store that refuses a file may take the next; a store that does not answer takes none.
        isAway = !(error instanceof Final);
        await fail(file.path, error);
      }
  }
  return group;
}

async function sendOne(
  link: UploadLink,
  record: SpooledAttempt,
  file: Declared,
  { upload, atMs }: { upload: SignedUpload | undefined; atMs: number },
): Promise<Sent> {
  const { path } = file;
  if (upload?.path !== path) throw new Final('the coordinator signed addresses of another file');
  const { upload_id } = upload;
  // The store has it: the answer to its completion was lost.
  if (upload_id === undefined) return { path, etags: [] };
  const renew = async (): Promise<SignedUpload> => {
    const [again] = (await begin(link, record, [{ ...file, upload_id }])).files;
    if (again === undefined) throw new Final('the coordinator signed no address for it');
    return again;
  };
  const read: ReadBytes = (offset, length) => readPart(record.directory, path, { offset, length, maxBytes: Infinity });
  const etags = await sendFile(read, { upload, atMs, renew }, file, link);
  // A file that changed before its digest was read is not the file of the run.
  const loss = await lossOf(record, path);
  if (loss !== undefined) throw new Final(loss);
  return { path, upload_id, etags };
}

function begin(link: UploadLink, record: SpooledAttempt, declared: readonly (Declared & { upload_id?: string })[]) {
  const files = declared.map(({ version: _, ...file }): UploadRequest['files'][number] => file);
  const request = { runner_id: link.runnerId, attempt: record.attempt, files };
  return link.ask(() => link.client.files.beginUpload(record.job_id, request));
}

function complete(
  link: UploadLink,
  { job_id, attempt }: SpooledAttempt,
  outcome: Omit<UploadCompleteRequest, 'runner_id' | 'attempt'>,
): Promise<unknown> {
  const request = { runner_id: link.runnerId, attempt, ...outcome };
  return link.ask(() => link.client.files.completeUpload(job_id, request));
}

/** Why a file can never be sent as the run has left it; undefined when it can, or when the disk does not say. */
async function lossOf({ directory, upload }: SpooledAttempt, path: string): Promise<string | undefined> {
  try {
    const found = await lstat(join(directory, path));
    if (!found.isFile()) return 'it is not a regular file any more';
    if (found.size > LIMITS.uploadBytes) {
      return `it has ${String(found.size)} bytes, more than the ${String(LIMITS.uploadBytes)} that are uploaded`;
    }
    const known = upload?.versions?.[path];
    return known === undefined || known === versionOf(found) ? undefined : 'it has changed since the run ended';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'it is not there any more' : undefined;
  }
}

const detailOf = (error: unknown): string => oneLine(error).slice(0, DETAIL_LENGTH);
