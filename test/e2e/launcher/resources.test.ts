/** Counted resources on a real Slurm: GPUs of an allocation pinned to runs, a licence of Slurm, and a pool of the coordinator through its kill. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { userInfo } from 'node:os';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { Client } from '../../../src/client/client.ts';
import { serving, type Serving } from '../../support/program.ts';
import { slurmMissing, startSlurm, type SlurmSite } from '../../support/slurm.ts';
import { study } from '../../support/studies.ts';
import { skipWithout } from '../support.ts';

const PROGRAM = join(packageRoot, 'dist', 'bin', 'simbatch.js');

/** A run writes its start and its end, with the GPUs that it sees, into one file. */
const SIMULATION = `
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const { run_id, metadata } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
const about = { study: metadata.simulation_version, run: run_id, gpus: process.env.CUDA_VISIBLE_DEVICES, job: process.env.SLURM_JOB_ID };
const say = (what) => appendFileSync('LOG', JSON.stringify({ what, ...about }) + '\\n');
say('start');
setTimeout(() => {
  say('end');
  writeFileSync(join(process.env.SVC_OUTPUT_DIR, 'metadata.json'), '{"double_x":1}');
}, 700);
`;

interface Line {
  what: 'start' | 'end';
  study: string;
  run: number;
  gpus?: string;
  job?: string;
}

describe('e2e: counted resources on a real Slurm', function () {
  let slurm: SlurmSite;
  let serve: Serving;
  let client: Client;
  const children: ChildProcess[] = [];
  let printed = '';

  before(async function () {
    skipWithout(this, slurmMissing());
    slurm = await startSlurm();
    const log = join(slurm.folder, 'log.ndjson');
    writeFileSync(log, '');
    writeFileSync(join(slurm.folder, 'sim.mjs'), SIMULATION.replace('LOG', log));
    // The launcher calls this squeue, which counts.
    const real = spawnSync('which', ['squeue'], { env: slurm.env, encoding: 'utf8' }).stdout.trim();
    writeFileSync(join(slurm.folder, 'squeue'), `#!/bin/sh\necho x >> '${slurm.folder}/calls'\nexec ${real} "$@"\n`, {
      mode: 0o755,
    });
    writeFileSync(join(slurm.folder, 'calls'), '');
    serve = await serving(['--data-dir', join(slurm.folder, 'data'), '--resource', 'comsol=2']);
    client = new Client({ endpoint: serve.url });
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await serve?.stop();
    slurm?.stop();
  });

  const start = (...args: string[]): ChildProcess => {
    const env = { ...slurm.env, PATH: `${slurm.folder}:${slurm.env['PATH'] ?? ''}` };
    const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.on('data', (piece: Buffer) => (printed += piece.toString()));
    children.push(child);
    return child;
  };
  const submit = async (version: string, runs: number, resources?: Record<string, number>): Promise<string> => {
    const compute = resources === undefined ? {} : { resources };
    const { batch_id: batch } = await client.submit(
      study({ name: version, runs, cpu: '1', config: { simulation: { name: 'toy', version }, compute } }),
    );
    return batch;
  };
  async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
    for (let waitedMs = 0; !(await isTrue()); waitedMs += 200) {
      if (waitedMs > 150_000) throw new Error(`not within 150 s: ${what}\n${printed}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  const hasEnded = (batch: string) => async () => (await client.batch(batch)).batch.status === 'Completed';
  const lines = (of: string): Line[] =>
    readFileSync(join(slurm.folder, 'log.ndjson'), 'utf8')
      .split('\n')
      .flatMap((it) => (it === '' ? [] : [JSON.parse(it) as Line]))
      .filter((it) => it.study === of);
  /** The most runs at once, and the most on one device. */
  function mostAtOnce(all: readonly Line[]): { runs: number; onOneDevice: number } {
    const open = new Map<number, string | undefined>();
    const most = { runs: 0, onOneDevice: 0 };
    for (const { what, run, gpus } of all) {
      if (what === 'start') open.set(run, gpus);
      else open.delete(run);
      const seen = [...open.values()].flatMap((it) => (it ? it.split(',') : []));
      const same = seen.map((id) => seen.filter((it) => it === id).length);
      most.runs = Math.max(most.runs, open.size);
      most.onOneDevice = Math.max(most.onOneDevice, ...same);
    }
    return most;
  }

  it('pins one device to each run, keeps other runs off the allocation, and asks Slurm nothing without work', async function () {
    const runner = {
      args: [
        '--entrypoint',
        join(slurm.folder, 'sim.mjs'),
        '--heartbeat-interval-secs',
        '1',
        '--environment-inherited',
        'SLURM_JOB_ID',
      ],
    };
    const base = { engine: 'slurm', lifetime: '10m', max: 1, idle_timeout: '2s', runner };
    const gpu = {
      ...base,
      size: { cores: 4, gpu: 2, resources: { matlab: 1 } },
      slurm: { per_unit: { matlab: '--licenses=matlab:{n}' } },
    };
    const config = { endpoint: serve.url, poll_seconds: 1, queues: { gpu, cpu: { ...base, size: { cores: 3 } } } };
    writeFileSync(join(slurm.folder, 'launcher.yaml'), JSON.stringify(config));
    const args = ['--config', join(slurm.folder, 'launcher.yaml'), '--state-dir', join(slurm.folder, 'launcher')];
    const [onGpu, plain] = [await submit('gpu', 8, { gpu: 1 }), await submit('plain', 6)];
    const launcher = start('launcher', 'run', '--trust-open-coordinator', ...args);
    let allocated = '';
    await until('the runs on GPUs end', async () => {
      const shown = spawnSync('squeue', ['-h', '-O', 'tres-per-node:40,licenses:40'], {
        env: slurm.env,
        encoding: 'utf8',
      });
      allocated += shown.stdout;
      return hasEnded(onGpu)();
    });
    await until('the others end', hasEnded(plain));
    expect(allocated).to.match(/gpu:2\s+matlab:1/);
    const seen = lines('gpu');
    expect(seen).to.have.length(16);
    for (const { gpus } of seen) expect(gpus).to.match(/^[01]$/);
    expect(new Set(seen.map((it) => it.gpus)).size).to.equal(2);
    expect(mostAtOnce(seen)).to.deep.equal({ runs: 2, onOneDevice: 1 });
    const jobs = new Set(seen.map((it) => it.job));
    expect([...jobs]).to.not.include(undefined);
    expect(lines('plain')).to.have.length(12);
    for (const { job } of lines('plain')) expect(jobs.has(job)).to.equal(false);
    // The queue names no folder: output and state are on the disk that the node names.
    const local = readdirSync(join(slurm.folder, 'local')).filter((it) => !it.startsWith('simbatch-compiled-'));
    const [name = '', ...others] = local;
    expect([name, others]).to.deep.equal([`simbatch-${userInfo().username}`, []]);
    const outputs = readdirSync(join(slurm.folder, 'local', name));
    expect(outputs).to.include.members(['.simbatch-runner', onGpu, plain]);
    expect(readdirSync(slurm.folder)).to.not.include('simbatch-output');
    await until(
      'nothing lives',
      async () => (await client.launching.launchers()).launchers[0]?.allocations.length === 0,
    );
    // Two calls see that nothing is left; after that there are none.
    const calls = (): number => readFileSync(join(slurm.folder, 'calls'), 'utf8').length / 2;
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    const before = calls();
    expect(before).to.be.greaterThan(2);
    await new Promise((resolve) => setTimeout(resolve, 20_000));
    expect(calls()).to.equal(before);
    launcher.kill('SIGKILL');
  });

  it('never has more runs with a licence of the pool than it holds, over two runners and a kill of the coordinator', async () => {
    for (const id of ['one', 'two']) {
      const own = ['--runner-id', id, '--output-root', join(slurm.folder, id), '--max-concurrent-jobs', '3'];
      start(
        'runner',
        '--endpoint',
        serve.url,
        '--entrypoint',
        join(slurm.folder, 'sim.mjs'),
        '--heartbeat-interval-secs',
        '1',
        ...own,
      );
    }
    const batch = await submit('comsol', 10, { comsol: 1 });
    let wasKilled = false;
    await until('the study ends', async () => {
      if (!wasKilled && lines('comsol').length > 5) {
        wasKilled = true;
        serve.child.kill('SIGKILL');
        const { port } = new URL(serve.url);
        await new Promise((resolve) => setTimeout(resolve, 300));
        serve = await serving(['--port', port, '--data-dir', join(slurm.folder, 'data'), '--resource', 'comsol=2']);
      }
      const { site_resources: pools = [] } = await client.runners();
      for (const pool of pools) expect(pool.used).to.be.at.most(pool.total);
      return hasEnded(batch)();
    });
    expect(wasKilled).to.equal(true);
    expect(lines('comsol').filter((it) => it.what === 'end').length).to.be.at.least(10);
    expect(mostAtOnce(lines('comsol')).runs).to.equal(2);
    const tooMany = await submit('too many', 1, { comsol: 3 });
    const findings = await client.findings(tooMany);
    expect(findings[0]?.message).to.equal('one run asks for 3 comsol; the coordinator holds 2 for all runners');
  });
});
