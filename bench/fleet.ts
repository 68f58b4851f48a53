/**
 * A fleet of real runners on one machine: 32 runner programs with 4 slots each, whose simulation does nothing, cold (`true`) and
 * warm (a Python program, forked). What one run costs the coordinator; the rate is the machine's, which runs all of them.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '../src/client/client.ts';
import type { CoordinatorProcess } from './support/coordinator.ts';
import { inFolder, withCoordinatorOn } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { study } from './support/studies.ts';

const RUNNERS = 32;
const SLOTS = 4;
const ROUNDS = 3;
/** Runs of a round, and before the first one. */
const RUNS = 2_000;
const WARM_UP = 500;
const IDLE_MS = 10_000;
const TRUE = existsSync('/bin/true') ? '/bin/true' : '/usr/bin/true';
const PYTHON = process.env['FLEET_PYTHON'] ?? 'python3';
const SIMBATCH = fileURLToPath(new URL('../bin/simbatch.js', import.meta.url));
/** Linux counts CPU time in hundredths of a second. */
const SECS_PER_TICK = 0.01;

/** The programs of the fleet. */
class Fleet {
  readonly #programs: ChildProcess[] = [];

  start(folder: string, endpoint: string, simulation: readonly string[]): void {
    for (let at = 0; at < RUNNERS; at += 1) {
      const own = ['--runner-id', `fleet-${at}`, '--output-root', join(folder, `out-${at}`)];
      const shared = ['--endpoint', endpoint, '--max-concurrent-jobs', String(SLOTS), '--log-level', 'error'];
      const args = [SIMBATCH, 'runner', ...own, ...shared, ...simulation];
      this.#programs.push(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }));
    }
  }

  /** Seconds of CPU so far of the runner programs and of their children that have ended. */
  cpuSecs(): number {
    let ticks = 0;
    for (const { pid } of this.#programs) {
      const fields =
        readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
          .split(') ')[1]
          ?.split(' ') ?? [];
      for (const field of fields.slice(11, 15)) ticks += Number(field);
    }
    return ticks * SECS_PER_TICK;
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#programs.map(async (it) => {
        if (it.exitCode !== null) return;
        const gone = once(it, 'exit');
        it.kill('SIGTERM');
        await gone;
      }),
    );
  }
}

interface Round {
  rate: number;
  /** The coordinator's CPU time as a share of a core, in percent. */
  share: number;
  /** CPU time per run, in ms. */
  coordinatorMs: number;
  runnerMs: number;
}

async function complete(client: Client, runs: number): Promise<void> {
  const { batch_id } = await client.submit(study(runs, 'fleet'));
  for (;;) {
    const { status } = (await client.batch(batch_id)).batch;
    if (status === 'Completed') return;
    if (status !== 'Pending' && status !== 'Running') throw new Error(`the study is ${status}`);
    await pause(50);
  }
}

async function measured(coordinator: CoordinatorProcess, fleet: Fleet, client: Client): Promise<Round> {
  const [sinceMs, cpu, fleetCpu] = [performance.now(), coordinator.cpuSecs(), fleet.cpuSecs()];
  await complete(client, RUNS);
  const secs = (performance.now() - sinceMs) / 1000;
  const coordinatorSecs = coordinator.cpuSecs() - cpu;
  return {
    rate: RUNS / secs,
    share: (100 * coordinatorSecs) / secs,
    coordinatorMs: (1000 * coordinatorSecs) / RUNS,
    runnerMs: (1000 * (fleet.cpuSecs() - fleetCpu)) / RUNS,
  };
}

async function ofFleet(name: string, simulation: readonly string[], folder: string): Promise<Measure[]> {
  return withCoordinatorOn(join(folder, `data-${name}`), async (coordinator) => {
    const fleet = new Fleet();
    try {
      const client = new Client({ endpoint: coordinator.url });
      fleet.start(join(folder, name), coordinator.url, simulation);
      while ((await client.runners()).runners.length < RUNNERS) await pause(100);
      await complete(client, WARM_UP);
      const cpu = coordinator.cpuSecs();
      await pause(IDLE_MS);
      const idle = (100 * (coordinator.cpuSecs() - cpu)) / (IDLE_MS / 1000);
      const rounds: Round[] = [];
      for (let at = 0; at < ROUNDS; at += 1) rounds.push(await measured(coordinator, fleet, client));
      const of = (read: (it: Round) => number): number[] => rounds.map(read);
      const fleetText = `${RUNNERS} runners x ${SLOTS} slots, ${name}`;
      return [
        measure(
          `${fleetText}: coordinator CPU`,
          '% of a core',
          of((it) => it.share),
          { atMost: 30 },
        ),
        measure(
          `${fleetText}: runs`,
          '/s',
          of((it) => it.rate),
        ),
        measure(
          `${fleetText}: coordinator CPU per run`,
          'ms',
          of((it) => it.coordinatorMs),
        ),
        measure(
          `${fleetText}: CPU per run of runners and programs`,
          'ms',
          of((it) => it.runnerMs),
        ),
        measure(`${fleetText}: coordinator CPU while idle`, '% of a core', [idle]),
      ];
    } finally {
      await fleet.stop();
    }
  });
}

export async function run(): Promise<Measure[]> {
  return inFolder(async (folder) => {
    const program = join(folder, 'nothing.py');
    writeFileSync(program, '#!/usr/bin/env python3\npass\n', { mode: 0o755 });
    const warm = ['--entrypoint', program, '--python-executable', PYTHON, '--warm'];
    return [...(await ofFleet('cold', ['--entrypoint', TRUE], folder)), ...(await ofFleet('warm', warm, folder))];
  });
}
