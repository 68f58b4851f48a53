/** `simbatch logs`: the output of a run, its last lines, or what it prints as it runs. */
import { Option, type Command } from 'commander';
import { sleep, systemClock } from '../../../base/clock.ts';
import { ApiError, type Client, type OpenFile } from '../../../client/client.ts';
import { TERMINAL_STATUSES } from '../../../contract/enums.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import type { JobStatus, Uuid } from '../../../contract/types.ts';
import { jobId } from '../../../domain/ids.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { readRuns } from '../../selection/run-files.ts';
import { runsWhere, whereOption } from '../../selection/selected-runs.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { note, write } from '../../terminal/output.ts';

interface LogsFlags extends ClientFlags {
  stream: 'stdout' | 'stderr' | 'both';
  attempt?: number;
  tail?: number;
  follow?: boolean;
  where?: string;
}

/** The bytes that `--tail` reads from the end of a log. */
const TAIL_BYTES = 4 << 20;
/** How often `--follow` looks for more. */
const LOOK_MS = 1_000;

export function logsCommand(): Command {
  return clientCommand('logs', 'print the output of a run, or of the runs that a condition selects', ['text'])
    .argument('<study>', BATCH_ARGUMENT)
    .argument('[run]', 'number of the run', integerBetween(0, INT32_MAX - 1))
    .addOption(whereOption())
    .addOption(new Option('--stream <which>', 'of which stream').choices(['stdout', 'stderr', 'both']).default('both'))
    .option('--attempt <n>', 'of this attempt; otherwise of the last one', integerBetween(1, INT32_MAX))
    .option('--tail <lines>', 'the last lines alone', integerBetween(1, INT32_MAX))
    .option('--follow', 'continue until the run has ended')
    .action(async (reference: string, run: number | undefined, flags: LogsFlags) => {
      if ((run === undefined) === (flags.where === undefined))
        throw new Failure(
          EXIT.usage,
          `${run === undefined ? 'no run is' : 'two kinds of runs are'} given: give a number or --where`,
        );
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      const streams = flags.stream === 'both' ? (['stdout', 'stderr'] as const) : [flags.stream];
      if (run !== undefined) {
        const id = jobId(batchId, run);
        return flags.follow === true ? follow(client, id, streams, flags) : printLogs(client, id, streams, flags);
      }
      if (flags.follow === true) throw new Failure(EXIT.usage, '--follow is for one run: give its number');
      for (const each of readRuns(await runsWhere(client, batchId, flags.where!)).runIds()) {
        note(`==> run ${String(each)} <==`);
        await printLogs(client, jobId(batchId, each), streams, flags);
      }
    });
}

async function printLogs(client: Client, id: Uuid, streams: readonly string[], flags: LogsFlags): Promise<void> {
  let printed = 0;
  for (const stream of streams) {
    const opened = await logOf(client, id, stream, flags, flags.tail === undefined ? 0 : -TAIL_BYTES);
    if (opened === undefined || opened.size === 0) continue;
    if (streams.length > 1) note(`==> ${stream}.log <==`);
    await print(opened, flags.tail);
    printed += 1;
  }
  if (printed === 0) note(nothingOf((await client.job(id)).status));
}

const hasEnded = (status: JobStatus): boolean => TERMINAL_STATUSES.some((it) => it === status);

/** Says that there is no output, and whether there may be some later. */
function nothingOf(status: JobStatus): string {
  if (hasEnded(status)) return 'the run has printed nothing';
  return status === 'Pending' ? 'the run waits for a runner' : 'the run has printed nothing so far';
}

/** Undefined for a log that is empty, and was removed at the end of the run. */
async function logOf(
  client: Client,
  id: Uuid,
  stream: string,
  { attempt }: LogsFlags,
  start: number,
): Promise<OpenFile | undefined> {
  try {
    return await client.files.read(id, `${stream}.log`, { start, ...(attempt === undefined ? {} : { attempt }) });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'range-not-satisfiable') return undefined;
    if (error.code !== 'unknown-file' || error.message.includes('no attempt')) throw error;
    return undefined;
  }
}

async function print({ content }: OpenFile, tail: number | undefined): Promise<void> {
  if (tail === undefined) {
    for await (const piece of content) await write(piece);
    return;
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  const lines = Buffer.concat(pieces).toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  await write(`${lines.slice(-tail).join('\n')}\n`);
}

/** Prints what is added to each log, until the run has ended and all is printed. */
async function follow(client: Client, id: Uuid, streams: readonly string[], flags: LogsFlags): Promise<void> {
  const places = new Map<string, number>(streams.map((it) => [it, flags.tail === undefined ? 0 : -TAIL_BYTES]));
  let tail = flags.tail;
  for (;;) {
    const { status } = await client.job(id);
    for (const [stream, at] of places) {
      const opened = await logOf(client, id, stream, flags, at);
      if (opened === undefined) continue;
      if (at > opened.size) throw new Failure(EXIT.conflict, 'a new attempt has begun; start again to follow it');
      places.set(stream, opened.size);
      if (opened.start >= at || at < 0) await print(opened, tail);
      else opened.close();
    }
    tail = undefined;
    if (hasEnded(status)) return;
    await sleep(systemClock, LOOK_MS);
  }
}
