/**
 * The words of `simbatch status STUDY` for a person whose study waits or was hit, with real programs on Kubernetes (a real API server where there is one)
 * and a real Slurm, and that they come within 15 s of the cause.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../../../src/client/client.ts';
import { sleep, until } from '../support.ts';
import { PROGRAM, serving, simbatch, type Serving } from '../../support/program.ts';
import { kubernetesMissing } from '../../support/kubernetes/real-api.ts';
import { slurmMissing, startSlurm, type SlurmSite } from '../../support/slurm.ts';
import { study } from '../../support/studies.ts';
import { skipWithout } from '../support.ts';
import { FakeSite, RealSite, type KubernetesSite } from './kubernetes/sites.ts';

/** A person waits no longer for the cause. */
const WITHIN_MS = 15_000;
/** Each look is a program. */
const LOOK_MS = 700;
/** A run marks its beginning and stays. */
const SIMULATION = `import { writeFileSync } from 'node:fs';
writeFileSync('MARK', '');
setInterval(() => {}, 1000);
`;

let scenes = 0;

/** A coordinator, a launcher and a study of one run. */
class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-status-'));
  serve!: Serving;
  client!: Client;
  batch = '';
  log = '';
  launcher: ChildProcess | undefined;

  get mark(): string {
    return join(this.folder, 'mark');
  }

  async start(): Promise<void> {
    this.serve = await serving(['--data-dir', join(this.folder, 'data')]);
    this.client = new Client({ endpoint: this.serve.url });
    writeFileSync(join(this.folder, 'sim.mjs'), SIMULATION.replace('MARK', this.mark));
  }

  async stop(): Promise<void> {
    await this.end();
    await this.serve?.stop();
    // A runner that the launcher has started meanwhile may write there until it ends.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** Ends the launcher as a crash does. */
  async end(): Promise<void> {
    const { launcher } = this;
    this.launcher = undefined;
    if (launcher?.exitCode !== null) return;
    launcher.kill('SIGKILL');
    await once(launcher, 'exit');
  }

  async submit(): Promise<void> {
    this.batch = (await this.client.submit(study({ runs: 1, cpu: '1' }))).batch_id;
  }

  launch(queue: Record<string, unknown>, env: Record<string, string | undefined> = process.env): void {
    const runner = {
      program: [process.execPath, PROGRAM, 'runner'],
      args: [
        '--entrypoint',
        join(this.folder, 'sim.mjs'),
        '--grace-secs',
        '1',
        '--output-root',
        join(this.folder, 'out'),
      ],
    };
    const all = { size: { cores: 1 }, lifetime: '10m', max: 1, runner, ...queue };
    const file = join(this.folder, 'launcher.yaml');
    writeFileSync(
      file,
      JSON.stringify({ launcher: `lab-${String((scenes += 1))}`, endpoint: this.serve.url, queues: { main: all } }),
    );
    const args = [PROGRAM, 'launcher', 'run', '--config', file, '--trust-open-coordinator'];
    this.launcher = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const it of [this.launcher.stdout, this.launcher.stderr])
      it?.on('data', (text: Buffer) => (this.log += text.toString()));
  }

  /** Waits until the status says it, and returns the whole line; it must come soon after `sinceMs`. */
  async says(pattern: RegExp, sinceMs: number): Promise<string> {
    let text = '';
    let line: string | undefined;
    await until(
      async () => {
        text = (await simbatch(['status', this.batch, '--endpoint', this.serve.url])).stdout;
        line = text.split('\n').find((it) => /^(NOT RUNNING|WAITING): /.test(it) && pattern.test(it));
        if (line === undefined) await sleep(LOOK_MS);
        return line !== undefined;
      },
      undefined,
      60_000,
    ).catch((error: unknown) => {
      throw new Error(`the status never says ${String(pattern)}:\n${text}\n${this.log}`, { cause: error });
    });
    const tookMs = Date.now() - sinceMs;
    expect(tookMs, `${line ?? ''}\n${this.log}`).to.be.below(WITHIN_MS);
    return line ?? '';
  }

  begun = (): Promise<void> => until(() => existsSync(this.mark), undefined, 60_000);
}

const isReal = kubernetesMissing() === undefined;

describe(`e2e: the status of a study on ${isReal ? 'a real Kubernetes API' : 'a Kubernetes API in memory'}`, function () {
  this.timeout(300_000);
  let site: KubernetesSite;
  let scene: Scene;
  before(async () => {
    site = isReal ? new RealSite() : new FakeSite();
    await site.start();
  });
  after(() => site?.stop());
  beforeEach(async () => {
    scene = new Scene();
    await scene.start();
  });
  afterEach(() => scene.stop());

  const queue = (image: string): Record<string, unknown> => ({
    engine: 'kubernetes',
    size: { cores: 1, memory: '256Mi' },
    kubernetes: { kubeconfig: site.kubeconfig, namespace: 'sims', image, images: ['*'] },
  });

  it('names an image that cannot be pulled', async () => {
    await scene.submit();
    const sinceMs = Date.now();
    scene.launch(queue('sims/missing:1'));
    const line = await scene.says(/ErrImagePull/, sinceMs);
    expect(line).to.match(
      /^NOT RUNNING: no runner can execute a run, and the launcher lab-\d starts none: main: the last allocation failed \(.*ErrImagePull: pull access denied for sims\/missing:1.*\); the next attempt is in \d+s/,
    );
  });

  it('names a pod that was out of memory', async () => {
    await scene.submit();
    scene.launch(queue('sims/rocket:1'));
    await scene.begun();
    const [{ allocation = '' } = {}] = (await scene.client.runners()).runners;
    // The run waits: the next runner would take it before a slow look at the status, and no later test needs a pod.
    site.node.isFull = true;
    const sinceMs = Date.now();
    site.node.end(allocation.split('/')[2] ?? '', 'out of memory');
    const line = await scene.says(/OOMKilled/, sinceMs);
    expect(line).to.match(
      /^WAITING: no runner can execute a run yet; the launcher lab-\d .*: main: .*the last one has ended: its node failed \(exit code 137\): OOMKilled$/,
    );
  });

  it('does not call a launcher dead whose round waits for its engine', async () => {
    const bin = join(scene.folder, 'bin');
    mkdirSync(bin);
    const squeue = `#!/bin/sh\n[ ! -e ${scene.folder}/slow ] || exec sleep 40\n`;
    writeFileSync(join(bin, 'squeue'), squeue, { mode: 0o755 });
    scene.launch({ engine: 'slurm', max: 0 }, { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` });
    const reports = async () => (await scene.client.launching.launchers()).launchers;
    await until(async () => (await reports()).length > 0);
    writeFileSync(join(scene.folder, 'slow'), '');
    await scene.submit();
    for (let seconds = 0; seconds < 22; seconds += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect((await reports())[0]?.current, `after ${String(seconds)} s\n${scene.log}`).to.equal(true);
    }
  });

  it('names a launcher that is dead', async () => {
    scene.launch({ ...queue('sims/rocket:1'), size: { cores: 1 }, max: 0 });
    await until(async () => (await scene.client.launching.launchers()).launchers.length > 0);
    await scene.submit();
    await scene.end();
    const line = await scene.says(/last report/, Date.now());
    expect(line).to.match(
      /the launcher lab-\d \(last report \d+s ago\) does not run, or cannot reach this coordinator/,
    );
  });
});

describe('e2e: the status of a study on a real Slurm', function () {
  this.timeout(300_000);
  let slurm: SlurmSite;
  let scene: Scene;
  before(async function () {
    skipWithout(this, slurmMissing());
    slurm = await startSlurm();
    scene = new Scene();
    await scene.start();
    mkdirSync(join(slurm.folder, 'work'));
  });
  after(async () => {
    await scene?.stop();
    slurm?.stop();
  });

  it('names a job that was preempted', async () => {
    await scene.submit();
    scene.launch(
      { engine: 'slurm', slurm: { partition: 'low', log_directory: join(slurm.folder, 'work') } },
      slurm.env,
    );
    await scene.begun();
    const sinceMs = Date.now();
    const wrap = ['--partition=high', '--exclusive', '--ntasks=8', '--time=5', '--output=/dev/null', '--wrap=sleep 60'];
    const { status, stderr } = spawnSync('sbatch', wrap, { env: slurm.env, encoding: 'utf8', cwd: slurm.folder });
    expect(status, stderr).to.equal(0);
    const line = await scene.says(/PREEMPTED/, sinceMs);
    expect(line).to.match(
      /^WAITING: no runner can execute a run yet; the launcher lab-\d starts runners: main: 1 allocation waits in the engine.*, the last one has ended: the engine preempted it: PREEMPTED$/,
    );
  });
});
