/**
 * A busy pool: 10,000 runners that heartbeat every 5 s and wait for work in long polls, each over two connections of its own
 * as the runner program has them. The coordinator's CPU, and who is woken by a submission.
 */
import type { ClaimResponse } from '../src/contract/types.ts';
import type { CoordinatorProcess } from './support/coordinator.ts';
import { withCoordinator } from './support/folder.ts';
import { measure, median, type Measure } from './support/measure.ts';
import { registration, study } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const RUNNERS = 10_000;
const HEARTBEAT_MS = 5_000;
const WAIT_SECONDS = 30;
/** The descriptors of a process are limited (20,000 here): heartbeats of several runners share a connection. */
const HEARTBEAT_CONNECTIONS = 500;
const SETTLE_MS = 10_000;
const MEASURED_MS = 30_000;
const SUBMITTED_RUNS = 100;
const SUBMISSIONS = 3;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Pool {
  /** Polls that were answered with work, and without. */
  woken = 0;
  emptyHanded = 0;
  heartbeats = 0;
  readonly #wires: Wire[] = [];
  #stopped = false;

  /** Registers all and lets them wait; heartbeats are spread over the interval. */
  async open(port: number): Promise<void> {
    const beating: Wire[] = [];
    for (let at = 0; at < HEARTBEAT_CONNECTIONS; at += 1) beating.push(await Wire.open(port));
    const perWire = RUNNERS / HEARTBEAT_CONNECTIONS;
    await Promise.all(
      beating.map(async (wire, at) => {
        for (let runner = at * perWire; runner < (at + 1) * perWire; runner += 1) {
          await wire.post('/runners', registration(`p${runner}`, 1));
        }
        // From now on, so that no runner goes silent while the others arrive.
        const phase = at / HEARTBEAT_CONNECTIONS;
        this.#beat(wire, at * perWire, perWire, phase).catch(() => {});
      }),
    );
    this.#wires.push(...beating);
    for (let runner = 0; runner < RUNNERS; runner += 1) {
      const polling = await Wire.open(port);
      this.#wires.push(polling);
      this.#poll(polling, runner).catch(() => {});
    }
  }

  close(): void {
    this.#stopped = true;
    for (const it of this.#wires) it.close();
  }

  async #poll(wire: Wire, runner: number): Promise<void> {
    const id = `p${runner}`;
    const body = { instance: `instance-of-${id}`, max_jobs: 1, wait_seconds: WAIT_SECONDS, holding: [] };
    // Not all at once: a pool that grew up in a real life is not in step.
    await wire.post(`/runners/${id}/claims`, { ...body, wait_seconds: 1 + (runner / RUNNERS) * (WAIT_SECONDS - 1) });
    while (!this.#stopped) {
      const { assignments } = await wire.post<ClaimResponse>(`/runners/${id}/claims`, body);
      const [it] = assignments;
      if (it === undefined) {
        this.emptyHanded += 1;
        continue;
      }
      this.woken += 1;
      await wire.post(`/jobs/${it.job.id}/cancel`, {});
    }
  }

  /** Beats for `count` runners in turn. `phase`: its delay after the first of all, as a share of the time between two beats. */
  async #beat(wire: Wire, first: number, count: number, phase: number): Promise<void> {
    await pause((phase * HEARTBEAT_MS) / count);
    for (let at = 0; !this.#stopped; at = (at + 1) % count) {
      const began = performance.now();
      const id = `p${first + at}`;
      await wire.post(`/runners/${id}/heartbeat`, { instance: `instance-of-${id}`, holding: [] });
      this.heartbeats += 1;
      await pause(Math.max(0, HEARTBEAT_MS / count - (performance.now() - began)));
    }
  }
}

/** How many polls each submission answered with work, and how long the last of them took (ms). */
async function submissions(coordinator: CoordinatorProcess, pool: Pool) {
  const wire = await Wire.open(coordinator.port);
  const woken: number[] = [];
  const ms: number[] = [];
  for (let at = 0; at < SUBMISSIONS; at += 1) {
    const before = pool.woken;
    const since = performance.now();
    await wire.post('/jobs', study(SUBMITTED_RUNS));
    while (pool.woken - before < SUBMITTED_RUNS && performance.now() - since < 10_000) await pause(1);
    ms.push(performance.now() - since);
    await pause(500);
    woken.push(pool.woken - before);
  }
  wire.close();
  return { woken, ms };
}

export async function run(): Promise<Measure[]> {
  return withCoordinator(async (coordinator) => {
    const pool = new Pool();
    await pool.open(coordinator.port);
    await pause(SETTLE_MS);
    const cores: number[] = [];
    const beats: number[] = [];
    for (let at = 0; at < 3; at += 1) {
      const since = performance.now();
      const cpu = coordinator.cpuSecs();
      const before = pool.heartbeats;
      await pause(MEASURED_MS / 3);
      const secs = (performance.now() - since) / 1000;
      cores.push((100 * (coordinator.cpuSecs() - cpu)) / secs);
      beats.push((pool.heartbeats - before) / secs);
    }
    const { woken, ms } = await submissions(coordinator, pool);
    const resident = coordinator.residentMb();
    pool.close();
    if (median(beats) < (RUNNERS / (HEARTBEAT_MS / 1000)) * 0.95) console.log('the client could not keep the pace');
    return [
      measure('10,000 runners: coordinator CPU', '% of a core', cores, { atMost: 30 }),
      measure('10,000 runners: heartbeats', '/s', beats),
      measure('10,000 runners: resident memory', 'MB', [resident], { atMost: 400 }),
      measure(`runners woken by a study of ${SUBMITTED_RUNS} runs`, '', woken, { atMost: SUBMITTED_RUNS }),
      measure('from submitting it to the last of them having work', 'ms', ms),
    ];
  });
}
