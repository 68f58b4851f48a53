/**
 * Requirements judged while a study of many runs ends: time per run, and the longest slice on the thread of requests. The first run
 * ends last, so that all others wait for the prefix, which is the worst case. `node dist/bench/judgement.js [RUNS]`
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fact } from '../machines/protocol.ts';
import { systemClock } from '../src/base/clock.ts';
import { openCoordinator } from '../src/coordinator/coordinator.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import { jobId } from '../src/domain/ids.ts';
import { seededRandom } from '../test/support/simulated-clock.ts';
import { study } from '../test/support/studies.ts';
import { measureTasks } from './support/task-meter.ts';

const RUNS = Number(process.argv[2] ?? 1_000_000);
const GROUP = 1_000;

const folder = await mkdtemp(join(tmpdir(), 'simbatch-judgement-'));
const coordinator = await openCoordinator(await openStore(folder), systemClock);
// The truth is the required probability itself: the test stays undecided longest, and looks most often.
const requirement = (name: string, probability: number) =>
  ({ name, output: 'miss', condition: '< 1', probability, confidence: 0.999, look: 'continuous' }) as const;
const requirements = [requirement('a', 0.9), requirement('b', 0.9), requirement('c', 0.9)];
const { batch_id: batchId } = await coordinator.submit({ ...study({ runs: RUNS }), requirements });

const random = seededRandom(1);
const ended = (runId: number): Fact => ({
  type: 'job.ended',
  jobId: jobId(batchId, runId),
  batchId,
  runId,
  runnerId: 'r',
  attempt: 1,
  now: 0,
  from: 'Running',
  to: 'Completed',
  touched: true,
  error: undefined,
  startedAtMs: 0,
  outcomes: random() < 0.9 ? 'ppp' : 'fff',
});

const { judgements } = coordinator.parts;
const taken = await measureTasks(async () => {
  for (let from = 1; from < RUNS; from += GROUP) {
    judgements.committed(Array.from({ length: Math.min(GROUP, RUNS - from) }, (_, at) => ended(from + at)));
    await new Promise((resolve) => setImmediate(resolve));
  }
});
const startedMs = performance.now();
const judged = await measureTasks(async () => {
  judgements.committed([ended(0)]);
  await judgements.idle();
});
console.log(
  `${RUNS} runs judged under ${requirements.length} requirements in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
);
console.table({ 'ends taken, in groups of 1000': taken, 'the prefix judged': judged });
const { requirements: verdicts = [] } = await coordinator.batch(batchId);
console.log(verdicts.map((it) => `${it.name}: ${it.sentence}`).join('\n'));
await coordinator.close();
await rm(folder, { recursive: true });
