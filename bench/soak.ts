/**
 * A long run: jobs through their whole life in bulk, in ten studies of equal size. Does it slow down, do memory and disk grow?
 * `npm run bench -- soak:10000000` runs 10^7 jobs in place of 10^6.
 *
 * A study is deleted when the next one has ended, as `--retain-days` deletes studies (the sweep calls the same operation; it
 * counts in days). A study before the first tenth warms up, so that each tenth deletes as many records as it writes.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SubmissionResponse } from '../src/contract/types.ts';
import type { CoordinatorProcess } from './support/coordinator.ts';
import { inFolder, withCoordinatorOn } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { IdleHands } from './support/runners.ts';
import { study } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const JOBS = 1_000_000;
const PARTS = 10;
const RUNNERS = 4;
const BULK = 64;

interface Part {
  secs: number;
  cpuSecs: number;
  residentMb: number;
  diskMb: number;
}

/** @param argument the number of jobs; 10^6 without one */
export async function run(argument?: string): Promise<Measure[]> {
  const jobs = argument === undefined ? JOBS : Number(argument);
  if (!Number.isSafeInteger(jobs / PARTS) || jobs <= 0)
    throw new Error(`${argument} jobs cannot be divided into ${PARTS} equal studies`);
  const parts = await inFolder((folder) => withCoordinatorOn(folder, (it) => soak(it, folder, jobs / PARTS)));
  return measures(jobs, parts);
}

async function soak(coordinator: CoordinatorProcess, folder: string, perPart: number): Promise<Part[]> {
  const hands = await Promise.all(
    Array.from({ length: RUNNERS }, (_, at) => IdleHands.register(coordinator.port, `s${at}`, BULK)),
  );
  const parts: Part[] = [];
  let ended: string | undefined;
  for (let at = 0; at <= PARTS; at += 1) {
    const [sinceMs, cpu] = [performance.now(), coordinator.cpuSecs()];
    ended = await next(coordinator.port, ended, perPart);
    await Promise.all(hands.map((it) => it.workInBulk()));
    parts.push({
      secs: (performance.now() - sinceMs) / 1000,
      cpuSecs: coordinator.cpuSecs() - cpu,
      residentMb: coordinator.residentMb(),
      diskMb: sizeMb(folder),
    });
    console.log(`${at} of ${PARTS}: ${JSON.stringify(parts.at(-1))}`);
  }
  for (const it of hands) it.close();
  return parts.slice(1);
}

/** Deletes the study that ended, and submits another one. An idle connection would be closed in between. */
async function next(port: number, ended: string | undefined, runs: number): Promise<string> {
  const wire = await Wire.open(port);
  if (ended !== undefined) await wire.delete(`/batches/${ended}`);
  const { batch_id } = await wire.post<SubmissionResponse>('/jobs', study(runs));
  wire.close();
  return batch_id;
}

/** The size of the files in the directory, in MB (10^6 bytes). */
function sizeMb(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    // LevelDB deletes files at any time.
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes / 1e6;
}

function measures(jobs: number, parts: readonly Part[]): Measure[] {
  const perPart = jobs / PARTS;
  const of = (read: (it: Part) => number): number[] => parts.map(read);
  const [rates, cpuUs] = [of((it) => perPart / it.secs), of((it) => (it.cpuSecs * 1e6) / perPart)];
  const [resident, disk] = [of((it) => it.residentMb), of((it) => it.diskMb)];
  const change = (values: readonly number[]): number => 100 * ((values.at(-1) ?? NaN) / (values[0] ?? NaN) - 1);
  return [
    measure(`soak of ${jobs.toLocaleString('en')} jobs, per tenth`, 'jobs/s', rates),
    measure("coordinator's CPU per job, per tenth", 'us', cpuUs),
    measure('resident memory, per tenth', 'MB', resident),
    measure('data directory, per tenth', 'MB', disk),
    measure('rate of the last tenth against the first', '%', [change(rates)], { atLeast: -10 }),
    measure('CPU per job of the last tenth against the first', '%', [change(cpuUs)], { atMost: 10 }),
    measure('memory after the last tenth against the first', '%', [change(resident)], { atMost: 10 }),
    measure('data directory after the last tenth against the first', '%', [change(disk)], { atMost: 50 }),
  ];
}
