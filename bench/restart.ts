/** From starting the process to `/healthz` being answered, with 10^6 finished runs and 10^4 or 10^5 active ones in the store. */
import { withCoordinatorOn, inFolder } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { seed, type Seeded } from './support/seeded.ts';
import { Wire } from './support/wire.ts';

const FINISHED = 1_000_000;
const TIMES = 5;
/** Active runs, and the time that a start may take with them, in ms. */
const CASES = [
  { active: 10_000, atMost: 1_000 },
  { active: 100_000, atMost: 3_000 },
] as const;

interface Counts {
  jobs_by_status: { Running: number; Completed: number };
}

export async function run(): Promise<Measure[]> {
  const lines: Measure[] = [];
  for (const { active, atMost } of CASES) {
    const { times, cpu, resident } = await inFolder((folder) => restarts(folder, active));
    lines.push(
      measure(`restart with 10^6 finished and ${active} active runs, to healthy`, 'ms', times, { atMost }),
      measure('processor time of that restart, all threads', 'ms', cpu),
      measure('resident memory after that restart', 'MB', resident),
    );
  }
  return lines;
}

async function restarts(folder: string, active: number) {
  const seeded = await seed(folder, FINISHED, active);
  const [times, cpu, resident]: [number[], number[], number[]] = [[], [], []];
  for (let at = 0; at <= TIMES; at += 1) {
    const since = performance.now();
    await withCoordinatorOn(folder, async (coordinator) => {
      const wire = await Wire.open(coordinator.port);
      await wire.get('/healthz');
      // The first start reads what has just been written and is not counted.
      if (at > 0) {
        times.push(performance.now() - since);
        cpu.push(coordinator.cpuSecs() * 1000);
        resident.push(coordinator.residentMb());
      }
      await check(wire, seeded, active);
      wire.close();
    });
  }
  return { times, cpu, resident };
}

async function check(wire: Wire, { active, finished }: Seeded, running: number): Promise<void> {
  const { jobs_by_status: counts } = await wire.get<Counts>(`/batches/${active}`);
  const { jobs_by_status: ended } = await wire.get<Counts>(`/batches/${finished}`);
  if (counts.Running !== running || ended.Completed !== FINISHED) throw new Error('the runs are not all there');
}
