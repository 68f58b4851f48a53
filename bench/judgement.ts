/**
 * Requirements judged while a study of many runs ends, or precisions: time per run, and the longest slice on the thread of requests. The first run
 * ends last, so that all others wait for the prefix, which is the worst case. `node dist/bench/judgement.js [RUNS] [precise | replicates]`
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fact } from '../machines/protocol.ts';
import { systemClock } from '../src/base/clock.ts';
import { openCoordinator } from '../src/coordinator/coordinator.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import type { BatchSubmission, Precision } from '../src/contract/types.ts';
import { outcomesText } from '../src/coordinator/judgement/pending-outcomes.ts';
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
/** Targets that no study reaches, so that it is looked at to its end. */
const precision: Precision[] = [
  { output: 'miss', quantity: 'mean', bounds: [0, 1], half_width: 1e-9 },
  { output: 'miss', quantity: 'probability', condition: '< 0.9', half_width: 1e-9 },
  { output: 'miss', quantity: 'p95', half_width: 1e-9 },
];
const rule = process.argv[3];
if (rule !== undefined && rule !== 'precise' && rule !== 'replicates') throw new Error(`no rule is named ${rule}`);
const design = { sampling_method: 'latin_hypercube' as const, replicates: Math.min(10_000, RUNS / 8) };
const submission: BatchSubmission =
  rule === undefined
    ? { ...study({ runs: RUNS }), requirements }
    : {
        ...study({ runs: RUNS, ...(rule === 'replicates' ? { config: { monte_carlo: design } } : {}) }),
        policy: { stop_when: 'precise', precision },
      };
const { batch_id: batchId } = await coordinator.submit(submission);

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
  outcomes: rule === undefined ? (random() < 0.9 ? 'ppp' : 'fff') : valuesText(random()),
});

/** The value of a run under each precision, as a completed run has it. */
const valuesText = (miss: number): string => outcomesText('p', [miss, Number(miss < 0.9), miss]);

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
const goals = rule === undefined ? `${requirements.length} requirements` : `${precision.length} precisions`;
console.log(`${RUNS} runs judged under ${goals} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
console.table({ 'ends taken, in groups of 1000': taken, 'the prefix judged': judged });
const { requirements: verdicts = [], precision: reached = [] } = await coordinator.batch(batchId);
console.log([...verdicts.map((it) => `${it.name}: ${it.sentence}`), ...reached.map((it) => it.sentence)].join('\n'));
await coordinator.close();
await rm(folder, { recursive: true });
