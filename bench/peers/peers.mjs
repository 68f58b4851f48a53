// Jobs per second of BullMQ on Redis and of graphile-worker on PostgreSQL, both set to lose nothing, with a job that does
// nothing; then of simbatch on the same machine in the same run. A peer whose server is not installed is left out.
import { execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const JOBS = 50_000;
const ROUNDS = 3;
const CONCURRENCY = 64;
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

/** Submission and processing of JOBS jobs, ROUNDS times: jobs per second of each. */
async function rates(submit, work) {
  const submitted = [];
  const worked = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    let since = performance.now();
    await submit();
    const submitRate = JOBS / ((performance.now() - since) / 1000);
    since = performance.now();
    await work();
    // The first round warms up.
    if (round > 0) worked.push(JOBS / ((performance.now() - since) / 1000));
    if (round > 0) submitted.push(submitRate);
  }
  return { submitted: median(submitted), worked: median(worked), all: worked.map(Math.round).join(' ') };
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
        Array.from({ length: 1_000 }, (_, at) => ({
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
  try {
    return await rates(submit, work);
  } finally {
    await queue.close();
    connection.disconnect();
    redis.kill('SIGTERM');
    await pause(500);
  }
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
            localQueue: { size: 500 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
        // A line for every job would be measured too.
        logger: new Logger(() => () => {}),
      });
      started.catch(reject);
    });
  try {
    return await rates(submit, work);
  } finally {
    await utils.release();
    await asPostgres('pg_ctl', ['-D', data, '-m', 'fast', 'stop']);
  }
}

/** As `npm run bench -- lifecycle` measures it: `load` is `bulk` or `single`. */
async function simbatch(load) {
  const [line] = await (await import('../../dist/bench/lifecycle.js'))[load]();
  return { submitted: Infinity, worked: line.value, all: line.samples.map(Math.round).join(' ') };
}

const PEERS = [
  { name: 'BullMQ 6.7.0 on Redis, fsync always', needs: 'redis-server', measure: bullmq },
  { name: 'graphile-worker 0.18.0 on PostgreSQL', needs: 'initdb', measure: graphileWorker },
  { name: 'simbatch over HTTP, bulk of 64', needs: undefined, measure: () => simbatch('bulk') },
  { name: 'simbatch over HTTP, one by one', needs: undefined, measure: () => simbatch('single') },
];

const rows = [];
for (const { name, needs, measure } of PEERS) {
  if (needs !== undefined && find(needs) === undefined) {
    console.log(`${name}: left out, ${needs} is not installed`);
    continue;
  }
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-peers-'));
  chmodSync(folder, 0o755);
  try {
    const { submitted, worked, all } = await measure(folder);
    const submitUs = Number.isFinite(submitted) ? (1e6 / submitted).toFixed(1) : 'constant per study';
    console.log(`${name}: ${Math.round(worked)} jobs/s`);
    rows.push({ peer: name, 'jobs/s': Math.round(worked), rounds: all, 'submission, us/job': submitUs });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
console.table(rows);
process.exit(0);
