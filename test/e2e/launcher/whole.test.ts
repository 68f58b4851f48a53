/**
 * Studies submitted to an empty pool, on Kubernetes and over ssh: the launcher brings up allocations within its limits, real runners
 * execute the runs, and everything is gone after, also when the launcher is killed at any of its steps.
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { Client } from '../../../src/client/client.ts';
import type { LauncherConfig, QueueConfig } from '../../../src/launcher/settings.ts';
import type { Engine } from '../../../src/launcher/engine.ts';
import { kubernetesEngine } from '../../../src/launcher/engines/kubernetes/kubernetes.ts';
import { sshEngine } from '../../../src/launcher/engines/ssh/ssh.ts';
import { until } from '../support.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { sshdMissing } from '../../support/sshd.ts';
import { kubernetesMissing } from '../../support/kubernetes/real-api.ts';
import { study } from '../../support/studies.ts';
import { kubernetesContext, kubernetesQueue } from '../../launcher/engines/kubernetes/queue.ts';
import { sshContext, sshQueue } from '../../launcher/engines/ssh/queue.ts';
import * as kubernetes from './kubernetes/sites.ts';
import * as ssh from './ssh/sites.ts';
import { allocationRequest } from '../../launcher/support.ts';
import { CrashingLauncher } from './crashing-launcher.ts';

/** A cluster of one engine, with a way to open the engine as a new process of the launcher does. */
interface Cluster {
  start(): Promise<void>;
  stop(): Promise<void>;
  queue(given: Partial<QueueConfig>): QueueConfig;
  open(queue: QueueConfig, launcher: string): Engine;
  /** Members of a queue whose allocations never start. */
  broken(): Partial<QueueConfig>;
  /** Where the host has the simulation and the output. */
  folder: string;
  /** Processes of allocations. */
  left(): number;
}

class KubernetesCluster implements Cluster {
  readonly #site = kubernetesMissing() === undefined ? new kubernetes.RealSite() : new kubernetes.FakeSite();
  folder = mkdtempSync(join(tmpdir(), 'simbatch-whole-'));

  start(): Promise<void> {
    return this.#site.start();
  }

  async stop(): Promise<void> {
    await this.#site.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  queue(given: Partial<QueueConfig>): QueueConfig {
    const program = [process.execPath, join(packageRoot, 'dist/bin/simbatch.js'), 'runner'];
    const section = { kubeconfig: this.#site.kubeconfig, images: ['*'], ...(given.section as object) };
    const runner = { args: [], environment: {}, slots: 1, ...given.runner, program };
    return kubernetesQueue(section, {
      ...(given as object),
      section: { namespace: 'sims', image: 'sims/rocket:1', ...section },
      runner,
    });
  }

  broken(): Partial<QueueConfig> {
    return { section: { image: 'sims/missing:1' } };
  }

  open(queue: QueueConfig, launcher: string): Engine {
    return kubernetesEngine.open(kubernetesContext([queue as never], { launcher }));
  }

  left(): number {
    return this.#site.node.running;
  }
}

class SshCluster implements Cluster {
  readonly #site = sshdMissing() === undefined ? new ssh.RealSite() : new ssh.StubSite();
  folder = '';
  #program: string[] = [];

  async start(): Promise<void> {
    await this.#site.start();
    this.folder = this.#site.home;
    // The first allocation ships the kit; the others use it.
    const queue = sshQueue({ ...this.#site.section, ship: 'kit-with-node' });
    const runner = { program: undefined, args: ['--version'], environment: {} };
    await sshEngine.open(sshContext(this.#site, [queue])).submit(allocationRequest({ runner }));
    const kits = join(this.folder, '.cache/simbatch/kits');
    const [kit = ''] = readdirSync(kits);
    const [inner = ''] = readdirSync(join(kits, kit));
    this.#program = [join(kits, kit, inner, 'simbatch-runner')];
  }

  stop(): Promise<void> {
    return this.#site.stop();
  }

  queue(given: Partial<QueueConfig>): QueueConfig {
    const { program = this.#program, ...others } = given.runner ?? { args: [], environment: {}, slots: 1 };
    const runner = { ...others, program };
    return sshQueue(this.#site.section, { ...(given as object), runner });
  }

  broken(): Partial<QueueConfig> {
    return { runner: { program: ['/opt/none'], args: [], environment: {}, slots: 1 } };
  }

  open(queue: QueueConfig, launcher: string): Engine {
    return sshEngine.open(sshContext(this.#site, [queue as never], { launcher }));
  }

  left(): number {
    return this.#site instanceof ssh.RealSite ? this.#site.server.processes().length : 0;
  }
}

const CLUSTERS = [
  {
    name: kubernetesMissing() === undefined ? 'a real Kubernetes API' : 'a Kubernetes API in memory',
    make: () => new KubernetesCluster(),
  },
  { name: sshdMissing() === undefined ? 'a real sshd' : 'a stub of ssh', make: () => new SshCluster() },
];
/** Launchers at the same time. */
const WIDTH = 4;
/** The night tries each step. By day the others are left to the simulation of the launcher; which they are is drawn anew each time. */
const STRIDE = Number(process.env['LAUNCHER_STRIDE'] ?? 8);
const MAX = 2;

for (const { name, make } of CLUSTERS) {
  describe(`launcher/whole on ${name}`, function () {
    this.timeout(900_000);
    let cluster: Cluster;
    let serve: Serving;
    let client: Client;
    let launching: Client;
    const data = mkdtempSync(join(tmpdir(), 'simbatch-whole-data-'));

    before(async () => {
      cluster = make();
      await cluster.start();
      const token = async (scope: string): Promise<string> => {
        const made = await simbatch(['token', 'create', '--data-dir', data, '--scope', scope]);
        expect(made.code, made.stderr).to.equal(0);
        return made.stdout.trim();
      };
      mkdirSync(data, { recursive: true });
      const [people, launcher] = [await token('read,submit,operate'), await token('read,launch')];
      serve = await serving(['--data-dir', data]);
      client = new Client({ endpoint: serve.url, token: people });
      launching = new Client({ endpoint: serve.url, token: launcher });
      writeFileSync(join(cluster.folder, 'sim.mjs'), 'setTimeout(() => {}, 200);\n');
    });
    after(async () => {
      await serve?.stop();
      await cluster?.stop();
      rmSync(data, { recursive: true, force: true });
    });

    /** A launcher with one queue of its own name, which serves one simulation. */
    function launcherOf(label: string, simulation: string, given: Partial<QueueConfig>, crashAt?: number) {
      const args = ['--engines', simulation, '--entrypoint', join(cluster.folder, 'sim.mjs'), '--grace-secs', '1'];
      const output = ['--output-root', join(cluster.folder, 'out', simulation), '--heartbeat-interval-secs', '1'];
      const queue = cluster.queue({
        name: label,
        serves: [simulation],
        size: { cores: 1, memoryBytes: 0, gpus: 0 },
        lifetimeMs: 600_000,
        lifetimeMarginMs: 5_000,
        idleTimeoutMs: 1_000,
        max: MAX,
        runner: { program: undefined, args: [...args, ...output], environment: {}, slots: 1 },
        ...given,
      });
      const config: LauncherConfig = {
        launcher: label,
        endpoint: serve.url,
        runnerEndpoint: serve.url,
        pollMs: 300,
        limits: { maxAllocations: undefined, maxCoreHours: undefined, maxCoreHoursPerDay: undefined },
        queues: [queue],
      };
      const open = (): Engine => cluster.open(queue, label);
      return { open, launcher: new CrashingLauncher({ config, client: launching, open, crashAt }) };
    }

    /** One study, from an empty pool to an empty pool, by a launcher that crashes at one step. Returns whether it did. */
    async function wholeStudy(crashAt: number | undefined): Promise<boolean> {
      const simulation = `sim${String(crashAt ?? 0)}`;
      const label = `crash-${String(crashAt ?? 0)}`;
      const { open, launcher } = launcherOf(label, simulation, {}, crashAt);
      const { batch_id } = await client.submit(study({ runs: 3, simulation }));
      await launcher.run(async ({ queues }) => {
        const { batch } = await client.batch(batch_id);
        return batch.status === 'Completed' && queues.every(({ counts }) => Object.keys(counts).length === 0);
      });
      const { allocations } = await open().list();
      expect(
        allocations.filter((it) => it.state !== 'ended'),
        launcher.log.join('\n'),
      ).to.deep.equal([]);
      const { runners } = await client.runners();
      expect(runners.filter((it) => it.allocation?.includes(`/${label}/`))).to.deep.equal([]);
      expect(launcher.mostLive, launcher.log.join('\n')).to.be.within(1, MAX);
      expect([...launcher.submissions.values()].every((it) => it === 1)).to.equal(true);
      const { batch } = await client.batch(batch_id);
      expect(batch).to.include({ completed_jobs: 3, failed_jobs: 0 });
      return launcher.crashes > 0;
    }

    it('runs a study that waits for a first runner, within the limits, and leaves nothing', async () => {
      expect(await wholeStudy(undefined)).to.equal(false);
      await until(() => cluster.left() === 0);
    });

    it('continues a run in the next allocation when its own ends, and counts no loss', async () => {
      const mark = join(cluster.folder, 'seen');
      const simulation = join(cluster.folder, 'long.mjs');
      const text = `import fs from 'node:fs';
        if (!fs.existsSync('${mark}')) { fs.writeFileSync('${mark}', ''); setTimeout(() => {}, 600_000); }`;
      writeFileSync(simulation, text);
      const args = ['--entrypoint', simulation, '--grace-secs', '1', '--heartbeat-interval-secs', '1'];
      const output = ['--output-root', join(cluster.folder, 'out', 'long')];
      const { launcher } = launcherOf('short', 'long', {
        lifetimeMs: 15_000,
        lifetimeMarginMs: 2_000,
        max: 1,
        runner: { program: undefined, args: [...args, ...output], environment: {}, slots: 1 },
      });
      const { batch_id } = await client.submit(study({ runs: 1, simulation: 'long', maxRetries: 0 }));
      await launcher.run(async ({ queues }) => {
        const { batch } = await client.batch(batch_id);
        return batch.status === 'Completed' && queues.every(({ counts }) => Object.keys(counts).length === 0);
      });
      expect(launcher.submissions.size).to.equal(2);
      for await (const { id } of client.jobs({ batch_id: [batch_id] })) {
        expect(await client.jobHistory(id)).to.include({ retries: 0, losses: 0, infrastructure_faults: 0 });
      }
      await until(() => cluster.left() === 0);
    });

    it('delays a queue whose allocations cannot start, and says why', async () => {
      const { launcher, open } = launcherOf('broken', 'none', cluster.broken());
      const { batch_id } = await client.submit(study({ runs: 2, simulation: 'none' }));
      const { queues } = await launcher.run(async (it) => it.queues[0]?.blocked !== undefined);
      expect(queues[0]?.blocked).to.match(/ErrImagePull: pull access denied|not found/);
      const submitted = launcher.submissions.size;
      const status = await launcher.run(async (it) => Object.keys(it.queues[0]?.counts ?? {}).length === 0);
      expect(status.queues[0]?.why.join()).to.match(/submits none, since/);
      expect(launcher.submissions.size).to.equal(submitted);
      await until(async () => (await open().list()).allocations.every((it) => it.state === 'ended'));
      await client.cancelBatch(batch_id);
      await until(() => cluster.left() === 0);
    });

    const which = STRIDE === 1 ? 'any' : `each ${STRIDE}th`;
    it(`loses nothing and submits nothing twice when the launcher is killed at ${which} of its steps`, async () => {
      const first = 1 + randomInt(STRIDE);
      let taken = 0;
      let last = Infinity;
      const nextStep = (): number => first + STRIDE * taken++;
      const work = async (): Promise<void> => {
        for (let step = nextStep(); step < last; step = nextStep())
          if (!(await wholeStudy(step))) last = Math.min(last, step);
      };
      await Promise.all(Array.from({ length: WIDTH }, work));
      // Every study has at least the writes, tokens, submissions and ends of one allocation.
      expect(last).to.be.within(10, 200);
      await until(() => cluster.left() === 0);
    });
  });
}
