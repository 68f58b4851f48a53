/** The table of 10^6 ended runs with 32 columns as CSV, Parquet and Arrow, read to its end; and a sorted page of it. */
import { get } from 'node:http';
import { withCoordinatorOn, inFolder } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { seedOutputs } from './support/seeded.ts';

const RUNS = Number(process.env['BENCH_RUNS'] ?? 1_000_000);
const ROUNDS = 3;
const MB_MORE = 150;
/** With the columns of runs and six parameters. */
const COLUMNS = 32;
const OUTPUTS = 8;
const FORMATS = ['csv', 'parquet', 'arrow', 'ndjson'] as const;

/** Different digits in every run, as in real results. */
const metadataOf = (runId: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: OUTPUTS }, (_, at) => [`output_${at}`, Math.sin(runId * (at + 1)) * 100]));

/** Reads the whole answer and throws it away. */
function drain(url: string): Promise<{ secs: number; bytes: number; start: Buffer }> {
  return new Promise((resolve, reject) => {
    const since = performance.now();
    get(url, (response) => {
      let bytes = 0;
      let start: Buffer | undefined;
      response.on('data', (chunk: Buffer) => {
        start ??= chunk;
        bytes += chunk.length;
      });
      response.on('end', () => {
        if (response.statusCode !== 200) return reject(new Error(`${url} is answered ${response.statusCode}`));
        return resolve({ secs: (performance.now() - since) / 1000, bytes, start: start ?? Buffer.alloc(0) });
      });
      response.on('error', reject);
    }).on('error', reject);
  });
}

export async function run(): Promise<Measure[]> {
  return inFolder(async (folder) => {
    const batchId = await seedOutputs(folder, RUNS, metadataOf);
    const path = `/batches/${batchId}/table`;
    const lines: Measure[] = [];
    for (const format of FORMATS) {
      // A coordinator of its own for each format, so that the memory of one is not taken for that of the next.
      const rounds = await withCoordinatorOn(folder, async (coordinator) => {
        const found: { rate: number; mbMore: number; residentMore: number; mb: number; cpu: number }[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          const before = coordinator.ownMb();
          const resident = coordinator.residentMb();
          const highest = coordinator.watchResident(() => coordinator.ownMb());
          const highestResident = coordinator.watchResident();
          const cpu = coordinator.cpuSecs();
          const { secs, bytes, start } = await drain(`${coordinator.url}${path}?format=${format}`);
          const columns = start.toString('latin1').split('\r\n', 1)[0]!.split(',').length;
          if (format === 'csv' && columns !== COLUMNS) throw new Error(`the table has ${columns} columns`);
          found.push({
            rate: RUNS / secs,
            mbMore: highest() - before,
            residentMore: highestResident() - resident,
            mb: bytes / 1e6,
            cpu: ((coordinator.cpuSecs() - cpu) * 1e6) / RUNS,
          });
        }
        return found;
      });
      const [first, ...later] = rounds;
      const isTarget = format === 'csv' || format === 'parquet';
      const rate = isTarget ? { atLeast: 100_000 } : undefined;
      const rates = later.map((it) => it.rate);
      lines.push(
        measure(
          `table of ${RUNS} runs as ${format}, first time: outputs are found first`,
          'rows/s',
          [first!.rate],
          rate,
        ),
        measure(`the same again`, 'rows/s', rates, rate),
        measure(
          `processor time a row, ${format}, of both threads`,
          'us',
          rounds.map((it) => it.cpu),
        ),
        // Only the first round counts: later ones find the memory already taken.
        measure(
          `memory more, ${format} (${Math.round(first!.mb)} MB sent)`,
          'MB',
          [Math.max(...rounds.map((it) => it.mbMore))],
          isTarget ? { atMost: MB_MORE } : undefined,
        ),
        measure('resident with the mapped files of LevelDB', 'MB', [Math.max(...rounds.map((it) => it.residentMore))]),
      );
    }
    const sorted = await withCoordinatorOn(folder, async (coordinator) => {
      const page = `${coordinator.url}${path}?sort=-outputs.output_3&where=outputs.output_0%20>%2090&limit=100`;
      const took: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) took.push((await drain(page)).secs);
      return took;
    });
    lines.push(
      measure('a page of 100 selected and sorted runs, first time', 's', sorted.slice(0, 1)),
      measure('the same again: the selection is known', 's', sorted.slice(1)),
    );
    return lines;
  });
}
