/**
 * 10,000 evaluations of a short Python function with `isolation: shared`, every result durable, and by joblib and Dask where
 * `SHARED_PYTHON` has them: two at a time, in turns, a fresh coordinator and runner each round, the interpreters of all tools up before the clock
 * starts. CPU is that of all processes.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '../src/client/client.ts';
import type { BatchSubmission } from '../src/client/client.ts';
import { median } from './support/measure.ts';
import { completed } from './support/studies.ts';

const RUNS = Number(process.env['SHARED_RUNS'] ?? 10_000);
const ROUNDS = Number(process.env['SHARED_ROUNDS'] ?? 5);
const LENGTHS_MS = (process.env['SHARED_MS'] ?? '1,5').split(',').map(Number);
const SLOTS = 2;
/** An interpreter with cloudpickle, joblib and distributed. */
const PYTHON = process.env['SHARED_PYTHON'] ?? 'python3';
const TOOLS = (process.env['SHARED_TOOLS'] ?? 'shared,joblib,dask').split(',');
const SIMBATCH = fileURLToPath(new URL('../bin/simbatch.js', import.meta.url));
const PEERS = fileURLToPath(new URL('../../bench/shared/peers.py', import.meta.url));
const execute = promisify(execFile);
const TICKS_PER_S = 100;

interface Timing {
  seconds: number;
  cpu: number;
}

/** CPU seconds of a process and all that it has waited for, and of its living descendants, by /proc. */
function cpuOf(pid: number): number {
  const parents = new Map<number, number[]>();
  const used = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((it) => /^\d+$/.test(it))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ');
      const parent = Number(fields[1]);
      parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
      const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
      used.set(Number(name), ticks / TICKS_PER_S);
    } catch {
      // It has ended.
    }
  }
  const sum = (it: number): number =>
    (used.get(it) ?? 0) + (parents.get(it) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(pid);
}

function simbatch(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [SIMBATCH, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}

async function ofSimbatch(isolation: string, steps: string): Promise<Timing> {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-shared-'));
  const server = simbatch('serve', '--port', '0', '--data-dir', join(folder, 'data'), '--log-level', 'warn');
  const endpoint = await new Promise<string>((resolve) => {
    let text = '';
    server.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found !== null) resolve(found[0]);
    });
  });
  const own = [
    '--python-executable',
    PYTHON,
    '--max-concurrent-jobs',
    String(SLOTS),
    '--output-root',
    join(folder, 'out'),
  ];
  const quiet = ['--log-level', 'warn', '--allow-functions'];
  const runner = simbatch('runner', '--endpoint', endpoint, '--runner-id', 'lab', ...quiet, ...own);
  try {
    const client = new Client({ endpoint });
    const study = async (runs: number): Promise<BatchSubmission> => {
      const made = await execute(PYTHON, [PEERS, 'study', String(runs), steps, isolation], { maxBuffer: 1e8 });
      return JSON.parse(made.stdout) as BatchSubmission;
    };
    while ((await client.runners()).runners.length === 0) await pause(20);
    // Interpreters are up before the clock starts, as the workers of the others.
    await completed(client, await study(SLOTS));
    const submission = await study(RUNS);
    const pids = [server.pid ?? 0, runner.pid ?? 0];
    const cpuBefore = pids.map(cpuOf);
    const since = performance.now();
    await completed(client, submission);
    const seconds = (performance.now() - since) / 1000;
    const parts = pids.map((pid, index) => cpuOf(pid) - (cpuBefore[index] ?? 0));
    console.log(`  coordinator ${parts[0]?.toFixed(2)} s, runner with its workers ${parts[1]?.toFixed(2)} s of CPU`);
    return { seconds, cpu: parts.reduce((a, b) => a + b) };
  } finally {
    for (const child of [runner, server]) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined when the tool is not installed. */
async function ofPeer(tool: string, steps: string): Promise<Timing | undefined> {
  const found = await execute(PYTHON, [PEERS, tool, String(RUNS), steps], { maxBuffer: 1e8 }).catch(
    (error: { stderr?: string }) => {
      if (/ModuleNotFoundError/.test(error.stderr ?? '')) return undefined;
      throw error;
    },
  );
  return found === undefined ? undefined : (JSON.parse(found.stdout.trim().split('\n').at(-1) ?? '') as Timing);
}

/** One row a tool and length: medians over the rounds, and the median of the ratios to joblib in the same round. */
export async function run(): Promise<Record<string, string | number>[]> {
  const rows: Record<string, string | number>[] = [];
  for (const ms of LENGTHS_MS) {
    // The same work for all tools.
    const steps = (await execute(PYTHON, [PEERS, 'steps', '0', String(ms)])).stdout.trim();
    const rounds: Map<string, Timing>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const timings = new Map<string, Timing>();
      for (const tool of round % 2 === 0 ? TOOLS : TOOLS.toReversed()) {
        const isOwn = tool === 'shared' || tool === 'process';
        const timing = await (isOwn ? ofSimbatch(tool, steps) : ofPeer(tool, steps));
        if (timing === undefined) continue;
        timings.set(tool, timing);
        console.log(
          `${ms} ms, round ${round + 1}: ${tool}: ${timing.seconds.toFixed(2)} s, ${timing.cpu.toFixed(2)} s of CPU`,
        );
      }
      rounds.push(timings);
    }
    for (const tool of TOOLS) {
      const all = rounds.flatMap((it) => it.get(tool) ?? []);
      if (all.length === 0) continue;
      const ratios = rounds.flatMap((it) => {
        const [own, joblib] = [it.get(tool), it.get('joblib')];
        return own === undefined || joblib === undefined ? [] : [own.seconds / joblib.seconds];
      });
      rows.push({
        function: `${ms} ms`,
        tool,
        [`s for ${RUNS}`]: median(all.map((it) => it.seconds)).toFixed(2),
        'to joblib': ratios.length === 0 ? '' : median(ratios).toFixed(2),
        'of the rounds': ratios.map((it) => it.toFixed(2)).join(' '),
        'CPU, s': median(all.map((it) => it.cpu)).toFixed(2),
      });
    }
  }
  return rows;
}
