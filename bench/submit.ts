/** The time to submit a study of 10, 10^4 and 10^6 runs, and what it leaves in memory and on disk. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SubmissionResponse } from '../src/contract/types.ts';
import { inFolder, withCoordinatorOn } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { study } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const SIZES = [10, 10_000, 1_000_000];
const TIMES = 21;

const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

export async function run(): Promise<Measure[]> {
  const lines: Measure[] = [];
  for (const runs of SIZES) {
    // A fresh coordinator for each size, so that its memory says something of this size alone.
    const found = await inFolder((folder) =>
      withCoordinatorOn(folder, async (coordinator) => {
        const wire = await Wire.open(coordinator.port);
        for (let at = 0; at < TIMES; at += 1) await wire.post('/jobs', study(1, 'warm-up'));
        const before = { mb: coordinator.residentMb(), bytes: bytesIn(folder) };
        const times: number[] = [];
        for (let at = 0; at < TIMES; at += 1) {
          const since = performance.now();
          const { total_jobs } = await wire.post<SubmissionResponse>('/jobs', study(runs));
          times.push(performance.now() - since);
          if (total_jobs !== runs) throw new Error(`${total_jobs} jobs`);
        }
        const grownMb = (coordinator.residentMb() - before.mb) / TIMES;
        wire.close();
        return { times, mb: coordinator.residentMb(), grownMb, kb: (bytesIn(folder) - before.bytes) / TIMES / 1000 };
      }),
    );
    const what = `${runs.toLocaleString('en')} runs`;
    lines.push(
      measure(`submit ${what}`, 'ms', found.times, runs === 1_000_000 ? { atMost: 20 } : undefined),
      measure(`resident memory after submitting ${what}`, 'MB', [found.mb]),
      measure(`memory grown by one submission of ${what}`, 'MB', [found.grownMb]),
      measure(`disk grown by one submission of ${what}`, 'kB', [found.kb]),
    );
  }
  return lines;
}
