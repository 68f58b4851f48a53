/**
 * Sends the files that runners left in an output root, without a runner: for machines on which none runs any more. It continues where
 * the latest try ended, however that ended, and can be repeated.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../client/client.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { Spool, type SpooledAttempt } from '../spool.ts';
import { oneLine } from '../system-error.ts';
import { Waits } from '../waits.ts';
import { isSuperseded, tryUpload } from './try-upload.ts';

export interface PushOptions {
  outputRoot: string;
  /** Only studies whose ids begin with it; undefined: all. */
  study: string | undefined;
  /** The client for the coordinator of a runner, with its credential. */
  clientOf: (origin: RunnerOrigin) => Client;
  clock: Clock;
  /** Called after each file, with the files that were to be sent when the push began. */
  onProgress: (done: number, total: number) => void;
}

/** A runner as it is known on its disk. */
export interface RunnerOrigin {
  runnerId: string;
  /** The coordinator that it used, and its file with the credential; absent: it had none, or was older. */
  endpoint?: string;
  tokenFile?: string;
}

/** The files of one runner after a push. */
export interface PushedRunner {
  runner_id: string;
  sent: number;
  /** Files that are still to be sent, with the reason. */
  left: number;
  reason?: string;
  /** Files that will never be sent, by their absolute paths, each with the reason. */
  lost: string[];
  /** Files of attempts whose files the coordinator does not want: a later attempt ended the run, or the study was deleted. */
  superseded: number;
}

/** The runners that have left state in an output root. */
export function runnersIn(outputRoot: string): string[] {
  const folder = join(outputRoot, '.simbatch-runner');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((id) => existsSync(join(folder, id, 'spool')))
    .sort();
}

/**
 * Yields each runner that has files, when its files were tried. A runner that runs on this machine sends its files itself, and is yielded as such.
 * @throws UnreachableError, ApiError when the coordinator does not answer or refuses the credential; what was sent before is sent
 */
export async function* push(options: PushOptions): AsyncGenerator<PushedRunner> {
  const waits = new Waits(options.clock);
  const progress = { done: 0, total: 0 };
  for (const runnerId of runnersIn(options.outputRoot)) {
    const pushed: PushedRunner = { runner_id: runnerId, sent: 0, left: 0, lost: [], superseded: 0 };
    let spool: Spool;
    try {
      spool = await Spool.openLeft(options.outputRoot, runnerId, waits);
    } catch (error) {
      if (!(error instanceof SimbatchError)) throw error;
      const why = error.code === 'store-locked' ? 'it is running here, and sends its files itself' : error.message;
      yield { ...pushed, reason: why };
      continue;
    }
    try {
      const records = (await spool.leftovers()).filter((it) => isWanted(it, options.study));
      progress.total += records.reduce((sum, it) => sum + (it.upload?.files.length ?? 0), 0);
      if (records.length === 0) continue;
      await pushRunner(options, spool, records, pushed, progress);
      yield pushed;
    } finally {
      await spool.close();
    }
  }
}

const isWanted = ({ job_id, upload }: SpooledAttempt, study: string | undefined): boolean =>
  upload !== undefined && (study === undefined || batchIdOf(job_id).startsWith(study));

async function pushRunner(
  { clientOf, clock, onProgress }: PushOptions,
  spool: Spool,
  records: readonly SpooledAttempt[],
  pushed: PushedRunner,
  progress: { done: number; total: number },
): Promise<void> {
  const { runner_id: runnerId } = pushed;
  const link = {
    client: clientOf({ runnerId, ...spool.origin }),
    ask: <T>(exchange: () => Promise<T>): Promise<T> => exchange(),
    clock,
    stop: new AbortController().signal,
    runnerId,
    spool,
    onFile: () => onProgress(++progress.done, progress.total),
  };
  for (const record of records) {
    const files = record.upload?.files.length ?? 0;
    if (record.outcome !== undefined) {
      pushed.left += files;
      pushed.reason = 'an outcome of the runner is not delivered; start it again, so that it reports and sends all';
      continue;
    }
    try {
      const { sent, lost, record: after, reason } = await tryUpload(link, record);
      pushed.sent += sent;
      pushed.lost.push(...lost.map(({ path, detail }) => `${join(record.directory, path)}: ${detail}`));
      pushed.left += after.upload?.files.length ?? 0;
      if (reason !== undefined) pushed.reason = reason;
    } catch (error) {
      if (!isSuperseded(error)) throw error;
      pushed.superseded += files;
      pushed.reason ??= oneLine(error);
      spool.finished(record);
    }
  }
}
