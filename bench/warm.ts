/**
 * Warm and cold starts of a run in turns: milliseconds per run of a Python simulation that imports numpy and scipy, and of a
 * Node simulation that does nothing; then the memory of 16 runs at once. `WARM_PYTHON` names an interpreter with numpy and scipy.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepProcessAlive, systemClock } from '../src/base/clock.ts';
import { commandOf, findPython } from '../src/runner/launch/engine.ts';
import type { Python } from '../src/runner/launch/engine.ts';
import type { Engine } from '../src/runner/config/config.ts';
import type { Ending, LaunchedProcess, Launcher } from '../src/runner/launch/launcher.ts';
import { coldLauncher } from '../src/runner/launch/cold.ts';
import { Launchers } from '../src/runner/launch/launchers.ts';
import { silentLog } from '../src/runner/log.ts';
import { ProcessTable } from '../src/runner/processes/proc-fs.ts';
import { ProcessScope } from '../src/runner/processes/process-scope.ts';
import { measure } from './support/measure.ts';
import type { Measure } from './support/measure.ts';

const ROUNDS = 5;
const RUNS = { cold: 12, warm: 60 };
const AT_ONCE = [1, 2];
const HELD = 16;

const PYTHON = `import json, os
import numpy as np
import scipy.optimize as so
x = so.brentq(lambda t: t**3 - 2, 0, 2)
with open(os.environ["SVC_OUTPUT_DIR"] + ".json", "w") as file: json.dump({"x": x, "y": float(np.sum(np.arange(9)))}, file)
if os.environ.get("HOLD"): print("held", flush=True); __import__("time").sleep(600)
`;
const NODE = `import { writeFileSync } from 'node:fs';
writeFileSync(process.env.SVC_OUTPUT_DIR + '.json', '{}');
if (process.env.HOLD) { console.log('held'); setTimeout(() => {}, 600_000); }
`;

class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-bench-warm-'));
  readonly env: Record<string, string>;
  readonly python: Python | undefined;
  #runs = 0;

  constructor(python: Python | undefined) {
    this.python = python;
    this.env = { PATH: process.env['PATH'] ?? '' };
  }

  async launchers(engine: Engine): Promise<Launchers> {
    const { python, env, folder: cwd } = this;
    const common = { python, env, cwd, clock: systemClock, log: silentLog, slots: HELD };
    const launchers = new Launchers({ engines: [engine], ...common });
    await launchers.open(async () => undefined);
    await launchers.of(engine, env).prepare?.();
    return launchers;
  }

  async start(launcher: Launcher, { entrypoint }: Engine, more: Record<string, string> = {}) {
    this.#runs += 1;
    const directory = join(this.folder, String(this.#runs));
    const command = commandOf(entrypoint, this.python?.executable);
    if (command === undefined) throw new Error('no Python was found');
    const scope = new ProcessScope({ table: new ProcessTable(), cgroups: undefined }, silentLog, directory, {});
    let pid = 0;
    const contract = { SVC_OUTPUT_DIR: directory, ...more };
    const launch = { ...command, entrypoint, env: this.env, contract, cwd: this.folder, randomSeed: this.#runs };
    const context = {
      scope,
      onProcess: (it: number) => void (pid = it),
      onExit() {},
      cancelled: new AbortController().signal,
    };
    const launched = await launcher.launch(launch, context);
    return { process: running(launched), scope, pid };
  }

  async execute(launcher: Launcher, engine: Engine): Promise<void> {
    const { process } = await this.start(launcher, engine);
    process.stdout.resume();
    process.stderr.resume();
    const ending = await process.ended;
    if (ending.type !== 'exit' || ending.code !== 0) throw new Error(`a run ended with ${JSON.stringify(ending)}`);
  }

  /** Milliseconds per run of `count` runs, `atOnce` at a time. */
  async msPerRun(launcher: Launcher, engine: Engine, count: number, atOnce: number): Promise<number> {
    let left = count;
    const since = performance.now();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (left-- > 0) await this.execute(launcher, engine);
      }),
    );
    return (performance.now() - since) / count;
  }

  /** Proportional set size of so many runs at once, in MiB, and of the processes they were forked by. */
  async memoryMib(launcher: Launcher, engine: Engine): Promise<number> {
    const held = await Promise.all(Array.from({ length: HELD }, () => this.start(launcher, engine, { HOLD: '1' })));
    await Promise.all(held.map(({ process }) => new Promise((resolve) => process.stdout.once('data', resolve))));
    const parents = new Set(held.map(({ pid }) => parentOf(pid)).filter((it) => it !== process.pid));
    const sum = [...held.map(({ pid }) => pid), ...parents].reduce((total, pid) => total + pssMib(pid), 0);
    for (const { scope } of held) scope.kill();
    await Promise.all(held.map(({ process }) => process.ended));
    return sum;
  }
}

function running(launched: LaunchedProcess | Ending): LaunchedProcess {
  if ('ended' in launched) return launched;
  throw new Error(`a run could not be started: ${JSON.stringify(launched)}`);
}

function pssMib(pid: number): number {
  const text = readFileSync(`/proc/${String(pid)}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1]) / 1024;
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

export async function run(): Promise<Measure[]> {
  const python = await findPython(process.env['WARM_PYTHON'], process.env['PATH'] ?? '');
  const site = new Site(python);
  const measures: Measure[] = [];
  const endKeepAlive = keepProcessAlive();
  try {
    for (const [name, file, text] of [
      ['Python with numpy and scipy', 'simulation.py', PYTHON],
      ['Node', 'simulation.mjs', NODE],
    ] as const) {
      const engine: Engine = { name, entrypoint: join(site.folder, file), warm: true };
      writeFileSync(engine.entrypoint, text);
      const launchers = await site.launchers(engine);
      const warm = launchers.of(engine, site.env);
      for (const atOnce of AT_ONCE) {
        const cold: number[] = [];
        const forked: number[] = [];
        for (let round = 0; round <= ROUNDS; round++) {
          const coldMs = await site.msPerRun(coldLauncher, engine, RUNS.cold, atOnce);
          const warmMs = await site.msPerRun(warm, engine, RUNS.warm, atOnce);
          if (round === 0) continue;
          cold.push(coldMs);
          forked.push(warmMs);
        }
        const about = `${name}, ${String(atOnce)} at a time`;
        measures.push(measure(`${about}: cold`, 'ms/run', cold), measure(`${about}: warm`, 'ms/run', forked));
        const ratios = cold.map((it, round) => it / (forked[round] ?? Number.NaN));
        measures.push(measure(`${about}: cold against warm`, 'x', ratios));
      }
      const cold = await site.memoryMib(coldLauncher, engine);
      const forked = await site.memoryMib(warm, engine);
      measures.push(measure(`${name}: PSS of ${String(HELD)} cold runs`, 'MiB', [cold]));
      measures.push(measure(`${name}: PSS of ${String(HELD)} warm runs, forkserver included`, 'MiB', [forked]));
      launchers.close();
    }
  } finally {
    endKeepAlive();
    rmSync(site.folder, { recursive: true, force: true });
  }
  return measures;
}
