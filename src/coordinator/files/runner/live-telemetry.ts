/** Reads the live telemetry of a running run from its runner, over the connection by which the runner serves files. */
import type { Abandoned } from '../../../base/abandonment.ts';
import type { Static, TSchema } from 'typebox';
import { RunnerLiveHead, RunnerLiveVariable } from '../../../contract/resources/live-telemetry.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { schemaFaults } from '../../../contract/validation/validate.ts';
import { parseCondition } from '../../../domain/study/condition.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { pathInAttempt } from '../../../domain/files/file-path.ts';
import type {
  EarlyTerminationConfig,
  LiveCondition,
  LiveTelemetry,
  LiveVariable,
  StoredResult,
  Uuid,
} from '../../../contract/types.ts';
import { isTerminal } from '../../kernel/actors/actor-kinds.ts';
import { keys } from '../../kernel/storage/keys.ts';
import { NoAnswer, type FileRequests } from './file-requests.ts';
import type { Clock } from '../../../base/clock.ts';
import type { EventLoopShare } from '../../../base/event-loop-share.ts';
import type { LiveReadings } from './live-readings.ts';
import { type StoreReader, readJob } from '../../kernel/records/lookup.ts';

interface LiveTelemetryParts extends StoreReader {
  clock: Clock;
  share: EventLoopShare;
  fileRequests: FileRequests;
  liveReadings: LiveReadings;
}

/** The runner answers from its memory: after this time a reader learns that it does not. */
export const LIVE_ANSWER_MS = 5_000;
/** Longest line, in characters: a variable with all its points has fewer. Longer lines would hold the event loop. */
const LINE_LENGTH = 100_000;

/**
 * Reads the live telemetry of the attempt that runs. Readers of the same attempt share an answer for a moment.
 * @param stop aborts when the client has left.
 * @throws SimbatchError `unknown-job`; `run-not-running`, which names the telemetry file of a run that has ended;
 * `live-telemetry-off`; `live-telemetry-unavailable`; `too-many-requests`
 */
export async function liveTelemetry(parts: LiveTelemetryParts, jobId: Uuid, stop: Abandoned): Promise<LiveTelemetry> {
  const { state, batchState } = readJob(parts, parts.store, jobId);
  const { context, value } = state;
  if (isTerminal(value)) throw ended(parts, jobId, value);
  const { config } = parts.studyCache.of(batchState.context).submission;
  if (config.telemetry.live !== true) {
    throw new SimbatchError(
      'live-telemetry-off',
      `the study of run ${jobId} does not keep live telemetry: config.telemetry.live is not true; submit it with "live": true in config.telemetry`,
    );
  }
  const record = context.attempts.at(-1);
  if (value !== 'Running' || record === undefined) {
    throw new SimbatchError('run-not-running', `run ${jobId} is ${value}, not Running; ask again when it runs`);
  }
  const attempt = { jobId, number: record.n, runnerId: record.runner };
  const read = async (): Promise<LiveTelemetry> => {
    const found = await fromRunner(parts, attempt);
    const { conditions, shadow } = conditionsOf(config.early_termination);
    const { samples, refused, lost, omitted, hit } = found.head;
    return {
      job_id: jobId,
      attempt: attempt.number,
      runner_id: attempt.runnerId,
      samples,
      refused,
      lost,
      omitted,
      ...(hit === undefined ? {} : { hit }),
      variables: found.variables,
      conditions,
      shadow,
    };
  };
  return await parts.liveReadings.read(`${jobId}/${String(record.n)}`, read, stop);
}

interface RunningAttempt {
  jobId: Uuid;
  number: number;
  runnerId: string;
}

interface Found {
  head: RunnerLiveHead;
  variables: LiveVariable[];
}

async function fromRunner(parts: LiveTelemetryParts, { jobId, number, runnerId }: RunningAttempt): Promise<Found> {
  const late = new AbortController();
  const cancel = parts.clock.after(LIVE_ANSWER_MS, () => late.abort(new NoAnswer()));
  try {
    const question = { type: 'live' as const, job_id: jobId, attempt: number };
    const answer = await parts.fileRequests.ask(runnerId, question, late.signal);
    if (answer.type === 'refused') {
      const remedy = answer.fault === 'unknown-file' ? 'ask again' : 'update its program if it is an older version';
      throw unavailable(jobId, `runner "${runnerId}" does not send it: ${answer.detail}; ${remedy}`);
    }
    const found = await viewFrom(parts, answer.bytes);
    if (found !== undefined) return found;
    throw unavailable(jobId, `runner "${runnerId}" sent what cannot be read; update its program`);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const why = parts.fileRequests.isServing(runnerId)
      ? 'does not answer; ask again'
      : 'does not serve files, or has lost its connection; start it with --serve-files';
    throw unavailable(jobId, `runner "${runnerId}" ${why}`);
  } finally {
    cancel();
  }
}

/** The answer of a runner: undefined unless each line has the documented shape. Read in slices, since it may have a MiB. */
async function viewFrom({ share }: LiveTelemetryParts, bytes: Uint8Array): Promise<Found | undefined> {
  const [first = '', ...lines] = Buffer.from(bytes)
    .toString('utf8')
    .split('\n', LIMITS.liveVariables + 2);
  if (lines.length > LIMITS.liveVariables) return undefined;
  const head = parsed(RunnerLiveHead, first);
  if (head === undefined) return undefined;
  const variables: LiveVariable[] = [];
  const names = new Set<string>();
  for await (const part of share.mapped(lines, (line) => parsed(RunnerLiveVariable, line))) {
    for (const it of part) {
      if (it === undefined || names.has(it.name) || !isPlottable(it)) return undefined;
      names.add(it.name);
      variables.push(it);
    }
  }
  return { head, variables };
}

function parsed<T extends TSchema>(schema: T, line: string): Static<T> | undefined {
  if (line.length > LINE_LENGTH) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return schemaFaults(schema, value).length === 0 ? (value as Static<T>) : undefined;
  } catch {
    return undefined;
  }
}

const isPlottable = ({ time_s: times, values }: LiveVariable): boolean =>
  times.length === values.length && times.every((time, at) => at === 0 || time >= (times[at - 1] ?? time));

/** The conditions that the runner evaluates. */
function conditionsOf({ enabled, conditions, shadow = false }: EarlyTerminationConfig): {
  conditions: LiveCondition[];
  shadow: boolean;
} {
  if (!enabled) return { conditions: [], shadow };
  const found = conditions.flatMap(({ variable, condition }) => {
    const read = parseCondition(condition);
    return typeof read === 'string' ? [] : [{ variable, condition, threshold: read.threshold }];
  });
  return { conditions: found, shadow };
}

function ended({ store }: LiveTelemetryParts, jobId: Uuid, status: string): SimbatchError {
  const text = store.get(keys.result(jobId));
  const address = text === undefined ? undefined : (JSON.parse(text) as StoredResult).telemetry_data;
  const place =
    address == null
      ? 'it left no telemetry file'
      : `its telemetry is in ${JSON.stringify(address)}; read /jobs/${jobId}/files/${encodeURIComponent(pathInAttempt(address) ?? 'telemetry.parquet')}`;
  return new SimbatchError('run-not-running', `run ${jobId} is ${status}: ${place}`);
}

const unavailable = (jobId: Uuid, why: string): SimbatchError =>
  new SimbatchError('live-telemetry-unavailable', `the live telemetry of run ${jobId} cannot be read: ${why}`);
