/**
 * Jobs per second through their whole life (claim, start, complete with a result), each reply durable: in bulk from four
 * runners, and one by one from 64; and how long `GET /batches/{id}` takes meanwhile.
 */
import type { SubmissionResponse } from '../src/contract/types.ts';
import type { CoordinatorProcess } from './support/coordinator.ts';
import { withCoordinator } from './support/folder.ts';
import { measure, quantile, type Measure } from './support/measure.ts';
import { startProbe } from './support/probe.ts';
import { IdleHands } from './support/runners.ts';
import { study } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const BULK = { runners: 4, size: 64, warmUp: 40_000, jobs: 100_000 };
const SINGLE = { runners: 64, size: 1, warmUp: 6_000, jobs: 15_000 };
const ROUNDS = 3;

export interface Load {
  runners: number;
  size: number;
}

/**
 * One study of `jobs` jobs from its submission to its end: jobs per second. `onSubmitted` is called before the first job.
 * @throws Error when not all jobs were completed
 */
export async function studyRate(
  port: number,
  { runners, size }: Load,
  jobs: number,
  onSubmitted: (batchId: string) => Promise<void> = async () => {},
): Promise<number> {
  const wire = await Wire.open(port);
  const hands = await Promise.all(
    Array.from({ length: runners }, (_, at) => IdleHands.register(port, `r${size}-${at}`, size)),
  );
  const { batch_id } = await wire.post<SubmissionResponse>('/jobs', study(jobs));
  await onSubmitted(batch_id);
  const since = performance.now();
  await Promise.all(hands.map((it) => (size > 1 ? it.workInBulk() : it.workOneByOne())));
  const secs = (performance.now() - since) / 1000;
  const { batch } = await wire.get<{ batch: { completed_jobs: number; status: string } }>(`/batches/${batch_id}`);
  if (batch.status !== 'Completed' || batch.completed_jobs !== jobs)
    throw new Error(`not all jobs: ${JSON.stringify(batch)}`);
  for (const it of [...hands, wire]) it.close();
  return jobs / secs;
}

/** The same beside a viewer: jobs per second, CPU of the coordinator, times of the probe. */
async function round(coordinator: CoordinatorProcess, load: Load, jobs: number) {
  let endProbe = async (): Promise<number[]> => [];
  let cpuBefore = 0;
  let clientBefore: NodeJS.CpuUsage | undefined;
  const jobsPerSec = await studyRate(coordinator.port, load, jobs, async (batchId) => {
    endProbe = await startProbe({ port: coordinator.port, path: `/batches/${batchId}` });
    cpuBefore = coordinator.cpuSecs();
    clientBefore = process.cpuUsage();
  });
  const times = await endProbe();
  const { user, system } = process.cpuUsage(clientBefore);
  return {
    jobsPerSec,
    cpuUs: ((coordinator.cpuSecs() - cpuBefore) * 1e6) / jobs,
    clientCpuUs: (user + system) / jobs,
    p99: quantile(times, 0.99),
  };
}

async function rounds(what: string, load: typeof BULK, target: number): Promise<Measure[]> {
  return withCoordinator(async (coordinator) => {
    await round(coordinator, load, load.warmUp);
    const found: Awaited<ReturnType<typeof round>>[] = [];
    for (let at = 0; at < ROUNDS; at += 1) found.push(await round(coordinator, load, load.jobs));
    return [
      measure(
        `life cycle, ${what}`,
        'jobs/s',
        found.map((it) => it.jobsPerSec),
        { atLeast: target },
      ),
      measure(
        `GET /batches/{id} p99 meanwhile (${what})`,
        'ms',
        found.map((it) => it.p99),
        { atMost: 25 },
      ),
      // The load of other programs on the machine does not change this figure.
      measure(
        `coordinator's CPU per job (${what})`,
        'us',
        found.map((it) => it.cpuUs),
      ),
      measure(
        `client's CPU per job (${what})`,
        'us',
        found.map((it) => it.clientCpuUs),
      ),
      measure(`resident memory afterwards (${what})`, 'MB', [coordinator.residentMb()]),
    ];
  });
}

export async function bulk(): Promise<Measure[]> {
  return rounds('bulk of 64 from 4 runners', BULK, 20_000);
}

export async function single(): Promise<Measure[]> {
  return rounds('single from 64 connections', SINGLE, 3_000);
}

export async function run(): Promise<Measure[]> {
  return [...(await bulk()), ...(await single())];
}
