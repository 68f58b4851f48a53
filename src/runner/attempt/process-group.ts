/** Ends process groups for good: SIGKILL to every member, and no return before the last one is dead. */
import type { Log } from '../log.ts';
import { livingMembers, processesWith, processStart } from './proc-fs.ts';
import type { SpooledAttempt } from '../spool.ts';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';

const FIRST_LOOK_MS = 2;
const LONGEST_LOOK_MS = 250;
const PATIENCE_MS = 30_000;

/**
 * Kills the group of `leader` and whoever left the group but still carries the attempt's output directory in its
 * environment. Resolves when all are dead; a process stuck in the kernel is waited for, with a line in the log.
 */
export async function killGroup(clock: Clock, log: Log, leader: number, directory: string): Promise<void> {
  killQuietly(-leader);
  for (const pid of processesWith('SVC_OUTPUT_DIR', directory)) killQuietly(pid);
  await untilDead(clock, log, () => groupLives(leader) || processesWith('SVC_OUTPUT_DIR', directory).length > 0, {
    group: leader,
    directory,
  });
}

/** After the leader has ended by itself: its group goes with it. Costs one system call when nobody is left. */
export async function killRemainders(clock: Clock, log: Log, leader: number, directory: string): Promise<boolean> {
  if (!killQuietly(-leader)) return false;
  await untilDead(clock, log, () => groupLives(leader), { group: leader, directory });
  return true;
}

/**
 * Kills what a former runner process left of an attempt, and returns how many processes that were. A recycled pid is
 * recognised by its start time and left alone.
 */
export async function killOrphans(clock: Clock, log: Log, attempt: SpooledAttempt): Promise<number> {
  const { pid, pidStart, directory } = attempt;
  const carriers = processesWith('SVC_OUTPUT_DIR', directory);
  const leaderIsOurs = pid !== undefined && pidStart !== undefined && processStart(pid) === pidStart;
  const members = leaderIsOurs ? (livingMembers(pid) ?? []) : [];
  const found = new Set([...carriers, ...members]);
  if (found.size === 0) return 0;
  if (leaderIsOurs) killQuietly(-pid);
  for (const one of found) killQuietly(one);
  const lives = (): boolean =>
    (leaderIsOurs && groupLives(pid)) || processesWith('SVC_OUTPUT_DIR', directory).some((one) => killQuietly(one));
  await untilDead(clock, log, lives, { directory });
  return found.size;
}

async function untilDead(clock: Clock, log: Log, lives: () => boolean, who: Record<string, unknown>): Promise<void> {
  const since = clock.monotonicMs();
  let warnedMs = 0;
  let waitMs = FIRST_LOOK_MS;
  while (lives()) {
    await sleep(clock, waitMs);
    waitMs = Math.min(waitMs * 2, LONGEST_LOOK_MS);
    const waitedMs = clock.monotonicMs() - since;
    if (waitedMs - warnedMs > PATIENCE_MS) {
      warnedMs = waitedMs;
      log.warn(
        'a killed process does not die (stuck in the kernel, perhaps on a lost file system); still waiting',
        who,
      );
    }
  }
}

function groupLives(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  // The signal also reaches members that are dead and not yet reaped, in a container perhaps for ever.
  const members = livingMembers(group);
  return members === undefined || members.length > 0;
}

/** False when there was nobody to kill. */
function killQuietly(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
