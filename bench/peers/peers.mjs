// Jobs per second of BullMQ on Redis, of graphile-worker on PostgreSQL, both set to lose nothing, and of simbatch, with a job that
// does nothing: a round of each in turn, in the opposite order every second time, so that an hour in which the machine is slow is one
// for all. A peer whose server is not installed is left out. `node peers.mjs [ROUNDS] [JOBS]`
import { execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const ROUNDS = Number(process.argv[2] ?? 5);
const JOBS = Number(process.argv[3] ?? 50_000);
const CONCURRENCY = 64;
/** Jobs in hand at once in bulk: the local queue of graphile-worker; of simbatch 4 runners have a quarter each. */
const IN_HAND = 1_000;
const REDIS_PORT = 16_379;
const POSTGRES_PORT = 15_432;

const run = promisify(execFile);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const isRoot = process.getuid?.() === 0;

/** Where a program is: on the path, or where Debian keeps PostgreSQL's. */
function find(name) {
  const postgres = '/usr/lib/postgresql';
  const versions = existsSync(postgres) ? readdirSync(postgres).map((it) => join(postgres, it, 'bin')) : [];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...versions];
  return folders.map((it) => join(it, name)).find((it) => existsSync(it));
}

async function bullmq(folder) {
  const [{ Queue, Worker }, { Redis }] = await Promise.all([import('bullmq'), import('ioredis')]);
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const args = ['--port', String(REDIS_PORT), '--bind', '127.0.0.1', '--dir', folder, ...durable];
  const redis = spawn(find('redis-server'), args, { stdio: 'ignore' });
  const connection = new Redis({ host: '127.0.0.1', port: REDIS_PORT, maxRetriesPerRequest: null });
  // It is tried until the server listens.
  connection.on('error', () => {});
  await new Promise((resolve) => connection.once('ready', resolve));
  const queue = new Queue('runs', { connection });
  await queue.waitUntilReady();
  const submit = async () => {
    for (let from = 0; from < JOBS; from += 1_000) {
      await queue.addBulk(
        Array.from({ length: Math.min(1_000, JOBS - from) }, (_, at) => ({
          name: 'run',
          data: { run_id: from + at },
          opts: { removeOnComplete: true },
        })),
      );
    }
  };
  const work = () =>
    new Promise((resolve, reject) => {
      let done = 0;
      const worker = new Worker('runs', async () => ({ ok: true }), { connection, concurrency: CONCURRENCY });
      worker.on('error', reject);
      worker.on('completed', () => {
        if ((done += 1) === JOBS) worker.close().then(resolve, reject);
      });
    });
  const close = async () => {
    await queue.close();
    connection.disconnect();
    redis.kill('SIGTERM');
    await pause(500);
  };
  return { round: () => timed(submit, work), close };
}

async function graphileWorker(folder) {
  const { Logger, run: startRunner, makeWorkerUtils } = await import('graphile-worker');
  // PostgreSQL does not run as root.
  const asPostgres = (name, args) =>
    isRoot ? run('runuser', ['-u', 'postgres', '--', find(name), ...args]) : run(find(name), args);
  if (isRoot) await run('chown', ['postgres', folder]);
  const data = join(folder, 'pg');
  await asPostgres('initdb', ['-D', data, '-U', 'postgres', '--auth=trust']);
  const settings = `-p ${POSTGRES_PORT} -c listen_addresses=127.0.0.1 -k ${folder} -c fsync=on -c synchronous_commit=on`;
  await asPostgres('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start']);
  const connectionString = `postgres://postgres@127.0.0.1:${POSTGRES_PORT}/postgres`;
  const utils = await makeWorkerUtils({ connectionString });
  await utils.migrate();
  const submit = () =>
    utils.withPgClient((client) =>
      client.query(
        `select graphile_worker.add_jobs(array(select json_populate_record(null::graphile_worker.job_spec,
           json_build_object('identifier', 'run', 'payload', json_build_object('run_id', i))) from generate_series(1, $1) i))`,
        [JOBS],
      ),
    );
  const work = () =>
    new Promise((resolve, reject) => {
      let done = 0;
      const isLast = () => (done += 1) === JOBS;
      const started = startRunner({
        connectionString,
        noHandleSignals: true,
        taskList: {
          run: async () => {
            if (isLast()) started.then((it) => it.stop()).then(resolve, reject);
          },
        },
        preset: {
          worker: {
            concurrentJobs: CONCURRENCY,
            maxPoolSize: 10,
            localQueue: { size: IN_HAND },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
        // A line for every job would be measured too.
        logger: new Logger(() => () => {}),
      });
      started.catch(reject);
    });
  const close = async () => {
    await utils.release();
    await asPostgres('pg_ctl', ['-D', data, '-m', 'fast', 'stop']);
  };
  return { round: () => timed(submit, work), close };
}

/** Rates of submission and processing of JOBS jobs, per second. */
async function timed(submit, work) {
  let since = performance.now();
  await submit();
  const submitted = JOBS / ((performance.now() - since) / 1000);
  since = performance.now();
  await work();
  return { submitted, worked: JOBS / ((performance.now() - since) / 1000) };
}

/** With the client of `npm run bench -- lifecycle`, without its viewer. A study is submitted at once, whatever its size. */
async function simbatch(folder, load, jobs) {
  const { startCoordinator } = await import('../../dist/bench/support/coordinator.js');
  const { studyRate } = await import('../../dist/bench/lifecycle.js');
  const coordinator = await startCoordinator(join(folder, 'data'));
  const round = async () => ({ submitted: Infinity, worked: await studyRate(coordinator.port, load, jobs) });
  return { round, close: () => coordinator.stop() };
}

const BULK = { runners: 4, size: IN_HAND / 4 };
const SINGLE = { runners: 64, size: 1 };
const PEERS = [
  { name: `simbatch over HTTP, bulk of ${BULK.size}`, open: (folder) => simbatch(folder, BULK, JOBS) },
  { name: 'simbatch over HTTP, one by one', open: (folder) => simbatch(folder, SINGLE, Math.ceil(JOBS / 5)) },
  { name: 'BullMQ 6.7.0 on Redis, fsync always', needs: 'redis-server', open: bullmq },
  { name: 'graphile-worker 0.18.0 on PostgreSQL', needs: 'initdb', open: graphileWorker },
];

const contenders = [];
try {
  for (const { name, needs, open } of PEERS) {
    if (needs !== undefined && find(needs) === undefined) {
      console.log(`${name}: left out, ${needs} is not installed`);
      continue;
    }
    const folder = mkdtempSync(join(tmpdir(), 'simbatch-peers-'));
    chmodSync(folder, 0o755);
    const contender = { name, folder, rounds: [], close: async () => {} };
    contenders.push(contender);
    Object.assign(contender, await open(folder));
  }
  // The first round warms up.
  for (let at = 0; at <= ROUNDS; at += 1) {
    for (const it of at % 2 === 0 ? contenders : contenders.toReversed()) {
      const rates = await it.round();
      if (at > 0) it.rounds.push(rates);
      console.log(`round ${at}, ${it.name}: ${Math.round(rates.worked)} jobs/s, load ${loadavg()[0].toFixed(1)}`);
    }
  }
} finally {
  for (const { close, folder } of contenders) {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const [bulk] = contenders;
console.table(
  contenders.map(({ name, rounds }) => {
    const submitted = median(rounds.map((it) => it.submitted));
    return {
      contender: name,
      'jobs/s, median': Math.round(median(rounds.map((it) => it.worked))),
      rounds: rounds.map((it) => Math.round(it.worked)).join(' '),
      'simbatch in bulk to it, median of rounds': median(
        rounds.map((it, at) => bulk.rounds[at].worked / it.worked),
      ).toFixed(2),
      'submission, us/job': Number.isFinite(submitted) ? (1e6 / submitted).toFixed(1) : 'constant per study',
    };
  }),
);
process.exit(0);
