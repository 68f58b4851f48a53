// A stub of sbatch, squeue and scancel over a folder of jobs: `slurm-stub.mjs COMMAND FOLDER ARGUMENTS...`.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , command, folder, ...args] = process.argv;
const option = (name) => args.find((it) => it.startsWith(`--${name}=`))?.slice(name.length + 3);
const has = (name) => args.includes(`--${name}`);
const jobPath = (id, file) => join(folder, id, file);
const read = (id, file) => (existsSync(jobPath(id, file)) ? readFileSync(jobPath(id, file), 'utf8').trim() : '');
const refuse = (why) => {
  process.stderr.write(`sbatch: error: ${why}\n`);
  process.exit(1);
};

function stateOf(id) {
  const code = read(id, 'code');
  if (code === '') return ['RUNNING', 'None'];
  if (read(id, 'cancelled') !== '') return ['CANCELLED', 'None'];
  return code === '0' ? ['COMPLETED', 'None'] : ['FAILED', 'NonZeroExitCode'];
}

function sbatch() {
  const partition = option('partition') ?? 'main';
  if (!(process.env.STUB_PARTITIONS ?? 'main,short').split(',').includes(partition)) {
    refuse(
      `invalid partition specified: ${partition}\nsbatch: error: Batch job submission failed: Invalid partition name specified`,
    );
  }
  if (has('test-only')) {
    process.stderr.write(
      'sbatch: Job 1 to start at 2026-01-01T00:00:00 using 1 processors on nodes stub in partition main\n',
    );
    return;
  }
  const id = String(readdirSync(folder).length + 1);
  mkdirSync(join(folder, id));
  writeFileSync(jobPath(id, 'script'), readFileSync(0));
  writeFileSync(jobPath(id, 'comment'), option('comment') ?? '');
  writeFileSync(jobPath(id, 'start'), String(Math.floor(Date.now() / 1000)));
  const log = openSync(option('output').replaceAll('%%', '%').replaceAll('%j', id), 'a');
  const names = (option('export') ?? '').split(',');
  const given = Object.fromEntries(
    names.flatMap((it) => (process.env[it] === undefined ? [] : [[it, process.env[it]]])),
  );
  // As a site gives each node its local disk.
  const env = { ...given, TMPDIR: join(folder, '..', 'local') };
  // The outer shell records the exit code; the job is in a process group of its own.
  const job = `setsid /bin/bash -l '${jobPath(id, 'script')}' & echo $! > '${jobPath(id, 'pid')}'; wait $!; echo $? > '${jobPath(id, 'code')}'`;
  spawn('/bin/bash', ['-c', job], { env, detached: true, stdio: ['ignore', log, log], cwd: option('chdir') }).unref();
  while (read(id, 'pid') === '') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  process.stdout.write(`${id}\n`);
}

function squeue() {
  for (const id of readdirSync(folder)) {
    const [state, reason] = stateOf(id);
    process.stdout.write(`${id}|${state}|${read(id, 'start')}|N/A|${reason}|${read(id, 'comment')}\n`);
  }
}

function scancel() {
  const ids = has('all') ? readdirSync(folder) : args.filter((it) => /^\d+$/.test(it));
  if (option('state') === 'PENDING') return;
  for (const id of ids) {
    if (read(id, 'code') !== '') continue;
    const isGentle = option('signal') === 'TERM';
    if (!isGentle) writeFileSync(jobPath(id, 'cancelled'), 'yes');
    try {
      process.kill(isGentle ? Number(read(id, 'pid')) : -Number(read(id, 'pid')), isGentle ? 'SIGTERM' : 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

({ sbatch, squeue, scancel })[command]();
