/** The input of an attempt: the plan, and what the machine contributes. */
import type { Clock } from '../../base/clock.ts';
import { RecentMap } from '../../base/recent-map.ts';
import type { Plan as HistoryPlan } from '../../domain/histories/stream/plan.ts';
import type { EngineCodes, RunCode } from '../code/engine-codes.ts';
import type { EarlyTerminationConfig, JobRunConfig, TelemetryConfig, Uuid } from '../../contract/types.ts';
import type { Engine } from '../config/config.ts';
import type { Containers, ContainerWish } from '../containers/containers.ts';
import type { LauncherChoice } from '../launch/launchers.ts';
import type { Archiver } from '../files/archive/archiver.ts';
import type { Uploads } from '../files/uploads.ts';
import type { StoredCheckpoints } from '../checkpoints/stored-checkpoints.ts';
import type { ParentPlace, ParentRuns } from './extraction/parent-runs.ts';
import type { FunctionFiles } from '../functions/function-files.ts';
import { deviceVariables } from '../processes/devices.ts';
import type { Log } from '../log.ts';
import type { ListenerPool } from '../telemetry-listeners.ts';
import type { LiveViews } from '../telemetry/live/views.ts';
import type { Sample } from '../telemetry/sample.ts';
import type { Waits } from '../waits.ts';
import type { CgroupLimits } from '../processes/cgroups.ts';
import type { ProcessTools } from '../processes/process-scope.ts';

/** The run to be executed. */
export interface ExecutionPlan {
  runConfig: JobRunConfig;
  telemetry: TelemetryConfig;
  earlyTermination: EarlyTerminationConfig;
  /** Its histories and derived outputs; absent: the study declares none. */
  histories?: HistoryPlan | undefined;
  /** `compute.container.environment`. */
  environment: Readonly<Record<string, string>> | null;
  /** The container that the study names; used where the site has containers. */
  container?: ContainerWish | undefined;
  /** `compute.container.memory_limit` and `cpu_limit`; they take effect where there are cgroups. */
  limits: CgroupLimits;
  /** 0: no limit. */
  timeoutSecs: number;
  /** Just before its start was reported, from which the coordinator counts the limit; monotonic. Absent: there is no coordinator. */
  sinceMs?: number | undefined;
  engine: Engine;
  /** The study wants its runs in processes that execute many. */
  isShared?: boolean | undefined;
  /** The runner itself computes it of the files of a finished run; nothing is started. */
  isComputed?: boolean | undefined;
  /** Where its program finds the files of a finished run, of an extraction. */
  parent?: ParentPlace | undefined;
  /** The lane of its slot, if it shares one. */
  lane?: number | undefined;
  /** The GPUs that are its own; absent: the runner pins none. */
  devices?: readonly string[] | undefined;
  /** The function of the study, of a simulation that is one. */
  code?: { batchId: Uuid; sha256: string } | undefined;
  /** The code that its start has reported; no other one is executed. Undefined: not known. */
  reported?: RunCode | undefined;
  /** The output directory; must not exist yet. Absolute. */
  directory: string;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** Where the run may keep its state for a later attempt; absolute. Undefined: nowhere. */
  checkpointDirectory?: string | undefined;
  /** Sentences about its checkpoint for the reader of the result; asked for when the run has ended. */
  notes?: (() => readonly string[]) | undefined;
  /** Where the run configuration file is written. Absolute, outside the output directory. */
  runConfigPath: string;
}

/** The properties of this machine. */
export interface ExecutionSite {
  clock: Clock;
  log: Log;
  waits: Waits;
  processes: ProcessTools;
  /** Ports for telemetry; absent: each run opens one. */
  listeners?: ListenerPool;
  launchers: LauncherChoice;
  /** Looks at the code of runs; absent: nothing is known of it. */
  codes?: Pick<EngineCodes, 'of' | 'isOther' | 'changeSince'>;
  /** Undefined: simulations run on the machine itself. */
  containers?: Containers | undefined;
  /** The interpreter of .py entrypoints, when there is one. */
  python: string | undefined;
  /** The environment simulations inherit; see `inheritedEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** Patterns of variables that studies may set besides the default ones. */
  environmentAllowed: readonly string[];
  workingDirectory: string;
  /** Reads functions of studies; absent where none are executed. */
  functions?: FunctionFiles;
  /** Sends files of runs to an object store. */
  uploads?: Uploads;
  /** Makes one archive of the files of each run; absent: they stay as they are. */
  archiver?: Pick<Archiver, 'archive'> | undefined;
  /** Serves live telemetry of runs whose studies ask for it; absent where the runner serves no files. */
  live?: LiveViews | undefined;
  /** Finds the finished runs that extractions are about; absent where no coordinator gives any. */
  parents?: ParentRuns;
  /** Passes checkpoints of runs on through an object store. */
  storedCheckpoints?: StoredCheckpoints;
  /** Aborted, with the reason, when the runner of these runs is stopped. */
  leaving?: AbortSignal;
  /** Called with each telemetry sample as it arrives; for a person who watches. */
  onSample?: (sample: Sample) => void;
}

/** The variables of the run contract by which the program of an extraction finds a finished run. */
export const parentVariables = ({ parent }: Pick<ExecutionPlan, 'parent'>): Record<string, string> =>
  parent === undefined ? {} : { SVC_PARENT_DIR: parent.files, SVC_PARENT_RESULT: parent.result };

/** The variables by which a simulation continues an earlier attempt and finds its own GPUs. */
export function continuationOf({
  attempt,
  checkpointDirectory,
  devices,
}: Pick<ExecutionPlan, 'attempt' | 'checkpointDirectory' | 'devices'>): Record<string, string> {
  const own =
    devices === undefined
      ? { SVC_ATTEMPT: String(attempt) }
      : { SVC_ATTEMPT: String(attempt), ...deviceVariables(devices) };
  return checkpointDirectory === undefined ? own : { ...own, SVC_CHECKPOINT_DIR: checkpointDirectory };
}

/** Environments that are remembered for each inherited one. */
const MOST_ENVIRONMENTS = 16;
const environments = new WeakMap<object, RecentMap<string, Readonly<Record<string, string>>>>();

/** The path of a function, or all that a study adds to the environment. */
const keyOf = (environment: ExecutionPlan['environment'], path: string | undefined): string =>
  environment === null ? (path ?? '') : JSON.stringify([environment, path]);

/**
 * The environment of a run without the run contract: inherited, the study's, and where its function is. The same object for
 * the runs of a study, so that it is passed on once.
 */
export function environmentOf(
  { env, functions }: Pick<ExecutionSite, 'env' | 'functions'>,
  { environment, code }: Pick<ExecutionPlan, 'environment' | 'code'>,
): Readonly<Record<string, string>> {
  const path = code === undefined ? undefined : functions?.pathOf(code.sha256);
  const known = environments.get(env) ?? new RecentMap<string, Readonly<Record<string, string>>>(MOST_ENVIRONMENTS);
  environments.set(env, known);
  const key = keyOf(environment, path);
  const found = known.get(key);
  if (found !== undefined) return found;
  const own = { ...env, ...environment, ...(path === undefined ? {} : { SVC_FUNCTION: path }) };
  known.set(key, own);
  return own;
}
