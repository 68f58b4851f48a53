/**
 * The most resident memory of a coordinator that answers every question about studies of the most runs: `node dist/bench/largest.js [RUNS] [FOLDER]`.
 * The studies are made in FOLDER where it has none, and stay there; without one they are made in a temporary folder. 10,000,000 runs take about 5 GB of disk.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { QUESTIONS } from '../src/analysis/questions.ts';
import { systemClock } from '../src/base/clock.ts';
import type { BatchSubmission, Uuid } from '../src/contract/types.ts';
import { openCoordinator } from '../src/coordinator/coordinator.ts';
import { keys } from '../src/coordinator/kernel/storage/keys.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import type { Store } from '../src/coordinator/kernel/storage/store.ts';
import { jobId } from '../src/domain/ids.ts';
import { ServerProcess } from './support/server-process.ts';
import { study } from './support/studies.ts';

const RUNS = Number(process.argv[2] ?? 10_000_000);
const MOST_MB = 1_500;
const CHUNK = 10_000;
const SIMBATCH = fileURLToPath(new URL('../bin/simbatch.js', import.meta.url));

interface Studies {
  whole: Uuid;
  blocks: Uuid;
}

/** Rows of a block of the design `saltelli` with six inputs. */
const BLOCK = 8;

function submission(name: string, version: string, runs = RUNS): BatchSubmission {
  const base = study(runs, name);
  base.config.simulation.version = version;
  base.requirements = [{ name: 'near', output: 'miss_m', condition: '< 90', probability: 0.9 }];
  return base;
}

/** A quarter as large, so that both studies are in memory when they are compared. */
function blocksOf(): BatchSubmission {
  const base = submission('blocks', '1', BLOCK * 2 ** Math.floor(Math.log2(RUNS / 4 / BLOCK)));
  base.config.monte_carlo.sampling_method = 'saltelli';
  return base;
}

/** The records of a run: of 100 runs 2 crash and 1 is terminated early, the others complete; all have two numbers, a boolean and a text. */
function recordsOf(id: Uuid, run: number, now: number): [string, string][] {
  const kind = run % 100;
  const times = `"claimed":${now},"started":${now},"ended":${now}`;
  const isComplete = kind > 2;
  const head = `{"value":"${isComplete ? 'Completed' : 'Failed'}","attempt":1,"retries":0,"losses":0,"runnerId":"r0","completedAtMs":${now}`;
  const reason = kind === 2 ? 'early_termination' : 'exit';
  const outcome = isComplete ? '"completed"' : `"failed","reason":"${reason}"`;
  const attempt = `{"n":1,"runner":"r0",${times},"outcome":${outcome}}`;
  const error = isComplete ? '' : `,"error":"the simulation ended with exit code ${run % 7}"`;
  const miss = Math.round(Math.abs(Math.sin(run * 3.7)) * 1e6) / 1e4;
  const metadata = `{"apogee_m":${8000 + (run % 977)},"miss_m":${miss},"recovered":${run % 3 === 0},"phase":"${run % 5 === 0 ? 'ballistic' : 'parachute'}"}`;
  return [
    [keys.job(id), `${head}${error},"attempts":[${attempt}],"attemptsOmitted":0}`],
    [
      keys.result(id),
      `{"job_id":"${id}","success":${isComplete},"execution_time_secs":1.5,"output_files":[],"metadata":${metadata}}`,
    ],
  ];
}

/** Writes the records of an ended study as a coordinator leaves them: reporting the runs is another benchmark. */
async function endAll(store: Store, batchId: Uuid, runs: number): Promise<void> {
  const now = systemClock.now();
  for (let from = 0; from < runs; from += CHUNK) {
    const changes: [string, string][] = [];
    for (let run = from; run < Math.min(runs, from + CHUNK); run++)
      changes.push(...recordsOf(jobId(batchId, run), run, now));
    await store.write(changes);
  }
  // Three of 100 runs, as `recordsOf` has them.
  const countOf = (kind: number): number => Math.ceil((runs - kind) / 100);
  const terminated = countOf(2);
  const failed = countOf(0) + countOf(1) + terminated;
  const batch = JSON.parse(store.get(keys.batch(batchId)) ?? '{}') as Record<string, unknown>;
  const ended = {
    ...batch,
    value: 'Completed',
    next: runs,
    completed: runs - failed,
    failed,
    terminated,
    startedAtMs: now,
    endedAtMs: now,
  };
  await store.write([
    [keys.batch(batchId), JSON.stringify(ended)],
    [keys.open(batchId), null],
  ]);
}

async function makeStudies(folder: string): Promise<Studies> {
  const path = join(folder, 'data');
  mkdirSync(path, { recursive: true });
  const coordinator = await openCoordinator(await openStore(path), systemClock);
  const submissions = [submission('whole', '1'), blocksOf()];
  const ids: Uuid[] = [];
  for (const it of submissions) ids.push((await coordinator.submit(it)).batch_id);
  await coordinator.close();
  const store = await openStore(path);
  for (const [at, { name, config }] of submissions.entries()) {
    const startedMs = performance.now();
    await endAll(store, ids[at]!, config.monte_carlo.runs);
    console.log(`${name}: ${config.monte_carlo.runs} runs in ${seconds(startedMs)} s`);
  }
  await store.close();
  const [whole, blocks] = ids as [Uuid, Uuid];
  return { whole, blocks };
}

const seconds = (sinceMs: number): string => ((performance.now() - sinceMs) / 1000).toFixed(0);

/** The queries of questions that need one, or that have another way of answering. */
const ASKED: Readonly<Partial<Record<(typeof QUESTIONS)[number]['name'], readonly string[]>>> = {
  summary: ['', '?missing=at_random'],
  distributions: ['', '?bins=200'],
  verdicts: ['', '?output=apogee_m&condition=%3E+7900&probability=0.5&look=continuous'],
  sensitivity: ['?output=miss_m', '?output=recovered'],
  indices: ['?output=miss_m'],
  attribution: ['', '?failing=outputs.miss_m+%3E+90'],
  convergence: ['?output=miss_m&quantity=mean', '?output=miss_m&quantity=p95', '?quantity=failure'],
  worst: ['?output=miss_m&k=100'],
};

/** Readings of a study that are streams; they are read to their end. */
const STREAMS = ['table?format=csv', 'table?limit=100&sort=-outputs.miss_m', 'manifest', 'results?limit=1000'];

const given = process.argv[3];
const folder = given ?? mkdtempSync(join(tmpdir(), 'simbatch-largest-'));
const list = join(folder, 'studies.json');
if (!existsSync(list)) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(list, JSON.stringify(await makeStudies(folder)));
}
const { whole, blocks } = JSON.parse(readFileSync(list, 'utf8')) as Studies;
const args = ['serve', '--port', '0', '--data-dir', join(folder, 'data'), '--log-level', 'warn'];
const server = await ServerProcess.spawn([SIMBATCH, ...args]);
let missed = 0;

/** Asks until the answer is there, reads it to its end, and prints status, time, size and the most resident memory. */
async function asked(batchId: Uuid, path: string): Promise<void> {
  const startedMs = performance.now();
  const mostResident = server.watchResident();
  const mostOwn = server.watchResident(() => server.ownMb());
  const wait = path.includes('?') ? '&wait=30' : '?wait=30';
  for (;;) {
    const isQuestion = QUESTIONS.some(({ name }) => path.startsWith(name));
    const answer = await fetch(`${server.url}/batches/${batchId}/${path}${isQuestion ? wait : ''}`);
    let bytes = 0;
    let text = '';
    for await (const part of answer.body as AsyncIterable<Uint8Array>) {
      bytes += part.length;
      if (bytes < 2_000) text += Buffer.from(part).toString();
    }
    if (answer.status === 202) continue;
    const [resident, own] = [mostResident(), mostOwn()].map((it) => it.toFixed(0));
    const isRefused = answer.status === 409 && text.includes('answer-too-large');
    const isWithin = Number(own) <= MOST_MB && (answer.ok || isRefused);
    if (!isWithin) missed++;
    const note = answer.ok ? `${bytes} bytes` : text;
    console.log(
      `${path.padEnd(60)} ${answer.status}  ${seconds(startedMs)} s  ${own} MB of its own, ${resident} MB with mapped files${isWithin ? '' : ' NOT REACHED'}  ${note}`,
    );
    return;
  }
}

try {
  for (const { name } of QUESTIONS) {
    for (const query of ASKED[name] ?? ['']) {
      const path = name === 'compare' ? `compare?with=${blocks}` : `${name}${query}`;
      await asked(name === 'indices' ? blocks : whole, path);
    }
  }
  // Another study while the columns of the first are kept.
  await asked(blocks, 'summary');
  for (const path of STREAMS) await asked(whole, path);
} finally {
  await server.stop();
  if (given === undefined) rmSync(folder, { recursive: true });
}
console.log(missed === 0 ? `every question is answered or refused within ${MOST_MB} MB` : `${missed} are not`);
if (missed > 0) process.exitCode = 1;
