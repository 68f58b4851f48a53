/**
 * Analyses of a study of many runs: time of each answer, and the longest task of the thread that answers requests while four analyses are in
 * flight, as processor time apart from the waits of a busy machine. `node dist/bench/answers.js [RUNS]`
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { sleep, systemClock } from '../src/base/clock.ts';
import type { Uuid } from '../src/contract/types.ts';
import { jobId } from '../src/domain/ids.ts';
import { openCoordinator } from '../src/coordinator/coordinator.ts';
import type { Asked } from '../src/analysis/questions.ts';
import { stateOf } from '../src/coordinator/kernel/actors/directory.ts';
import { encodeJob } from '../src/coordinator/kernel/actors/job-codec.ts';
import { keys } from '../src/coordinator/kernel/storage/keys.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import { JOB_MEMBERS, initialState } from '../src/contract/members/members.ts';
import { study } from '../test/support/studies.ts';
import { measureTasks } from './support/task-meter.ts';

const RUNS = Number(process.argv[2] ?? 1_000_000);
const OUTPUTS = 10;
const CHUNK = 5_000;

const folder = await mkdtemp(join(tmpdir(), 'simbatch-answers-'));
const store = await openStore(folder);
const coordinator = await openCoordinator(store, systemClock);
const { batch_id: batchId } = await coordinator.submit(study({ runs: RUNS }));

const job = encodeJob({ value: 'Completed', context: { ...initialState(JOB_MEMBERS), completedAtMs: 1 } });
const metadataOf = (run: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: OUTPUTS }, (_, at) => [`output_${at}`, Math.sin(run * (at + 1)) * 100]));

/** Records of completed runs, written directly: reporting them is another benchmark. */
async function write(batch: Uuid, first = 0): Promise<void> {
  for (let from = first; from < RUNS; from += CHUNK) {
    const changes: [string, string][] = [];
    for (let run = from; run < Math.min(RUNS, from + CHUNK); run++) {
      const id = jobId(batch, run);
      const result = { job_id: id, success: true, execution_time_secs: 1, output_files: [], metadata: metadataOf(run) };
      changes.push([keys.job(id), job], [keys.result(id), JSON.stringify(result)]);
    }
    await store.write(changes);
  }
  console.log(`${RUNS - first} runs with ${OUTPUTS} outputs written`);
}
await write(batchId);

const ask = async (name: string, question: Asked): Promise<void> => {
  const startedMs = performance.now();
  const answer = await coordinator.answer(question, { waitMs: 3_600_000 });
  const size = answer.state === 'ready' ? `${answer.body.length} bytes` : answer.state;
  console.log(`${name.padEnd(24)} ${((performance.now() - startedMs) / 1000).toFixed(2)} s  ${size}`);
};

/** Prints the processor time of this thread by iteration of its event loop while the work is done. */
async function tasksDuring(name: string, work: () => Promise<unknown>): Promise<void> {
  const report = await measureTasks(work);
  console.table({ [name]: report });
}

/** One thread that computes, as the worker does: the delay that this machine's scheduler causes by itself. */
function computing(forMs: number): Promise<unknown> {
  const worker = new Worker(`const end = Date.now() + ${forMs}; while (Date.now() < end);`, { eval: true });
  return new Promise((resolve) => worker.once('exit', resolve));
}

await tasksDuring('idle', () => sleep(systemClock, 5_000));
await tasksDuring('another thread computes', () => computing(5_000));
await tasksDuring('four analyses in flight', () =>
  Promise.all([
    ask('summary, study read', { name: 'summary', batchId, query: {} }),
    ask('attribution', { name: 'attribution', batchId, query: { failing: 'outputs.output_0 > 90' } }),
    ask('sensitivity', { name: 'sensitivity', batchId, query: { output: 'output_0' } }),
    ask('convergence', { name: 'convergence', batchId, query: { output: 'output_1', quantity: 'p95' } }),
  ]),
);
await ask('summary, study in memory', { name: 'summary', batchId, query: { confidence: 0.9 } });
await ask('the same answer again', { name: 'summary', batchId, query: { confidence: 0.9 } });

// An open study of as many runs: further ends change the version of its answers.
const ENDS = 100;
const ROUNDS = 4;
const { batch_id: open } = await coordinator.submit(study({ runs: RUNS }));
const capabilities = {
  max_concurrent_jobs: ENDS * ROUNDS,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};
// The records of the other runs first: the claims must not expire meanwhile. Then counters that agree with them.
await write(open, ENDS * ROUNDS);
await coordinator.register({ id: 'r', instance: 'i', capabilities });
const { assignments } = await coordinator.claim('r', { instance: 'i', max_jobs: ENDS * ROUNDS, wait_seconds: 0 });
const live = coordinator.parts.directory.batches.get(open)!;
coordinator.parts.directory.restore('batch', open, {
  value: 'Running',
  context: { ...stateOf(live).context, next: RUNS, completed: RUNS - ENDS * ROUNDS },
});
for (let round = 0; round < ROUNDS; round++) {
  const reports = assignments
    .slice(round * ENDS, (round + 1) * ENDS)
    .flatMap(({ job: { id, run_config }, attempt }) => {
      const about = { job_id: id, attempt };
      const result = { execution_time_secs: 1, output_files: [], metadata: metadataOf(run_config.run_id) };
      return [
        { type: 'start' as const, ...about },
        { type: 'complete' as const, ...about, result },
      ];
    });
  await coordinator.reports('r', { instance: 'i', reports });
  const name = round === 0 ? 'open study, read whole' : `after ${ENDS} further ends`;
  await ask(name, { name: 'convergence', batchId: open, query: { output: 'output_1', quantity: 'mean' } });
}

await coordinator.close();
await rm(folder, { recursive: true });
