/**
 * A study whose runs are those of earlier studies takes their results: processor time of the thread of requests by iteration of its event loop.
 * `node dist/bench/reuse.js [ROUNDS]`; with BENCH_BEFORE=<dist of another version> both are measured in turns.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { systemClock } from '../src/base/clock.ts';
import type { CodeIdentity, Report, Uuid } from '../src/contract/types.ts';
import type { Coordinator, openCoordinator } from '../src/coordinator/coordinator.ts';
import type { openStore } from '../src/coordinator/kernel/storage/open-store.ts';
import { registration, RESULT, study } from './support/studies.ts';
import { measureTasks, type TaskReport } from './support/task-meter.ts';

const SELF = fileURLToPath(import.meta.url);
const EXECUTED_AT_ONCE = 500;
const codeOf = (letter: string): CodeIdentity => ({ kind: 'entrypoint', digest: letter.repeat(64) });

/** An earlier study or several, and the runners that wait for runs of the new one. */
interface Case {
  runs: number;
  sources: number;
  runners: number;
  slots: number;
  /** Characters of a text in each result. */
  chars?: number;
  /** The runners have another code than the earlier studies: nothing is taken. */
  isOther?: true;
}

const CASES: Record<string, Case> = {
  '4,000 hits, a runner of 64 slots': { runs: 4_000, sources: 1, runners: 1, slots: 64 },
  '4,000 hits, a runner of 1,000 slots': { runs: 4_000, sources: 1, runners: 1, slots: 1_000 },
  '4,000 hits, 16 runners of 32 slots': { runs: 4_000, sources: 1, runners: 16, slots: 32 },
  '1,000 hits of 100 kB, a runner of 64 slots': { runs: 1_000, sources: 1, runners: 1, slots: 64, chars: 100_000 },
  '1,000 misses in 32 studies, a runner of 500 slots': {
    runs: 1_000,
    sources: 32,
    runners: 1,
    slots: 500,
    isOther: true,
  },
};

interface Version {
  openCoordinator: typeof openCoordinator;
  openStore: typeof openStore;
  systemClock: typeof systemClock;
}

/** The version whose compiled program is in the folder. */
async function versionIn(dist: string): Promise<Version> {
  const load = (path: string): Promise<object> =>
    import(pathToFileURL(join(dist, 'src', path)).href) as Promise<object>;
  const [one, two, three] = await Promise.all(
    ['coordinator/coordinator.js', 'coordinator/kernel/storage/open-store.js', 'base/clock.js'].map((it) => load(it)),
  );
  return { ...one, ...two, ...three } as Version;
}

class Pool {
  readonly #coordinator: Coordinator;
  readonly #letter: string;
  executed = 0;
  isOver = false;

  constructor(coordinator: Coordinator, letter: string) {
    this.#coordinator = coordinator;
    this.#letter = letter;
  }

  /** Claims until it is over, and executes what it gets. */
  async work(id: string, slots: number, chars = 0): Promise<void> {
    const code = codeOf(this.#letter);
    const { instance, ...rest } = registration(id, slots);
    const engines = [{ name: '*', code }];
    await this.#coordinator.register({ ...rest, instance, engines });
    const metadata = chars === 0 ? RESULT.metadata : { ...RESULT.metadata, text: 'x'.repeat(chars) };
    while (!this.isOver) {
      const request = { instance, max_jobs: slots, wait_seconds: 1, engines };
      const { assignments } = await this.#coordinator.claim(id, request);
      const own = assignments.map(({ job, attempt }) => ({ job_id: job.id, attempt }));
      const send = (reports: Report[]) => this.#coordinator.reports(id, { instance, reports });
      if (own.length > 0) {
        await send(own.map((it) => ({ type: 'start', ...it, code })));
        await send(own.map((it) => ({ type: 'complete', ...it, result: { ...RESULT, metadata } })));
      }
      this.executed += own.length;
    }
  }
}

async function ended(coordinator: Coordinator, id: Uuid, pool: Pool): Promise<void> {
  while ((await coordinator.batch(id)).batch.status !== 'Completed')
    await new Promise((resolve) => setTimeout(resolve, 5));
  pool.isOver = true;
}

async function executeAll(coordinator: Coordinator, { runs, chars }: Case): Promise<void> {
  const { batch_id: id } = await coordinator.submit(study(runs));
  const pool = new Pool(coordinator, 'a');
  await Promise.all([ended(coordinator, id, pool), pool.work('source', EXECUTED_AT_ONCE, chars)]);
}

async function measured(dist: string, it: Case): Promise<TaskReport & { secs: number }> {
  const { openCoordinator: open, openStore: storeIn, systemClock: clock } = await versionIn(dist);
  const folder = await mkdtemp(join(tmpdir(), 'simbatch-reuse-'));
  const coordinator = await open(await storeIn(folder), clock);
  // The timers of waiting claims keep no process running.
  const running = setInterval(() => {}, 1_000);
  try {
    for (let at = 0; at < it.sources; at += 1) await executeAll(coordinator, it);
    const pool = new Pool(coordinator, it.isOther === true ? 'b' : 'a');
    const since = performance.now();
    const report = await measureTasks(async () => {
      const { batch_id: id } = await coordinator.submit({ ...study(it.runs), policy: { reuse: 'all' } });
      const runners = Array.from({ length: it.runners }, (_, at) => pool.work(`taker-${at}`, it.slots));
      await ended(coordinator, id, pool);
      await Promise.all(runners);
    });
    if (pool.executed !== (it.isOther === true ? it.runs : 0)) throw new Error(`${pool.executed} runs were executed`);
    return { ...report, secs: (performance.now() - since) / 1000 };
  } finally {
    clearInterval(running);
    await coordinator.close();
    await rm(folder, { recursive: true });
  }
}

async function main(): Promise<void> {
  const rounds = Number(process.argv[2] ?? 3);
  const now = fileURLToPath(new URL('..', import.meta.url));
  const before = process.env['BENCH_BEFORE'];
  const versions = { ...(before === undefined ? {} : { before }), now };
  for (const name of Object.keys(CASES)) {
    const rows: Record<string, object> = {};
    for (let round = 1; round <= rounds; round += 1) {
      for (const [version, dist] of Object.entries(versions)) {
        const { stdout } = await promisify(execFile)(process.execPath, [SELF, 'measure', dist, name]);
        rows[`${version} ${round}`] = JSON.parse(stdout) as object;
      }
    }
    console.log(name);
    console.table(rows);
  }
}

if (process.argv[2] === 'measure') {
  console.log(JSON.stringify(await measured(process.argv[3]!, CASES[process.argv[4]!]!)));
} else await main();
