/**
 * Diagnosis of a study that is not running, or not faster, from its progress and the pool. Pure.
 * The sentences are for the person who submitted the study.
 */
import { fits, freeCapacityOf, supports, usableSlots, type ResourceRequest } from './scheduling.ts';
import type { BatchStatus, JobStatus, Runner } from '../contract/types.ts';

/** One batch and the pool at one moment, as the public interface returns them. */
export interface Situation {
  batchStatus: BatchStatus;
  jobsByStatus: Readonly<Record<JobStatus, number>>;
  simulation: string;
  /** `compute.max_parallel_jobs`; 0 means no cap. */
  maxParallelJobs: number;
  /** The resources that one run requests. */
  demand: ResourceRequest;
  runners: readonly Runner[];
}

/**
 * `doubtful`: the results cannot be trusted as they are; `blocked`: no pending run starts until an operator or the submitter
 * acts; `waiting`: it starts by itself; `fine`: it runs.
 */
export type Severity = 'doubtful' | 'blocked' | 'waiting' | 'fine';

export interface Finding {
  /** kebab-case, stable. */
  code: string;
  severity: Severity;
  /** One sentence. */
  reason: string;
  /** An action that removes the cause, where there is one. */
  remedy?: string;
  /** How many runs, variables or the like it is about. */
  count?: number;
}

/** Returns the findings, the decisive one first; none for a batch that has ended. */
export function diagnose(situation: Situation): Finding[] {
  if (situation.batchStatus !== 'Pending' && situation.batchStatus !== 'Running') return [];
  return [waitingRuns(situation), lostSlots(situation), ...silentHolders(situation)].filter(
    (finding) => finding !== undefined,
  );
}

function waitingRuns(situation: Situation): Finding | undefined {
  const { jobsByStatus, maxParallelJobs, runners } = situation;
  const active = jobsByStatus.Claimed + jobsByStatus.Running;
  if (jobsByStatus.Pending === 0) {
    return active === 0
      ? undefined
      : { code: 'last-runs', severity: 'fine', reason: `no run waits: the last ${active} are with runners` };
  }
  if (runners.length === 0) {
    return {
      code: 'no-runner',
      severity: 'blocked',
      reason: 'no runner has registered',
      remedy: 'start one with `simbatch runner`',
    };
  }
  return noRunnerMay(situation) ?? capReached(active, maxParallelJobs) ?? poolBusy(situation, active);
}

/** Narrows the pool step by step; the first step that leaves no runner is the reason. */
function noRunnerMay(situation: Situation): Finding | undefined {
  const { simulation, demand, runners } = situation;
  const supporting = runners.filter((runner) => supports(runner.capabilities, simulation));
  if (supporting.length === 0) {
    const known = [...new Set(runners.flatMap((runner) => runner.capabilities.supported_simulation_types))].sort();
    return {
      code: 'unsupported-simulation',
      severity: 'blocked',
      reason: `no runner takes the simulation "${simulation}"; ${some(runners.length)} ${runners.length === 1 ? 'takes' : 'take'} only ${known.map((type) => `"${type}"`).join(', ')}`,
      remedy: `give a runner the capability "${simulation}", or correct \`config.simulation.name\``,
    };
  }
  const connected = supporting.filter((runner) => runner.status !== 'Offline');
  if (connected.length === 0) {
    const last = supporting
      .map((runner) => runner.last_heartbeat)
      .sort()
      .at(-1);
    return {
      code: 'all-offline',
      severity: 'blocked',
      reason: `${allOf(supporting.length, ` for "${simulation}"`)} offline; the last heartbeat was at ${last}`,
      remedy: `start ${listed(supporting)} again`,
    };
  }
  const accepting = connected.filter((runner) => runner.status !== 'Maintenance' && runner.accepting_jobs !== false);
  if (accepting.length === 0) {
    const why = connected.map((runner) => runner.drain_reason).find((reason) => reason !== undefined && reason !== '');
    return {
      code: 'all-drained',
      severity: 'blocked',
      reason: `${allOf(connected.length, ` connected for "${simulation}"`)} drained${why === undefined ? '' : ` (${why})`}`,
      remedy: `resume one: simbatch resume ${connected[0]?.id ?? ''}`,
    };
  }
  if (!accepting.some((runner) => fits(demand, freeCapacityOf(runner.capabilities, []))))
    return tooLarge(accepting, simulation, demand);
  return undefined;
}

function tooLarge(accepting: readonly Runner[], simulation: string, demand: ResourceRequest): Finding {
  const slots = accepting.some((runner) => runner.capabilities.max_concurrent_jobs > 0);
  if (!slots) {
    return {
      code: 'no-slots',
      severity: 'blocked',
      reason: `${allOf(accepting.length, ` for "${simulation}"`)} set to run 0 jobs at a time`,
      remedy: 'start one with --max-concurrent-jobs 1 or more',
    };
  }
  const most = Math.max(...accepting.map((runner) => runner.capabilities.cpu_cores));
  const largest = Math.max(...accepting.map((runner) => runner.capabilities.memory_gb));
  return {
    code: 'too-large',
    severity: 'blocked',
    reason: `one run asks for ${demand.cpuMilli / 1000} cores and ${gibibytes(demand.memoryBytes)} GiB; no runner has both (at most ${most} cores, at most ${largest} GiB)`,
    remedy: 'lower `cpu_request` or `memory_request`, or start a larger runner',
  };
}

function capReached(active: number, cap: number): Finding | undefined {
  if (cap === 0 || active < cap) return undefined;
  return {
    code: 'cap-reached',
    severity: 'fine',
    reason: `${active} runs are active, as many as \`max_parallel_jobs\` allows`,
    remedy: 'submit with a larger `compute.max_parallel_jobs` to use more of the pool',
  };
}

/** Connected runners that are not drained and large enough for one run, were they free. */
const ableRunners = ({ simulation, demand, runners }: Situation): Runner[] =>
  runners.filter(
    (runner) =>
      runner.status !== 'Offline' &&
      runner.status !== 'Maintenance' &&
      supports(runner.capabilities, simulation) &&
      fits(demand, freeCapacityOf(runner.capabilities, [])),
  );

/** Undefined when no job fills the pool: its slots are lost, which is a finding of its own. */
function poolBusy(situation: Situation, active: number): Finding | undefined {
  const { simulation, demand } = situation;
  const able = ableRunners(situation);
  // The sizes of other studies' jobs are unknown here: each is taken to be as large as one of this study.
  const free = able.filter((runner) =>
    fits(
      demand,
      freeCapacityOf(
        runner.capabilities,
        runner.current_jobs.map(() => demand),
        runner.slots_lost,
      ),
    ),
  );
  if (free.length > 0) {
    return {
      code: 'starting',
      severity: active > 0 ? 'fine' : 'waiting',
      reason: `${some(free.length)} ${are(free.length)} free: waiting runs are claimed within seconds`,
    };
  }
  const held = able.reduce((sum, runner) => sum + runner.current_jobs.length, 0);
  if (held === 0) return undefined;
  const others = held - active;
  if (active === 0) {
    return {
      code: 'pool-busy',
      severity: 'waiting',
      reason: `${allOf(able.length, ` for "${simulation}"`)} full with ${held} jobs of other studies; this one is served as they end`,
      remedy: 'start more runners to begin sooner',
    };
  }
  return {
    code: 'running',
    severity: 'fine',
    reason: `${active} runs are active and no runner has room for more${others > 0 ? `; ${others} jobs of other studies share the pool` : ''}`,
  };
}

/** Slots that processes or file systems keep on the runners that could execute pending runs. */
function lostSlots(situation: Situation): Finding | undefined {
  const { jobsByStatus } = situation;
  if (jobsByStatus.Pending === 0) return undefined;
  const able = ableRunners(situation);
  const losing = able.filter((runner) => (runner.slots_lost ?? 0) > 0);
  if (losing.length === 0) return undefined;
  const slots = able.reduce((sum, runner) => sum + runner.capabilities.max_concurrent_jobs, 0);
  const usable = able.reduce((sum, runner) => sum + usableSlots(runner.capabilities, runner.slots_lost), 0);
  const count = slots - usable;
  return {
    code: 'slots-lost',
    severity: usable === 0 ? 'waiting' : 'fine',
    reason: `${listed(losing)} lost ${count} of the ${slots} slots of the pool: a process survives SIGKILL, or a file system does not answer`,
    remedy: `look at the log of ${listed(losing)}, then unmount the file system or restart the machine`,
    count,
  };
}

/** Silent runners that hold jobs: these jobs are requeued when the lease ends. */
function silentHolders(situation: Situation): Finding[] {
  const silent = situation.runners.filter((runner) => runner.status === 'Offline' && runner.current_jobs.length > 0);
  if (silent.length === 0) return [];
  const jobs = silent.reduce((sum, runner) => sum + runner.current_jobs.length, 0);
  return [
    {
      code: 'silent-runner',
      severity: 'waiting',
      reason: `${listed(silent)} went silent holding ${jobs} ${jobs === 1 ? 'job' : 'jobs'}; other runners get ${jobs === 1 ? 'it' : 'them'} when the lease ends`,
    },
  ];
}

const some = (count: number): string => `${count} ${count === 1 ? 'runner' : 'runners'}`;
const are = (count: number): string => (count === 1 ? 'is' : 'are');
const allOf = (count: number, which: string): string =>
  `${count === 1 ? 'the only runner' : `all ${count} runners`}${which} ${are(count)}`;
const gibibytes = (bytes: number): number => Number((bytes / 1024 ** 3).toPrecision(3));

function listed(runners: readonly Runner[]): string {
  const names = runners.slice(0, 3).map((runner) => runner.id);
  return runners.length > 3 ? `${names.join(', ')} and ${runners.length - 3} more` : names.join(', ');
}
