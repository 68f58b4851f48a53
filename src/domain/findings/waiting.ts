/** Findings about pending runs: why none starts, or not more of them. Only the first that applies is a finding. */
import { plural } from '../plural.ts';
import { FILES_ELSEWHERE } from './files.ts';
import { canaryRuns, studyFailed, studyRunning } from '../probe/canary-finding.ts';
import { fits, freeCapacityOf } from '../scheduling.ts';
import {
  ableRunners,
  accepting,
  activeJobs,
  claimableJobs,
  connected,
  gibibytes,
  isLargeEnough,
  isOpen,
  listed,
  MOST_NAMED,
  type Rule,
  type Situation,
  staysLongEnough,
  supporting,
} from './finding.ts';
import { refusalsOf } from '../runner-settings.ts';
import { launcherRules } from './launchers.ts';
import { BUDGET_USED } from './pool/budget.ts';
import { namedShortage, RESOURCE_USED } from './pool/resources.ts';
import { refusedBySettings, runnersTooOld } from './settings.ts';

const are = (count: number): string => (count === 1 ? 'is' : 'are');
const allOf = (count: number, which: string): string =>
  `${count === 1 ? 'the only runner' : `all ${count} runners`}${which} ${are(count)}`;

const PAUSED: Rule = {
  code: 'paused',
  find({ paused, jobsByStatus }) {
    if (paused === undefined || jobsByStatus.Pending === 0) return undefined;
    return {
      severity: 'blocked',
      message: `the study is paused${paused.reason === undefined ? '' : ` (${paused.reason})`}: ${plural(jobsByStatus.Pending, 'pending run')} must wait`,
      remedy: 'resume it with `simbatch resume`',
      count: jobsByStatus.Pending,
    };
  },
};

const CANARY_FAILED: Rule = {
  code: 'canary-failed',
  find({ canary, batchId }) {
    if (canary?.isFailed !== true) return undefined;
    if (canary.study !== undefined) return studyFailed(batchId, canary.withheld, canary.study);
    return {
      severity: 'blocked',
      message: `too few canary runs have completed: ${plural(canary.withheld, 'other run')} must wait`,
      remedy:
        'see why with `simbatch runs --status Failed,Timeout`; then cancel the study, or release the others with `simbatch release`',
      count: canary.withheld,
    };
  },
};

const CANARY_RUNNING: Rule = {
  code: 'canary-running',
  find(situation) {
    const { canary } = situation;
    if (canary === undefined || canary.isFailed || claimableJobs(situation) > 0) return undefined;
    if (canary.study !== undefined) return studyRunning(situation.batchId, canary.withheld, canary.study);
    return {
      severity: 'waiting',
      message: `${plural(canary.withheld, 'run')} must wait until ${canaryRuns(canary.runs)} Completed`,
      remedy: 'wait; or release the others with `simbatch release`',
      count: canary.withheld,
    };
  },
};

const LAST_RUNS: Rule = {
  code: 'last-runs',
  find(situation) {
    const active = activeJobs(situation);
    if (situation.jobsByStatus.Pending > 0 || active === 0) return undefined;
    return {
      severity: 'fine',
      message: `no run waits: ${active === 1 ? 'the last one is with a runner' : `the last ${active} are with runners`}`,
      remedy: 'wait: `simbatch status` names stragglers',
    };
  },
};

const NO_RUNNER: Rule = {
  code: 'no-runner',
  find: ({ runners }) =>
    runners.length > 0
      ? undefined
      : { severity: 'blocked', message: 'no runner has registered', remedy: 'start one with `simbatch runner`' },
};

const UNSUPPORTED: Rule = {
  code: 'unsupported-simulation',
  find(situation) {
    const { simulation, runners } = situation;
    if (supporting(situation).length > 0) return undefined;
    const known = [...new Set(runners.flatMap((runner) => runner.capabilities.supported_simulation_types))].sort();
    return {
      severity: 'blocked',
      message: `no runner takes the simulation "${simulation}"; ${plural(runners.length, 'runner')} ${runners.length === 1 ? 'takes' : 'take'} only ${known.map((type) => `"${type}"`).join(', ')}`,
      remedy: `give a runner the capability "${simulation}", or correct \`config.simulation.name\``,
    };
  },
};

const ALL_OFFLINE: Rule = {
  code: 'all-offline',
  find(situation) {
    if (connected(situation).length > 0) return undefined;
    const runners = supporting(situation);
    const last = runners
      .map((runner) => runner.last_heartbeat)
      .sort()
      .at(-1);
    return {
      severity: 'blocked',
      message: `${allOf(runners.length, ` for "${situation.simulation}"`)} offline; the last heartbeat was at ${last}`,
      remedy: `start ${listed(runners.map(({ id }) => id))} again`,
    };
  },
};

const ALL_DRAINED: Rule = {
  code: 'all-drained',
  find(situation) {
    if (accepting(situation).length > 0) return undefined;
    const runners = connected(situation);
    const why = runners.map((runner) => runner.drain_reason).find((reason) => reason !== undefined && reason !== '');
    return {
      severity: 'blocked',
      message: `${allOf(runners.length, ` connected for "${situation.simulation}"`)} drained${why === undefined ? '' : ` (${why})`}`,
      remedy: `resume one: simbatch resume ${runners[0]?.id ?? ''}`,
      runners: runners.slice(0, MOST_NAMED).map(({ id }) => id),
    };
  },
};

const NO_SLOTS: Rule = {
  code: 'no-slots',
  find(situation) {
    const runners = accepting(situation);
    if (runners.some((runner) => runner.capabilities.max_concurrent_jobs > 0)) return undefined;
    return {
      severity: 'blocked',
      message: `${allOf(runners.length, ` for "${situation.simulation}"`)} set to no run at a time`,
      remedy: 'start one with --max-concurrent-jobs 1 or more',
    };
  },
};

const TOO_LARGE: Rule = {
  code: 'too-large',
  find(situation) {
    const { demand } = situation;
    const runners = accepting(situation);
    const named = namedShortage(situation, runners);
    if (named !== undefined) return named;
    if (runners.some((runner) => isLargeEnough(situation, runner))) return undefined;
    const most = Math.max(...runners.map((runner) => runner.capabilities.cpu_cores));
    const largest = Math.max(...runners.map((runner) => runner.capabilities.memory_gb));
    return {
      severity: 'blocked',
      message: `one run asks for ${demand.cpuMilli / 1000} cores and ${gibibytes(demand.memoryBytes)} GiB; no runner has both (at most ${most} cores, at most ${largest} GiB)`,
      remedy: 'lower `cpu_request` or `memory_request`, or start a larger runner',
    };
  },
};

const SETTINGS_REFUSE = refusedBySettings((it) => accepting(it).filter((runner) => isLargeEnough(it, runner)));

const LIFETIME_TOO_SHORT: Rule = {
  code: 'lifetime-too-short',
  find(situation) {
    const { runLength, now } = situation;
    const runners = accepting(situation).filter(
      (runner) =>
        isLargeEnough(situation, runner) && refusalsOf(runner.capabilities, situation.container) === undefined,
    );
    if (runners.some((runner) => staysLongEnough(situation, runner))) return undefined;
    const { timeLimitMs, meanMs } = runLength;
    const length =
      timeLimitMs > 0
        ? `may take ${timeLimitMs / 1000} s, its time limit`
        : `takes ${Math.round(meanMs / 1000)} s on average`;
    const longest = Math.max(...runners.map(({ ends_at: end }) => Date.parse(end ?? '')));
    return {
      severity: 'blocked',
      message: `one run ${length}; no runner stays so long (at most ${Math.max(0, Math.round((longest - now) / 1000))} s)`,
      remedy: 'start runners with a longer lifetime, or lower `compute.job_timeout_seconds`',
    };
  },
};

const CAP_REACHED: Rule = {
  code: 'cap-reached',
  find(situation) {
    const active = activeJobs(situation);
    const { maxParallelJobs: cap } = situation;
    if (cap === 0 || active < cap) return undefined;
    return {
      severity: 'fine',
      message: `${plural(active, 'run')} ${are(active)} active, as many as \`max_parallel_jobs\` allows`,
      remedy: 'submit with a larger `compute.max_parallel_jobs` to use more of the pool',
    };
  },
};

const AUDIT_WAITS: Rule = {
  code: 'audit-waits',
  find({ reservation, now, jobsByStatus }) {
    if (reservation === undefined || now >= reservation.untilMs || jobsByStatus.Pending === 0) return undefined;
    const secs = Math.ceil((reservation.untilMs - now) / 1000);
    return {
      severity: 'waiting',
      message: `the next run waits for another runner than "${reservation.runnerId}", which executed the original; for ${secs} s at most`,
      remedy: 'wait, or start another runner',
    };
  },
};

const STARTING: Rule = {
  code: 'starting',
  find(situation) {
    const { demand } = situation;
    // The sizes of other studies' jobs are unknown here: each is taken to be as large as one of this study.
    const free = ableRunners(situation).filter(({ capabilities, current_jobs: jobs, slots_lost: lost }) => {
      const held = jobs.map(() => demand);
      return fits(demand, freeCapacityOf(capabilities, held, lost));
    });
    if (free.length === 0) return undefined;
    return {
      severity: activeJobs(situation) > 0 ? 'fine' : 'waiting',
      message: `${plural(free.length, 'runner')} ${are(free.length)} free: waiting runs are claimed within seconds`,
      remedy: 'wait some seconds',
    };
  },
};

const heldJobs = (it: Situation): number =>
  ableRunners(it).reduce((sum, runner) => sum + runner.current_jobs.length, 0);

const POOL_BUSY: Rule = {
  code: 'pool-busy',
  find(situation) {
    const held = heldJobs(situation);
    // No job fills the pool: its slots are lost, which is a finding of its own.
    if (held === 0 || activeJobs(situation) > 0) return undefined;
    return {
      severity: 'waiting',
      message: `${allOf(ableRunners(situation).length, ` for "${situation.simulation}"`)} full with ${plural(held, 'run')} of other studies; this one is served as they end`,
      remedy: 'start more runners to begin sooner',
    };
  },
};

const RUNNING: Rule = {
  code: 'running',
  find(situation) {
    const active = activeJobs(situation);
    if (heldJobs(situation) === 0 || active === 0) return undefined;
    const others = heldJobs(situation) - active;
    return {
      severity: 'fine',
      message: `${plural(active, 'run')} ${are(active)} active and no runner has room for more${others > 0 ? `; ${plural(others, 'run')} of other studies ${others === 1 ? 'shares' : 'share'} the pool` : ''}`,
      remedy: 'start more runners to end sooner',
    };
  },
};

/** In the order in which they are tried: each may rely on those before it. */
const CHAIN: readonly Rule[] = [
  PAUSED,
  FILES_ELSEWHERE,
  CANARY_FAILED,
  LAST_RUNS,
  // Launchers start nothing for runs that may not be claimed.
  BUDGET_USED,
  ...launcherRules((it) => ableRunners(it).length > 0),
  NO_RUNNER,
  UNSUPPORTED,
  ALL_OFFLINE,
  ALL_DRAINED,
  NO_SLOTS,
  runnersTooOld(accepting),
  TOO_LARGE,
  SETTINGS_REFUSE,
  LIFETIME_TOO_SHORT,
  // A pool that cannot execute a run of the study cannot execute one of its canary study either.
  CANARY_RUNNING,
  CAP_REACHED,
  AUDIT_WAITS,
  RESOURCE_USED,
  STARTING,
  POOL_BUSY,
  RUNNING,
];

/** The rules of `CHAIN`, each silent where one before it applies. */
export const WAITING_RULES: readonly Rule[] = CHAIN.map((rule, place) => ({
  code: rule.code,
  find(situation) {
    if (!isOpen(situation) || situation.jobsByStatus.Pending + activeJobs(situation) === 0) return undefined;
    if (rule !== LAST_RUNS && situation.jobsByStatus.Pending === 0) return undefined;
    return CHAIN.slice(0, place).some((it) => it.find(situation) !== undefined) ? undefined : rule.find(situation);
  },
}));
