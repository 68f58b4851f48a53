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
    await removeCopies(record, site);
    if (outcome !== undefined) undelivered.push({ record, outcome });
    else {
      await removeUnfinished(record, site);
      await closeTelemetry(record, site);
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

/** Removes the copies of files of a finished run that an attempt of an extraction has left. */
async function removeCopies({ directory, job_id, attempt }: SpooledAttempt, { log, waits }: Site): Promise<void> {
  if (directory === '') return;
  try {
    await waits.within(COPIES_DEADLINE_MS, 'removing copies of files', removePlace(directory));
  } catch (error) {
    log.warn(`copies of files of a finished run could not be removed: ${oneLine(error)}`, { job_id, attempt });
  }
}

/** Removes the archive that a former process had begun: the files are all there, and need no second place. */
async function removeUnfinished({ directory, job_id, attempt }: SpooledAttempt, { log, waits }: Site): Promise<void> {
  if (directory === '') return;
  try {
    const removal = rm(join(directory, UNFINISHED), { force: true });
    await waits.within(COPIES_DEADLINE_MS, `removing ${UNFINISHED}`, removal);
  } catch (error) {
    log.warn(`an unfinished archive could not be removed: ${oneLine(error)}`, { job_id, attempt });
  }
}

/** The telemetry of a lost attempt is still worth reading. */
async function closeTelemetry({ directory, job_id, attempt }: SpooledAttempt, { log, waits }: Site): Promise<void> {
  if (directory === '') return;
  try {
    await waits.within(TELEMETRY_DEADLINE_MS, 'recovering telemetry', recoverTelemetry(directory));
  } catch (error) {
    log.warn(`its telemetry could not be recovered: ${oneLine(error)}`, { job_id, attempt });
  }
}
