/** Streaming whole lists: the jobs of 10^6 derived runs with six dispersions, and 10^6 stored results. */
import { get } from 'node:http';
import { withCoordinatorOn, inFolder } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { seed } from './support/seeded.ts';

const RUNS = 1_000_000;
const ROUNDS = 3;
const MB_MORE = 100;
/** Of derived runs and of results; ended runs have both a record and parameters. */
const RATE = 100_000;
const ENDED_RATE = 150_000;

/** Reads the whole answer and throws it away, counting how often `mark` occurs in it. */
function drain(url: string, mark: string): Promise<{ secs: number; count: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const since = performance.now();
    get(url, (response) => {
      let count = 0;
      let bytes = 0;
      const wanted = Buffer.from(mark);
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        for (let at = chunk.indexOf(wanted); at >= 0; at = chunk.indexOf(wanted, at + wanted.length)) count += 1;
      });
      response.on('end', () => resolve({ secs: (performance.now() - since) / 1000, count, bytes }));
      response.on('error', reject);
    }).on('error', reject);
  });
}

export async function run(): Promise<Measure[]> {
  return inFolder(async (folder) => {
    const { active, finished } = await seed(folder, RUNS, 0);
    const lists = [
      { what: 'stream GET /jobs of 10^6 derived runs', path: `/jobs?batch_id=${active}`, mark: '"run_config"' },
      { what: 'stream GET /batches/{id}/results of 10^6', path: `/batches/${finished}/results`, mark: '"job_id"' },
      { what: 'stream GET /jobs of 10^6 ended runs', path: `/jobs?batch_id=${finished}`, mark: '"run_config"' },
    ];
    const lines: Measure[] = [];
    for (const [at, { what, path, mark }] of lists.entries()) {
      // A coordinator of its own for each list, so that the memory of one is not taken for that of the next.
      const rounds = await withCoordinatorOn(folder, async (coordinator) => {
        const found: { rate: number; mbMore: number }[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          const before = coordinator.ownMb();
          const highest = coordinator.watchResident(() => coordinator.ownMb());
          const { secs, count } = await drain(coordinator.url + path, mark);
          // A mark may be cut in two by the border of a chunk.
          if (count < RUNS * 0.99) throw new Error(`${count} items came of ${RUNS}`);
          found.push({ rate: RUNS / secs, mbMore: highest() - before });
        }
        return found;
      });
      const target = { atLeast: at < 2 ? RATE : ENDED_RATE };
      lines.push(
        measure(
          what,
          '/s',
          rounds.map((it) => it.rate),
          target,
        ),
      );
      const more = rounds.map((it) => it.mbMore);
      // Only the first round counts: later ones find the memory already taken.
      lines.push(measure(`memory more, ${what}`, 'MB', [Math.max(...more)], { atMost: MB_MORE }));
    }
    return lines;
  });
}
