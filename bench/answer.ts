/**
 * Time from the submission of a study to its last result, and to a verdict: simbatch with cold and with warm engines, and other
 * tools where they are installed, with the same Python model, two runs at a time. In turns in one run.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '../src/client/client.ts';
import type { BatchSubmission } from '../src/client/client.ts';
import { median } from './support/measure.ts';
import { completed, MASS_AND_WIND, study as emptyStudy } from './support/studies.ts';

const RUNS = Number(process.env['ANSWER_RUNS'] ?? 2_000);
/** Tools that start an interpreter for each run take minutes: they get fewer runs, and their time is scaled. */
const COLD_RUNS = Math.min(RUNS, Number(process.env['ANSWER_COLD_RUNS'] ?? 200));
const ROUNDS = Number(process.env['ANSWER_ROUNDS'] ?? 3);
const SLOTS = 2;
/** An interpreter with numpy and scipy, and with joblib, dask and hyperqueue where these are to be compared. */
const PYTHON = process.env['ANSWER_PYTHON'] ?? 'python3';
const SIMBATCH = fileURLToPath(new URL('../bin/simbatch.js', import.meta.url));
const SOURCES = fileURLToPath(new URL('../../bench/answer/', import.meta.url));
const execute = promisify(execFile);

interface Timing {
  /** Seconds from the submission to the last result. */
  results: number;
  /** Seconds from the submission to a verdict on the requirement; undefined where the tool has none. */
  verdict?: number;
  runs: number;
}

function study(runs: number): BatchSubmission {
  const { config, ...rest } = emptyStudy(runs, 'answer', MASS_AND_WIND);
  return {
    ...rest,
    config: { ...config, simulation: { name: 'model', version: '1', duration_minutes: 0 } },
    requirements: [{ name: 'near', output: 'miss_m', condition: '< 1e9', probability: 0.99, confidence: 0.9 }],
  };
}

const started: ChildProcess[] = [];

function simbatch(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [SIMBATCH, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  return child;
}

/** The real programs: a coordinator with its durable store, and one runner. */
async function ofSimbatch(isWarm: boolean, runs: number): Promise<Timing> {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-answer-'));
  // The entrypoint is a program, as a user's would be.
  cpSync(SOURCES, join(folder, 'model'), { recursive: true });
  chmodSync(join(folder, 'model', 'model.py'), 0o755);
  const server = simbatch('serve', '--port', '0', '--data-dir', join(folder, 'data'), '--log-level', 'warn');
  const endpoint = await new Promise<string>((resolve) => {
    let text = '';
    server.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found !== null) resolve(found[0]);
    });
  });
  const model = ['--entrypoint', join(folder, 'model', 'model.py'), '--python-executable', PYTHON];
  const slots = ['--max-concurrent-jobs', String(SLOTS), '--output-root', join(folder, 'out')];
  const mode = isWarm ? ['--warm'] : [];
  const runner = simbatch(
    'runner',
    '--endpoint',
    endpoint,
    '--runner-id',
    'lab',
    '--log-level',
    'warn',
    ...model,
    ...slots,
    ...mode,
  );
  try {
    const client = new Client({ endpoint });
    while ((await client.runners()).runners.length === 0) await pause(20);
    const since = performance.now();
    const batchId = await completed(client, study(runs));
    const results = (performance.now() - since) / 1000;
    const response = await fetch(`${endpoint}/batches/${batchId}/verdicts`);
    const { requirements } = (await response.json()) as { requirements: { verdict: string }[] };
    const verdict = (performance.now() - since) / 1000;
    if (requirements[0]?.verdict === undefined) throw new Error('no verdict');
    return { results, verdict, runs };
  } finally {
    for (const child of [runner, server]) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined when the tool is not installed. */
async function ofPeer(tool: string, runs: number): Promise<Timing | undefined> {
  const found = await execute(PYTHON, [join(SOURCES, 'peers.py'), tool, String(runs)], { maxBuffer: 1e8 }).catch(
    (error: { stderr?: string }) => {
      if (/ModuleNotFoundError/.test(error.stderr ?? '')) return undefined;
      throw error;
    },
  );
  if (found === undefined) return undefined;
  const { seconds, results } = JSON.parse(found.stdout.trim().split('\n').at(-1) ?? '') as {
    seconds: number;
    results: number;
  };
  if (results !== runs) throw new Error(`${tool}: ${results} results of ${runs} runs`);
  return { results: seconds, runs };
}

const TOOLS: readonly { name: string; runs: number; time: (runs: number) => Promise<Timing | undefined> }[] = [
  { name: 'simbatch, warm', runs: RUNS, time: (runs) => ofSimbatch(true, runs) },
  { name: 'simbatch, cold', runs: COLD_RUNS, time: (runs) => ofSimbatch(false, runs) },
  { name: 'joblib', runs: RUNS, time: (runs) => ofPeer('joblib', runs) },
  { name: 'Dask distributed', runs: RUNS, time: (runs) => ofPeer('dask', runs) },
  { name: 'HyperQueue, functions', runs: COLD_RUNS, time: (runs) => ofPeer('hyperqueue functions', runs) },
  { name: 'HyperQueue, programs', runs: COLD_RUNS, time: (runs) => ofPeer('hyperqueue programs', runs) },
];

/** One row a tool: medians over the rounds, and the ratio to joblib, which keeps nothing, of the medians a run. */
export async function run(): Promise<Record<string, string | number>[]> {
  const times = new Map<string, Timing[]>(TOOLS.map(({ name }) => [name, []]));
  process.once('exit', () => {
    for (const child of started) child.kill('SIGKILL');
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, runs, time } of round % 2 === 0 ? TOOLS : TOOLS.toReversed()) {
      const timing = await time(runs);
      if (timing === undefined) continue;
      times.get(name)?.push(timing);
      console.log(`round ${round + 1}: ${name}: ${timing.results.toFixed(2)} s for ${timing.runs} runs`);
    }
  }
  const perRun = (name: string): number => median((times.get(name) ?? []).map((it) => (it.results / it.runs) * 1000));
  const joblib = perRun('joblib');
  return TOOLS.map(({ name }): Record<string, string | number> => {
    const of = times.get(name) ?? [];
    if (of.length === 0) return { tool: name, 'ms a run': 'not installed' };
    const verdicts = of.flatMap((it) => (it.verdict === undefined ? [] : [it.verdict - it.results]));
    return {
      tool: name,
      'runs measured': of[0]?.runs ?? 0,
      'ms a run': perRun(name).toFixed(2),
      [`s for ${RUNS} runs`]: ((perRun(name) * RUNS) / 1000).toFixed(1),
      'to joblib': (perRun(name) / joblib).toFixed(2),
      'verdict after the last result, s': verdicts.length === 0 ? 'none' : median(verdicts).toFixed(2),
    };
  });
}
