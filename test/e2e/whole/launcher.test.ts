/** The launcher with real programs: coordinator with tokens, `simbatch launcher run`, a real Slurm, and runners in its jobs. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { Client } from '../../../src/client/client.ts';
import type { TokenRecord } from '../../../src/contract/types.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { slurmMissing, startSlurm, type SlurmSite } from '../../support/slurm.ts';
import { skipWithout } from '../support.ts';

const PROGRAM = join(packageRoot, 'dist', 'bin', 'simbatch.js');

/** A run ends at once; of `slow` runs the first attempt waits to be ended by its wall time. */
const SIMULATION = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const { run_id, metadata } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
const mark = join('MARKS', metadata.simulation_version + '-' + run_id);
const isFirst = !existsSync(mark);
writeFileSync(mark, '');
if (metadata.simulation_version === 'slow' && isFirst) setInterval(() => {}, 1000);
else setTimeout(() => writeFileSync(join(process.env.SVC_OUTPUT_DIR, 'metadata.json'), '{"double_x":1}'), 300);
`;

const study = (runs: number, version: string, cores = '1') => ({
  name: version,
  config: {
    simulation: { name: 'toy', version, duration_minutes: 1 },
    monte_carlo: { runs, sampling_method: 'monte_carlo' as const, seed: 1 },
    dispersions: {},
    compute: {
      container: { image: 'none', cpu_request: cores, memory_request: '1Mi' },
      max_parallel_jobs: 0,
      job_timeout_seconds: 0,
      max_retries: 0,
    },
    early_termination: { enabled: false, check_frequency_hz: 1, conditions: [] },
    telemetry: {
      sampling_rate_hz: 1,
      variables: [],
      storage: { s3_bucket: 'b', s3_prefix: 'p', compression: 'none' as const },
      buffer_flush_interval_seconds: 1,
    },
  },
});

describe('e2e: the launcher on a real Slurm', function () {
  let slurm: SlurmSite;
  let serve: Serving;
  let client: Client;
  let token: string;
  let launcher: ChildProcess | undefined;
  let printed = '';

  before(async function () {
    skipWithout(this, slurmMissing());
    slurm = await startSlurm();
    mkdirSync(join(slurm.folder, 'marks'));
    writeFileSync(join(slurm.folder, 'sim.mjs'), SIMULATION.replace('MARKS', join(slurm.folder, 'marks')));
    const data = join(slurm.folder, 'data');
    const made = await simbatch(['token', 'create', '--scope', 'read,submit,operate,launch', '--data-dir', data]);
    token = made.stdout.trim();
    serve = await serving(['--data-dir', data]);
    client = new Client({ endpoint: serve.url, token });
  });
  afterEach(async () => {
    launcher?.kill('SIGKILL');
    launcher = undefined;
  });
  after(async () => {
    await serve?.stop();
    slurm?.stop();
  });

  const configOf = (queue: Record<string, unknown>): string => {
    const path = join(slurm.folder, 'launcher.yaml');
    const base = {
      engine: 'slurm',
      size: { cores: 2 },
      lifetime: '10m',
      max: 2,
      idle_timeout: '3s',
      runner: {
        args: ['--entrypoint', join(slurm.folder, 'sim.mjs'), '--grace-secs', '2', '--heartbeat-interval-secs', '1'],
      },
    };
    writeFileSync(
      path,
      JSON.stringify({ endpoint: serve.url, poll_seconds: 1, queues: { main: { ...base, ...queue } } }),
    );
    return path;
  };
  const environment = () => ({ ...slurm.env, SVC_TOKEN: token });
  let folders = 0;
  let stateDir = '';
  const start = (config: string): ChildProcess => {
    const args = [PROGRAM, 'launcher', 'run', '--config', config, '--state-dir', stateDir];
    const child = spawn(process.execPath, args, { env: environment(), stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.on('data', (piece: Buffer) => (printed += piece.toString()));
    launcher = child;
    return child;
  };
  beforeEach(() => {
    printed = '';
    folders += 1;
    stateDir = join(slurm.folder, `launcher-${String(folders)}`);
  });
  const ask = (...args: string[]) => simbatch(['launcher', ...args, '--state-dir', stateDir], environment());

  async function until(what: string, isTrue: () => Promise<boolean>, secs = 100): Promise<void> {
    for (let waitedMs = 0; !(await isTrue()); waitedMs += 200) {
      if (waitedMs > secs * 1_000) throw new Error(`not within ${String(secs)} s: ${what}\n${printed}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  const hasEnded = async (batch: string) => (await client.batch(batch)).batch.status === 'Completed';
  const live = async () => (await client.launching.launchers()).launchers[0]?.allocations.length ?? 0;
  const tokensOfAllocations = () => {
    const { tokens } = JSON.parse(readFileSync(join(slurm.folder, 'data', 'tokens.json'), 'utf8')) as {
      tokens: TokenRecord[];
    };
    return tokens.filter((it) => it.allocation !== undefined).length;
  };

  it('brings up allocations for a study in an empty pool within the limit, and everything is gone after', async () => {
    const config = configOf({});
    expect((await ask('check', '--config', config)).stdout).to.match(/^ok {4}main: Slurm accepts it/);
    const { batch_id: batch } = await client.submit(study(12, 'quick'));
    start(config);
    let most = 0;
    await until('the study completes', async () => {
      most = Math.max(most, await live());
      return hasEnded(batch);
    });
    expect(most).to.be.within(1, 2);
    await until('nothing lives', async () => (await live()) === 0 && tokensOfAllocations() === 0);
    expect((await client.runners()).runners, 'ephemeral runners leave nothing').to.deep.equal([]);
    expect((await ask('why')).stdout).to.equal('main: no run waits\n');
    const status = JSON.parse((await ask('status', '-o', 'json')).stdout) as {
      allocations: { value: string; context: { id: string } }[];
    };
    expect(status.allocations.every((it) => it.value === 'Ended')).to.equal(true);
    expect((await ask('log', status.allocations[0]?.context.id ?? '')).stdout).to.match(
      /Planned[^]*Submitting[^]*Ended/,
    );
  });

  it('continues after SIGKILL with the allocations that live, and ends in order on SIGTERM', async () => {
    const config = configOf({ max: 1, idle_timeout: '20s' });
    const { batch_id: batch } = await client.submit(study(2, 'killed'));
    start(config);
    await until('an allocation lives', async () => (await live()) === 1);
    launcher?.kill('SIGKILL');
    start(config);
    await until('the study completes', () => hasEnded(batch));
    const [command, child] = [await ask('stop', '--all', '--reason', 'the test is over'), launcher];
    expect(command.stdout).to.equal('done\n');
    await until('nothing lives', async () => (await live()) === 0);
    child?.kill('SIGTERM');
    expect((await once(child as ChildProcess, 'exit'))[0]).to.equal(0);
    const status = JSON.parse((await ask('status', '-o', 'json')).stdout) as { allocations: unknown[] };
    expect(status.allocations).to.have.length(1);
  });

  it('hands a run back at the wall time without a loss or a retry, and starts another allocation for it', async () => {
    const config = configOf({
      lifetime: '1m',
      lifetime_margin: '30s',
      slurm: { partition: 'short', term_before: '5s' },
    });
    const { batch_id: batch } = await client.submit(study(1, 'slow'));
    start(config);
    await until('the study completes', () => hasEnded(batch), 180);
    const [run] = (await client.jobsPage({ batch_id: [batch] })).items;
    expect(run).to.include({ status: 'Completed', retries: 0 });
    const { attempts } = await client.jobHistory(run?.id ?? '');
    expect(attempts.map((it) => it.outcome)).to.deep.equal(['released', 'completed']);
    await until('nothing lives', async () => (await live()) === 0);
  });

  it('says why it submits nothing: a queue that Slurm refuses, and runs that fit no queue', async () => {
    const config = configOf({ backoff: { first: '1s', max: '1s', pause_after: 2 }, slurm: { partition: 'none' } });
    const checked = await ask('check', '--config', config);
    expect([checked.code, checked.stdout]).to.deep.equal([1, checked.stdout]);
    expect(checked.stdout).to.match(
      /^fault main: the queue main cannot be used: .*invalid partition.*; correct the section `slurm`/i,
    );
    const { batch_id: small } = await client.submit(study(1, 'refused'));
    const { batch_id: large } = await client.submit(study(1, 'large', '3'));
    start(config);
    await until('the queue is paused', async () =>
      /2 allocations in a row failed/.test((await ask('why', 'main')).stdout),
    );
    const why = (await ask('why')).stdout;
    expect(why).to.match(/main: 1 run of toy waits: submits none, since it is paused: .*invalid partition/i);
    expect(why).to.match(
      /no-capacity-fits: 1 run of toy fits no queue \(main: a run requests 3 cores, an allocation has 2\)/,
    );
    expect((await client.findings(small))[0]).to.include({ code: 'launching', severity: 'blocked' });
    expect((await client.findings(large))[0]).to.include({ code: 'no-capacity-fits', severity: 'blocked' });
    for (const batch of [small, large]) await client.cancelBatch(batch);
  });
});
