/**
 * The first start of a store whose studies are not in the index of studies, as an older version, an import and a repair leave it: from starting the
 * process until `/healthz` answers, until a submission finds the study that it continues, and how long other requests take meanwhile. Before
 * these, the same in this process: processor time of the longest iteration of the event loop from the first step of the listing to the last.
 * `node dist/bench/unlisted.js [STUDIES]`.
 */
import { cpSync } from 'node:fs';
import { systemClock } from '../src/base/clock.ts';
import { type Coordinator, openCoordinator } from '../src/coordinator/coordinator.ts';
import { keys } from '../src/coordinator/kernel/storage/keys.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import { decodeSubmission, encodeSubmission } from '../src/coordinator/kernel/records/study-cache.ts';
import { decodeBatch, ACTOR_KINDS } from '../src/coordinator/kernel/actors/actor-kinds.ts';
import { newBatchId } from '../src/domain/ids.ts';
import type { Uuid } from '../src/contract/types.ts';
import { inFolder, withCoordinatorOn } from './support/folder.ts';
import { quantile } from './support/measure.ts';
import { seedOutputs } from './support/seeded.ts';
import { study } from './support/studies.ts';
import { measureTasks } from './support/task-meter.ts';
import { Wire } from './support/wire.ts';

const STUDIES = Number(process.argv[2] ?? 100_000);
const WRITTEN_AT_ONCE = 5_000;
const ROUNDS = 3;

/** Copies of one ended study, each of a version of its own, a second apart. Returns the first of them. */
async function seedStudies(directory: string): Promise<Uuid> {
  const origin = await seedOutputs(directory, 1, () => ({ x: 1 }));
  const store = await openStore(directory);
  const { context } = decodeBatch(store.get(keys.batch(origin))!);
  const { submission, seed } = decodeSubmission(store.get(keys.submission(origin))!);
  const since = Date.now() - STUDIES * 1000;
  let first = '';
  for (let from = 0; from < STUDIES; from += WRITTEN_AT_ONCE) {
    const changes = new Map<string, string>();
    for (let at = from; at < Math.min(STUDIES, from + WRITTEN_AT_ONCE); at += 1) {
      const createdAtMs = since + at * 1000;
      const batchId = newBatchId(createdAtMs, crypto.getRandomValues(new Uint8Array(6)));
      if (at === 0) first = batchId;
      const batch = { value: 'Completed' as const, context: { ...context, batchId, createdAtMs } };
      changes.set(keys.batch(batchId), ACTOR_KINDS.batch.encode(batch));
      changes.set(keys.submission(batchId), encodeSubmission(versioned(submission, at), seed));
    }
    await store.write(changes);
  }
  await store.close();
  return first;
}

const versioned = (submission: ReturnType<typeof study>, at: number): ReturnType<typeof study> => ({
  ...submission,
  config: { ...submission.config, simulation: { ...submission.config.simulation, version: String(at) } },
});

/** Submits the first study again until the answer is not 503. */
async function continued(wire: Wire, first: Uuid): Promise<void> {
  for (;;) {
    const body = JSON.stringify(versioned(study(1), 0));
    const { status, text } = await wire.request('POST', '/jobs?continue=true', body);
    if (status === 503) continue;
    const { batch_id: found } = JSON.parse(text) as { batch_id?: Uuid };
    if (found !== first) throw new Error(`found ${found} and not ${first}: ${text}`);
    return;
  }
}

/** Waits until all studies are listed, beyond the time that a submission waits. */
async function whole(coordinator: Coordinator): Promise<void> {
  for (;;) {
    try {
      return await coordinator.parts.studyIndexing.whole();
    } catch (error) {
      if ((error as { code?: string }).code !== 'unavailable') throw error;
    }
  }
}

/** Lists the studies of a copy of the directory in this process. */
async function listed(directory: string): Promise<void> {
  await inFolder(async (folder) => {
    cpSync(directory, folder, { recursive: true });
    const since = performance.now();
    const coordinator = await openCoordinator(await openStore(folder), systemClock);
    const openMs = performance.now() - since;
    const tasks = await measureTasks(() => whole(coordinator));
    const listedMs = performance.now() - since - openMs;
    console.log(
      `opened after ${openMs.toFixed(0)} ms, listed after another ${listedMs.toFixed(0)} ms; iterations of the event loop meanwhile: ` +
        `longest ${tasks.longestCpuMs.toFixed(1)} ms of processor time, ${tasks.over10Ms} of ${tasks.iterations} over 10 ms; longest garbage collection ${tasks.longestGcMs.toFixed(1)} ms`,
    );
    await coordinator.close();
  });
}

await inFolder(async (directory) => {
  const first = await seedStudies(directory);
  for (let round = 0; round < ROUNDS; round += 1) await listed(directory);
  for (const start of ['first', 'second']) {
    const since = performance.now();
    await withCoordinatorOn(directory, async (coordinator) => {
      const [wire, other] = [await Wire.open(coordinator.port), await Wire.open(coordinator.port)];
      await wire.get('/healthz');
      const healthyMs = performance.now() - since;
      let isFound = false;
      const found = continued(wire, first).then(() => (isFound = true));
      const waits: number[] = [];
      while (!isFound) {
        const askedMs = performance.now();
        await other.get('/healthz');
        waits.push(performance.now() - askedMs);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await found;
      const foundMs = performance.now() - since;
      const shown = [0.5, 0.99, 1].map((p) => quantile(waits, p).toFixed(1)).join(', ');
      console.log(
        `${start} start with ${STUDIES} studies: healthy after ${healthyMs.toFixed(0)} ms, a study continued after ${foundMs.toFixed(0)} ms, ` +
          `CPU ${coordinator.cpuSecs().toFixed(1)} s; another request meanwhile: median, 99 %, longest ${shown} ms`,
      );
      wire.close();
      other.close();
    });
  }
});
