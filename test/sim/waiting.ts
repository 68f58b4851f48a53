/** The promise that a study never waits for one runner while another is free: no poll waits beside a run that it could start. */
import type { LongPolls } from '../../src/coordinator/scheduling/long-polls.ts';
import { fits, freeCapacityOf, provides, supports, waitingOf } from '../../src/domain/scheduling.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import { stateOf, type Directory } from '../../src/coordinator/kernel/actors/directory.ts';
import { insist } from './acknowledged.ts';
import { SITE_POOLS } from './pools.ts';

interface Parts {
  directory: Directory;
  longPolls: Pick<LongPolls<unknown>, 'pending'>;
}

/** @throws Violation that names a run and the two runners */
export function checkWaiting({ directory, longPolls }: Parts): void {
  const polls = [...longPolls.pending()];
  if (polls.length === 0) return;
  for (const activation of directory.runners.values()) {
    const { capabilities, held, runnerId } = stateOf(activation).context;
    const isClaimed = (jobId: string): boolean => directory.state('job', jobId)?.value === 'Claimed';
    const claimed = held.filter((it) => isClaimed(it.jobId));
    const startedFirst = [...held.filter((it) => !claimed.includes(it)), ...claimed];
    for (const { jobId } of waitingOf(capabilities, startedFirst).filter((it) => claimed.includes(it))) {
      const batch = directory.state('batch', batchIdOf(jobId))?.context;
      // Runs of an extraction stay on the runner that has their files.
      if (batch === undefined || batch.pausedAtMs !== undefined || batch.parent?.relation === 'extraction') continue;
      for (const poll of polls) {
        const other = directory.state('runner', poll.runnerId);
        if (other === undefined || poll.runnerId === runnerId || poll.maxJobs <= 0) continue;
        if ((other.value !== 'Idle' && other.value !== 'Busy') || other.context.instance !== poll.instance) continue;
        const free = freeCapacityOf(other.context.capabilities, other.context.held, other.context.slotsLost);
        const could =
          supports(other.context.capabilities, batch.simulationName) &&
          provides(other.context.capabilities, batch.resources, (name) => Object.hasOwn(SITE_POOLS, name)) &&
          fits(batch, free);
        insist(!could, () => `job ${jobId} waits on ${runnerId} while ${poll.runnerId} is free`);
      }
    }
  }
}
