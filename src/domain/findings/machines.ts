/** Findings about machines: lost slots, silent runners, full disks, clocks that differ, slots without runs. */
import { plural } from '../plural.ts';
import { usableSlots } from '../scheduling.ts';
import { ableRunners, gibibytes, isOpen, listed, LOW_DISK_BYTES, type Rule } from './finding.ts';

/** A runner's clock may differ by this much before its times mislead. */
const CLOCK_TOLERANCE_SECS = 5;

const ids = (runners: readonly { id: string }[]): string => listed(runners.map(({ id }) => id));

/** Slots that processes or file systems keep on the runners that could execute pending runs. */
const SLOTS_LOST: Rule = {
  code: 'slots-lost',
  find(situation) {
    if (!isOpen(situation) || situation.jobsByStatus.Pending === 0) return undefined;
    const able = ableRunners(situation);
    const losing = able.filter((runner) => (runner.slots_lost ?? 0) > 0);
    if (losing.length === 0) return undefined;
    const slots = able.reduce((sum, runner) => sum + runner.capabilities.max_concurrent_jobs, 0);
    const usable = able.reduce((sum, runner) => sum + usableSlots(runner.capabilities, runner.slots_lost), 0);
    const count = slots - usable;
    return {
      severity: usable === 0 ? 'waiting' : 'fine',
      message: `${ids(losing)} lost ${count} of the ${slots} slots of the pool: a process survives SIGKILL, or a file system does not answer`,
      remedy: `look at the log of ${ids(losing)}, then unmount the file system or restart the machine`,
      count,
    };
  },
};

/** Silent runners that hold jobs: these jobs are requeued when the lease ends. */
const SILENT_RUNNER: Rule = {
  code: 'silent-runner',
  find(situation) {
    if (!isOpen(situation)) return undefined;
    const silent = situation.runners.filter((runner) => runner.status === 'Offline' && runner.current_jobs.length > 0);
    if (silent.length === 0) return undefined;
    const jobs = silent.reduce((sum, runner) => sum + runner.current_jobs.length, 0);
    return {
      severity: 'waiting',
      message: `${ids(silent)} went silent holding ${plural(jobs, 'job')}; other runners get ${jobs === 1 ? 'it' : 'them'} when the lease ends`,
      remedy: `wait for the lease to end; start ${ids(silent)} again`,
      count: silent.length,
    };
  },
};

const DISK_LOW: Rule = {
  code: 'disk-low',
  find(situation) {
    if (!isOpen(situation)) return undefined;
    const full = situation.runners.filter(
      ({ status, disk_free_bytes: free }) => status !== 'Offline' && free !== undefined && free < LOW_DISK_BYTES,
    );
    const store = situation.storeFreeBytes ?? Infinity;
    if (full.length === 0 && store >= LOW_DISK_BYTES) return undefined;
    const places = [
      ...(store < LOW_DISK_BYTES ? [`${gibibytes(store)} GiB for the store of the coordinator`] : []),
      ...full.slice(0, 3).map((it) => `${gibibytes(it.disk_free_bytes ?? 0)} GiB for the artifacts of ${it.id}`),
      ...(full.length > 3 ? [`less than 1 GiB for ${plural(full.length - 3, 'more runner')}`] : []),
    ];
    return {
      severity: 'warning',
      message: `little disk space is left: ${places.join(', ')}`,
      remedy: 'remove artifacts and studies that are no longer needed (`simbatch delete`), or extend the disk',
      count: places.length,
    };
  },
};

const CLOCK_SKEW: Rule = {
  code: 'clock-skew',
  find(situation) {
    if (!isOpen(situation)) return undefined;
    const wrong = situation.runners.filter(
      ({ status, clock_offset_secs: offset }) =>
        status !== 'Offline' && offset !== undefined && Math.abs(offset) > CLOCK_TOLERANCE_SECS,
    );
    if (wrong.length === 0) return undefined;
    const offsets = wrong.slice(0, 3).map(({ id, clock_offset_secs: offset = 0 }) => {
      return `${id} is ${Math.abs(offset)} s ${offset > 0 ? 'ahead' : 'late'}`;
    });
    const more = wrong.length > 3 ? ` and ${wrong.length - 3} more` : '';
    return {
      severity: 'warning',
      message: `clocks differ from the coordinator's: ${offsets.join(', ')}${more}; times in their logs and artifacts do not agree with the history`,
      remedy: 'synchronize the clocks of these machines (NTP, chrony)',
      count: wrong.length,
    };
  },
};

/** Runners that execute runs without the image that the study names: their results are not those of the image. */
const IMAGE_NOT_USED: Rule = {
  code: 'image-not-used',
  find(situation) {
    const { image } = situation;
    if (image === undefined || !isOpen(situation)) return undefined;
    const able = ableRunners(situation);
    const without = able.filter(({ capabilities }) => capabilities.container_runtime === undefined);
    if (without.length === 0) return undefined;
    const isMixed = without.length < able.length;
    const message = isMixed
      ? `${ids(without)} ${without.length === 1 ? 'executes' : 'execute'} runs without the image ${image} of the study, and other runners with it: results may depend on the runner`
      : `no runner has a container runtime: the image ${image} is kept with the study and not used`;
    return {
      severity: isMixed ? 'warning' : 'fine',
      message,
      remedy: `start ${isMixed ? ids(without) : 'runners'} with --container-runtime, or set config.compute.container.image to none`,
      count: without.length,
    };
  },
};

/** Slots for each run of a round from which on most of the pool is idle. */
const MANY = 2;

/** The rounds of a study of rare events have a fixed number of runs, whatever the pool has room for. */
const RARE_IDLE_POOL: Rule = {
  code: 'rare-idle-pool',
  find(situation) {
    const { roundWidth } = situation;
    if (roundWidth === undefined || !isOpen(situation)) return undefined;
    const slots = ableRunners(situation).reduce(
      (sum, { capabilities, slots_lost: lost }) => sum + usableSlots(capabilities, lost),
      0,
    );
    if (slots <= MANY * roundWidth) return undefined;
    return {
      severity: 'fine',
      message: `the pool has ${slots} slots, and the rounds of a level have ${roundWidth} runs: most slots are idle in them`,
      remedy:
        'other studies can use the pool meanwhile; for wider rounds submit the study with a larger `population` or `width`',
      count: slots - roundWidth,
    };
  },
};

export const MACHINE_RULES: readonly Rule[] = [
  SLOTS_LOST,
  SILENT_RUNNER,
  DISK_LOW,
  CLOCK_SKEW,
  IMAGE_NOT_USED,
  RARE_IDLE_POOL,
];
