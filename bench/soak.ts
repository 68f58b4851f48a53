/**
 * A long run: 10^6 jobs through their whole life in bulk. Does it slow down, does memory grow? Compares the first and the
 * last tenth, the warm-up left out.
 */
import type { SubmissionResponse } from '../src/contract/types.ts';
import { withCoordinator } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { IdleHands } from './support/runners.ts';
import { study } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const WARM_UP = 100_000;
const JOBS = 1_000_000;
const PARTS = 10;
const RUNNERS = 4;
const BULK = 64;

interface Part {
  atMs: number;
  cpuSecs: number;
  residentMb: number;
}

export async function run(): Promise<Measure[]> {
  return withCoordinator(async (coordinator) => {
    const wire = await Wire.open(coordinator.port);
    const hands = await Promise.all(
      Array.from({ length: RUNNERS }, (_, at) => IdleHands.register(coordinator.port, `s${at}`, BULK)),
    );
    await wire.post<SubmissionResponse>('/jobs', study(WARM_UP));
    await Promise.all(hands.map((it) => it.workInBulk()));

    const parts: Part[] = [];
    const note = (): void => {
      parts.push({ atMs: performance.now(), cpuSecs: coordinator.cpuSecs(), residentMb: coordinator.residentMb() });
    };
    await wire.post<SubmissionResponse>('/jobs', study(JOBS));
    note();
    let done = 0;
    const onDone = (jobs: number): void => {
      done += jobs;
      if (done >= (JOBS / PARTS) * parts.length) note();
    };
    await Promise.all(hands.map((it) => it.workInBulk(onDone)));
    for (const it of [...hands, wire]) it.close();

    const perPart = JOBS / PARTS;
    const between = <T>(read: (before: Part, after: Part) => T): T[] =>
      parts.slice(1).map((after, at) => read(parts[at] as Part, after));
    const rates = between((before, after) => perPart / ((after.atMs - before.atMs) / 1000));
    const cpuUs = between((before, after) => ((after.cpuSecs - before.cpuSecs) * 1e6) / perPart);
    const resident = parts.slice(1).map((it) => it.residentMb);
    const change = (values: readonly number[]): number => 100 * ((values.at(-1) ?? NaN) / (values[0] ?? NaN) - 1);
    return [
      measure('soak of 10^6 jobs, per tenth', 'jobs/s', rates),
      measure("coordinator's CPU per job, per tenth", 'us', cpuUs),
      measure('resident memory, per tenth', 'MB', resident),
      measure('rate of the last tenth against the first', '%', [change(rates)], { atLeast: -10 }),
      measure('CPU per job of the last tenth against the first', '%', [change(cpuUs)], { atMost: 10 }),
      measure('memory after the last tenth against the first', '%', [change(resident)], { atMost: 10 }),
    ];
  });
}
