/** From starting the process to `/healthz` being answered, with 10^6 finished and 10^4 active runs in the store. */
import { withCoordinatorOn, inFolder } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { seed } from './support/seeded.ts';
import { Wire } from './support/wire.ts';

const FINISHED = 1_000_000;
const ACTIVE = 10_000;
const TIMES = 5;

interface Counts {
  jobs_by_status: { Running: number; Completed: number };
}

export async function run(): Promise<Measure[]> {
  return inFolder(async (folder) => {
    const { active, finished } = await seed(folder, FINISHED, ACTIVE);
    const times: number[] = [];
    const resident: number[] = [];
    for (let at = 0; at <= TIMES; at += 1) {
      const since = performance.now();
      await withCoordinatorOn(folder, async (coordinator) => {
        const wire = await Wire.open(coordinator.port);
        await wire.get('/healthz');
        // The first start reads what has just been written and is not counted.
        if (at > 0) times.push(performance.now() - since);
        resident.push(coordinator.residentMb());
        const { jobs_by_status: counts } = await wire.get<Counts>(`/batches/${active}`);
        const { jobs_by_status: ended } = await wire.get<Counts>(`/batches/${finished}`);
        if (counts.Running !== ACTIVE || ended.Completed !== FINISHED) throw new Error('the runs are not all there');
        wire.close();
      });
    }
    return [
      measure('restart with 10^6 finished and 10^4 active runs, to healthy', 'ms', times, { atMost: 1500 }),
      measure('resident memory after that restart', 'MB', resident),
    ];
  });
}
