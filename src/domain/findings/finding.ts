/** The shape of findings: the situation of a study, the rules that look at it, and words that their messages share. */
import type { AttemptSummary } from '../runs/attempt-tally.ts';
import { refusalsOf, type ContainerWish } from '../runner-settings.ts';
import type { CanaryStudy } from '../probe/canary-finding.ts';
import { executesPinned, type CodePin } from '../code-pin.ts';
import { type Declaring, hasFeatures } from '../histories/feature.ts';
import {
  endsInTime,
  fits,
  freeCapacityOf,
  provides,
  supports,
  type ResourceRequest,
  type RunLength,
} from '../scheduling.ts';
import type {
  BatchStatus,
  BatchTelemetry,
  EarlyTerminationConfig,
  Finding,
  JobStatus,
  OutboxRecord,
  PrecisionReached,
  Runner,
  RunsWithoutFiles,
  SitePool,
  StoredCode,
  StoreFault,
  UnsentFiles,
  UnservedRuns,
  Uuid,
} from '../../contract/types.ts';

/** A runner on which attempts of the study fail more often than on the others; both shares are of finished attempts. */
export interface FailingRunner {
  runnerId: string;
  failed: number;
  finished: number;
  othersFailed: number;
  othersFinished: number;
}

/** A runner with files of the study that are to be sent to the object store. */
export interface OutboxPlace extends Omit<OutboxRecord, 'atMs'> {
  runnerId: string;
  /** It is Offline, or no longer in the pool. */
  isGone: boolean;
  /** How long nothing was sent and no run has ended there. */
  idleMs: number;
}

/** The work of launchers for the runs of a study. */
export interface LaunchersAbout {
  /** The launchers that report. */
  names: readonly string[];
  /** Runs that no queue of them can execute. */
  unserved: readonly UnservedRuns[];
  /** Their queues that fit the runs. `isBlocked`: it submits nothing, and no allocation of it starts. */
  queues: readonly { text: string; isBlocked: boolean; isStarting: boolean }[];
  /** The launchers whose reports are missing, and for how long. */
  silent: readonly { name: string; silentMs: number }[];
}

/** One batch and the pool at one moment. */
export interface Situation {
  batchId: Uuid;
  batchStatus: BatchStatus;
  jobsByStatus: Readonly<Record<JobStatus, number>>;
  simulation: string;
  /** `compute.container.image`; undefined when the study names none. */
  image: string | undefined;
  /** The part of `compute.container` that the settings of runners may refuse. */
  container: ContainerWish;
  /** `compute.max_parallel_jobs`; 0 means no cap. */
  maxParallelJobs: number;
  /** The resources that one run requests. */
  demand: ResourceRequest;
  runLength: RunLength;
  /** The versions of the code that were started. */
  codes: readonly StoredCode[];
  /** Whether one code alone executes the runs, and which. */
  pin: Omit<CodePin, 'simulationName'>;
  /** Features that runners must have to take its runs; undefined: none. */
  needs: readonly string[] | undefined;
  /** The members that such features are for. */
  declared: Declaring;
  now: number;
  runners: readonly Runner[];
  /** The pools of the coordinator; absent: it holds none. */
  sitePools?: readonly SitePool[];
  /** The core hours of its owner today; absent: it has no limit. */
  budget?: { owner: string | undefined; usedHours: number; limitHours: number; isUsed: boolean; resetsAt: string };
  /** The reports of launchers; absent without one. */
  launchers?: LaunchersAbout;
  /** Absent while it is not paused. */
  paused?: { reason: string | undefined };
  /** The runs that wait for the canary runs, or for the canary study; absent while none do. */
  canary?: { runs: number; withheld: number; isFailed: boolean; study?: CanaryStudy };
  /** In an audit, the runner that must not repeat its own run, and until when; absent while no run waits. */
  reservation?: { runnerId: string; untilMs: number };
  earlyTermination: EarlyTerminationConfig;
  /** `telemetry.variables`: the variables that the study wants kept; empty: all that come. */
  variables: readonly string[];
  /** Undefined when no runner has reported any. */
  telemetry: BatchTelemetry | undefined;
  /** Why the submission cannot be read; absent: it can. The members that it gives are then empty. */
  submissionFault?: string;
  /** Pending runs whose records are missing or damaged; absent: none are known. */
  unreadableRuns?: readonly number[];
  /** The look-ups of its parameters; absent: no run has reported any. `neverRead`: dispersed ones that none of enough runs has looked up. */
  inputs?: { runs: number; asked: readonly string[]; neverRead: readonly string[] };
  /** The latest probe with its simulation, inputs and code, and the inputs that change no output in it; absent: there is none. */
  probed?: { probe: Uuid; withoutEffect: readonly string[] };
  /** Runs of an adaptive study whose rows damage has lost; absent: none. */
  rowsLost?: number;
  /** Runs of the rounds of a level, of an open study of rare events and of those submitted with it together; absent for others. */
  roundWidth?: number;
  attempts: AttemptSummary;
  failingRunners: readonly FailingRunner[];
  /** `policy.max_failures`, `policy.canary_runs` or `policy.canary` is set. */
  isGuarded: boolean;
  /** How near its runs are to its precisions; absent without any. */
  precision?: readonly PrecisionReached[];
  /** Absent while no file was lost before it could be uploaded. */
  unsent?: UnsentFiles;
  /** Of an open extraction: the runners that have files of Pending runs and take none of them, how many runs, and why the first one does not; absent: none. */
  awaited?: { runners: readonly string[]; runs: number; lack: AwaitedLack };
  /** Of an extraction: the finished runs whose files are gone; absent: none. */
  filesGone?: RunsWithoutFiles;
  /** The runners with files to send; absent where nothing is uploaded. */
  outbox?: readonly OutboxPlace[];
  /** Why the bucket that the study names cannot be used; absent: it can, or nothing is uploaded. */
  storeFault?: StoreFault;
  /** Free bytes on the disk of the coordinator's store; undefined where they are not known. */
  storeFreeBytes: number | undefined;
}

/** A finding without its code. */
export type Found = Omit<Finding, 'code'>;

/** One finding: its code, and the function that looks for it. */
export interface Rule {
  /** Stable name of the finding, in kebab-case. */
  code: string;
  find(situation: Situation): Found | undefined;
}

/** Most runners that a finding names. */
export const MOST_NAMED = 10;

/** A disk with less free space is about to fail runs: less than 1 GiB. */
export const LOW_DISK_BYTES = 1024 ** 3;

export const isOpen = ({ batchStatus }: Situation): boolean => batchStatus === 'Pending' || batchStatus === 'Running';

export const activeJobs = ({ jobsByStatus: it }: Situation): number => it.Claimed + it.Running;

/** The runs that a runner may claim: Pending, and not withheld by the canary runs. */
export const claimableJobs = (it: Situation): number => it.jobsByStatus.Pending - (it.canary?.withheld ?? 0);

export const gibibytes = (bytes: number): number => Number((bytes / 1024 ** 3).toPrecision(3));

/** Formats the first three names, and how many more there are. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3);
  return names.length > 3 ? `${shown.join(', ')} and ${names.length - 3} more` : shown.join(', ');
}

/** Why a runner that has files takes no run of an extraction, the least likely to pass first. `drained`: with the reason. */
export type AwaitedLack = 'offline' | 'program' | { drained: string };

/** Runners of the simulation; those that are connected; those that are not drained either. */
export const supporting = ({ runners, simulation }: Situation): Runner[] =>
  runners.filter((runner) => supports(runner.capabilities, simulation));
export const connected = (it: Situation): Runner[] => supporting(it).filter(({ status }) => status !== 'Offline');
export const accepting = (it: Situation): Runner[] =>
  connected(it).filter(({ status, accepting_jobs: accepts }) => status !== 'Maintenance' && accepts !== false);

/** True when a run fits the runner, were it free. */
export const isLargeEnough = ({ demand, sitePools }: Situation, { capabilities }: Runner): boolean =>
  fits(demand, freeCapacityOf(capabilities, [])) &&
  provides(capabilities, demand.resources, (name) => sitePools?.some((pool) => pool.name === name) === true);

/** True when a run that starts now ends before the runner's machine is taken from it. */
export const staysLongEnough = ({ runLength, now }: Situation, { ends_at: end }: Runner): boolean =>
  end === undefined || endsInTime(runLength, now, Date.parse(end));

/** Connected runners that are not drained, large enough for one run, were they free, stay long enough, and have its code. */
export const ableRunners = (it: Situation): Runner[] =>
  connected(it).filter(
    (runner) =>
      runner.status !== 'Maintenance' &&
      isLargeEnough(it, runner) &&
      staysLongEnough(it, runner) &&
      refusalsOf(runner.capabilities, it.container) === undefined &&
      hasFeatures(runner.capabilities, it.needs) &&
      executesPinned(runner, { simulationName: it.simulation, ...it.pin }),
  );
