/**
 * Cost of a run on one runner, for a simulation that does nothing (`true`) and for a short warm Python model: wall and CPU time by
 * process, beside an earlier build and HyperQueue, in turns. Prints its figures; `run` is for `bench/run.ts`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerCommand } from '../src/cli/commands/pool/runner.ts';
import { setGarbageCollector } from '../src/base/v8/garbage-collector.ts';
import { optimizeLater } from '../src/base/v8/optimizer.ts';
import { startHttp } from '../src/http/server.ts';
import { openCoordinator } from '../src/coordinator/coordinator.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import { systemClock } from '../src/base/clock.ts';
import { packageRoot } from '../src/base/package.ts';
import { median } from './support/measure.ts';
import { Rig } from './support/rig.ts';
import type { Build, RunCost, Workload } from './support/rig.ts';

const SELF = fileURLToPath(import.meta.url);
const TRUE = existsSync('/bin/true') ? '/bin/true' : '/usr/bin/true';
const PARALLEL = (process.env['RUNNER_SLOTS'] ?? '1,2,16').split(',').map(Number);
const RUNS = Number(process.env['RUNNER_RUNS'] ?? 300);
const ROUNDS = Number(process.env['RUNNER_ROUNDS'] ?? 5);
/** Runs before the measured ones. */
const WARM_UP = 50;

const WORKLOADS: readonly Workload[] = [
  { name: 'true', entrypoint: TRUE, options: [] },
  // An interpreter with numpy and scipy.
  ...(process.env['WARM_PYTHON'] === undefined
    ? []
    : [
        {
          name: 'warm model',
          entrypoint: join(packageRoot, 'bench', 'answer', 'model.py'),
          options: ['--warm', '--python-executable', process.env['WARM_PYTHON']],
        },
      ]),
];

/** A script that does nothing, among so many code files; their digest is looked at for each run. */
function amongFiles(count: number): Workload {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-bench-code-'));
  const entrypoint = join(folder, 'run.sh');
  writeFileSync(entrypoint, '#!/bin/sh\n', { mode: 0o755 });
  for (let file = 1; file < count; file += 1) {
    const path = join(folder, String(file % 50), `${String(file)}.sh`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `: ${String(file)}\n`);
  }
  return { name: `${String(count)} files`, entrypoint, options: [] };
}

/** Milliseconds per process when `parallel` bare spawns are kept going. */
async function bareSpawnMs(parallel: number): Promise<number> {
  let left = RUNS;
  const since = performance.now();
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (left-- > 0) await once(spawn(TRUE, [], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] }), 'close');
    }),
  );
  return (performance.now() - since) / RUNS;
}

/** Milliseconds per task of HyperQueue; undefined where its Python package is not installed. */
function hyperqueueMs(slots: number): number | undefined {
  const python = process.env['HYPERQUEUE_PYTHON'] ?? 'python3';
  const script = join(packageRoot, 'bench', 'support', 'hyperqueue_rate.py');
  const { status, stdout } = spawnSync(python, [script, String(slots), String(RUNS), TRUE], { encoding: 'utf8' });
  const seconds = /^seconds (.+)$/m.exec(stdout)?.[1];
  return status === 0 && seconds !== undefined ? (Number(seconds) * 1000) / RUNS : undefined;
}

const totalMs = (it: RunCost): number => it.runnerMs + it.serversMs + it.runsMs + it.coordinatorMs;

/**
 * Every contender once in each round, in turns, so that the state of the machine is the same for all. `BENCH_BEFORE` is the
 * `dist` folder of an earlier build to compare with; `HYPERQUEUE_PYTHON` a Python that has the package `hyperqueue`; `WARM_PYTHON`
 * one with numpy and scipy; `RUNNER_FILES` numbers of code files, such as `10,5000`, to be measured alone.
 */
export async function run(): Promise<void> {
  const before = process.env['BENCH_BEFORE'];
  const builds: Build[] = [
    ...(before === undefined ? [] : [{ name: 'before', program: join(before, 'bench', 'runner.js') }]),
    { name: 'simbatch', program: SELF },
  ];
  console.log(`runner: ${String(RUNS)} runs, ${String(ROUNDS)} rounds in turns; medians, CPU time in ms a run`);
  console.log(
    'workload    slots  contender   runs/s   ms/run   runner  servers     runs  coord.      all   ratio of rates / CPU to before   load',
  );
  const files = process.env['RUNNER_FILES']?.split(',').map(Number);
  for (const workload of files?.map(amongFiles) ?? WORKLOADS) {
    for (const slots of PARALLEL) await compare(builds, workload, slots);
    if (files !== undefined) rmSync(dirname(workload.entrypoint), { recursive: true });
  }
}

async function compare(builds: readonly Build[], workload: Workload, slots: number): Promise<void> {
  const costs = new Map<string, RunCost[]>(builds.map(({ name }) => [name, []]));
  const bare: number[] = [];
  const peer: number[] = [];
  const rigs: { name: string; rig: Rig }[] = [];
  try {
    for (const build of builds) rigs.push({ name: build.name, rig: await Rig.open(build, workload, slots) });
    for (const { rig } of rigs) await rig.measure(WARM_UP);
    for (let round = 0; round < ROUNDS; round += 1) {
      if (workload.entrypoint === TRUE) bare.push(await bareSpawnMs(slots));
      for (const { name, rig } of round % 2 === 0 ? rigs : rigs.toReversed()) {
        costs.get(name)?.push(await rig.measure(RUNS));
      }
      const peerMs = workload.entrypoint === TRUE ? hyperqueueMs(slots) : undefined;
      if (peerMs !== undefined) peer.push(peerMs);
    }
  } finally {
    for (const { rig } of rigs) await rig.close();
  }
  const cell = (value: number, width = 8, digits = 2): string => value.toFixed(digits).padStart(width);
  const row = (name: string, ms: number, rest: string): void =>
    console.log(
      `${workload.name.padEnd(10)} ${String(slots).padStart(6)}  ${name.padEnd(10)} ${cell(1000 / ms, 7, 0)} ${cell(ms)} ${rest}`,
    );
  const earlier = costs.get('before');
  for (const [name, its] of costs) {
    const of = (part: (it: RunCost) => number): string => cell(median(its.map(part)));
    const cells = [
      of((it) => it.runnerMs),
      of((it) => it.serversMs),
      of((it) => it.runsMs),
      of((it) => it.coordinatorMs),
    ];
    const ratio = (part: (it: RunCost) => number): string =>
      cell(median(its.map((it, round) => part(it) / part(earlier?.[round] ?? it))));
    const ratios =
      earlier === undefined || name === 'before' ? '' : `${ratio((it) => 1 / it.wallMs)} /${ratio(totalMs)}`;
    const load = (loadavg()[0] ?? 0).toFixed(1).padStart(6);
    row(name, median(its.map((it) => it.wallMs)), `${cells.join(' ')} ${of(totalMs)} ${ratios.padStart(33)} ${load}`);
  }
  if (peer.length > 0) row('hyperqueue', median(peer), '');
  else if (workload.entrypoint === TRUE) console.log('hyperqueue is not installed (pip install hyperqueue): skipped');
  if (bare.length > 0) row('bare spawn', median(bare), '');
}

/** With the settings of `simbatch serve`. */
async function coordinator(directory: string): Promise<void> {
  setGarbageCollector();
  optimizeLater(systemClock);
  const system = await openCoordinator(await openStore(directory), systemClock);
  const log = { debug() {}, info() {}, warn: console.error, error: console.error };
  const http = await startHttp({ coordinator: system, host: '127.0.0.1', port: 0, clock: systemClock, log });
  console.log(http.url);
  await once(process, 'SIGTERM');
  await http.close(500);
  await system.close();
}

if (process.argv[1] === SELF) {
  if (process.argv[2] === 'coordinator') await coordinator(process.argv[3] ?? '');
  else if (process.argv[2] === 'runner') await runnerCommand().parseAsync(process.argv.slice(3), { from: 'user' });
  else await run();
}
