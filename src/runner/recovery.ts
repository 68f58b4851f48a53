/** Recovery of a runner at its start: ends the processes of a former runner under its id, and finds its outcomes. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '../base/clock.ts';
import type { ExecutionSite } from './attempt/execution-site.ts';
import { removePlace } from './attempt/extraction/parent-runs.ts';
import { UNFINISHED } from './files/archive/archive-job.ts';
import { describeProcess, killOrphans, KILL_DEADLINE_MS } from './processes/process-scope.ts';
import type { Outcome, Spool, SpooledAttempt } from './spool.ts';
import { oneLine } from './system-error.ts';
import { recoverTelemetry } from './telemetry/recover.ts';

export interface Undelivered {
  record: SpooledAttempt;
  outcome: Outcome;
}

type Site = Pick<ExecutionSite, 'clock' | 'log' | 'waits' | 'processes' | 'containers' | 'uploads'>;

const LEFTOVERS_LOOK_MS = 20;
const TELEMETRY_DEADLINE_MS = 60_000;
const COPIES_DEADLINE_MS = 60_000;

/** Resolves when the former processes are dead, or survive SIGKILL, with the outcomes that are not delivered. */
export async function recover(spool: Spool, site: Site): Promise<Undelivered[]> {
  const { log, processes, clock } = site;
  const undelivered: Undelivered[] = [];
  await removeCgroups(site);
  for (const record of await spool.leftovers()) {
    const { job_id, attempt, outcome } = record;
    if (record.upload !== undefined && outcome === undefined) {
      site.uploads?.resume(record);
      continue;
    }
    await site.containers?.end(record.directory);
    const { killed, survivors } = await killOrphans(clock, processes.table, record);
    if (killed > 0) log.warn(`killed ${String(killed)} processes left by a former runner process`, { job_id, attempt });
    if (survivors.length > 0) {
      const which = survivors.map(describeProcess).join(', ');
      log.error(`processes of a former runner process survive SIGKILL: ${which}`, { job_id, attempt });
    }
    // The run may be given to another runner next: no later attempt removes its copies here.
    await repaired(record, site, COPIES);
    if (outcome !== undefined) undelivered.push({ record, outcome });
    else {
      await repaired(record, site, UNFINISHED_ARCHIVE);
      await repaired(record, site, TELEMETRY);
      spool.finished(record);
    }
  }
  if (undelivered.length > 0) {
    log.info(`${String(undelivered.length)} outcomes of a former process are to be delivered`);
  }
  return undelivered;
}

/** Waits until the processes in the cgroups of a former process are dead. */
async function removeCgroups({ clock, log, processes }: Site): Promise<void> {
  const endMs = clock.monotonicMs() + KILL_DEADLINE_MS;
  while (processes.cgroups?.removeLeftovers() === false) {
    if (clock.monotonicMs() > endMs) {
      log.error('processes in the cgroup of a former runner process survive SIGKILL');
      return;
    }
    await sleep(clock, LEFTOVERS_LOOK_MS);
  }
}

interface Repair {
  what: string;
  deadlineMs: number;
  /** The beginning of the warning where it fails. */
  failed: string;
  /** @param directory of the attempt */
  act: (directory: string) => Promise<unknown>;
}

/** The copies of files of a finished run that an attempt of an extraction has left. */
const COPIES: Repair = {
  what: 'removing copies of files',
  deadlineMs: COPIES_DEADLINE_MS,
  failed: 'copies of files of a finished run could not be removed',
  act: removePlace,
};

/** The archive that a former process had begun: the files are all there, and need no second place. */
const UNFINISHED_ARCHIVE: Repair = {
  what: `removing ${UNFINISHED}`,
  deadlineMs: COPIES_DEADLINE_MS,
  failed: 'an unfinished archive could not be removed',
  act: (directory) => rm(join(directory, UNFINISHED), { force: true }),
};

/** The telemetry of a lost attempt is still worth reading. */
const TELEMETRY: Repair = {
  what: 'recovering telemetry',
  deadlineMs: TELEMETRY_DEADLINE_MS,
  failed: 'its telemetry could not be recovered',
  act: recoverTelemetry,
};

/** Puts the folder of an attempt in order, as far as the disk permits it. */
async function repaired(
  { directory, job_id, attempt }: SpooledAttempt,
  { log, waits }: Site,
  { what, deadlineMs, failed, act }: Repair,
): Promise<void> {
  if (directory === '') return;
  try {
    await waits.within(deadlineMs, what, act(directory));
  } catch (error) {
    log.warn(`${failed}: ${oneLine(error)}`, { job_id, attempt });
  }
}
