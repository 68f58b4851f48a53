/** Runs in containers under every runtime: the run contract, ends by force, refusals, and what the result says. */
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import type { AttemptEnd } from '../../../src/runner/attempt/outcome.ts';
import { Containers, containerName } from '../../../src/runner/containers/containers.ts';
import { ExecutionBench } from '../../support/executed.ts';
import { real, SIMULATION, stub } from '../../support/containers/runtimes.ts';
import type { RuntimeOnTrial } from '../../support/containers/runtimes.ts';
import { silentLog } from '../../../src/runner/log.ts';
import { until } from '../support.ts';

const OPENED: readonly { title: string; open: () => Promise<RuntimeOnTrial | string> }[] = [
  { title: 'podman, a stand-in', open: () => stub('podman') },
  { title: 'docker, a stand-in', open: () => stub('docker') },
  { title: 'apptainer, a stand-in', open: () => stub('apptainer') },
  { title: 'podman', open: () => real('podman') },
  { title: 'charliecloud', open: () => real('charliecloud') },
];

const resultOf = (end: AttemptEnd) => {
  if (end.type !== 'complete' && end.type !== 'fail') throw new Error(`the run is ${end.type}`);
  return end.result;
};
const messageOf = (end: AttemptEnd): string => (end.type === 'fail' ? end.error_message : `it is ${end.type}`);

for (const { title, open } of OPENED) {
  describe(`a run in a container: ${title}`, () => {
    let tried: RuntimeOnTrial;
    let bench: ExecutionBench;
    let containers: Containers;
    const umask = process.umask();

    before(async function () {
      const opened = await open();
      if (typeof opened === 'string') {
        this.test!.title += ` (${opened})`;
        this.skip();
      }
      tried = opened;
      // Podman's containers belong to another user in these tests.
      process.umask(0);
      bench = new ExecutionBench({ OMP_NUM_THREADS: '2', LICENCE_KEY: 'of the runner' }, 0o777);
      const { runtime, image } = tried;
      containers = new Containers({
        runtime,
        images: [image, 'absent*', '/absent*'],
        options: [],
        env: bench.env,
        workingDirectory: bench.folder,
        clock: systemClock,
        log: silentLog,
      });
    });

    after(() => {
      process.umask(umask);
      bench?.close();
      tried?.close();
    });

    const engine = () => ({ name: '*', entrypoint: tried.isReal ? 'image:/simulation.sh' : SIMULATION });
    const run = (mode: string, more: { image?: string; memoryLimit?: string; timeoutSecs?: number } = {}) =>
      bench.execute(engine(), { SIM_MODE: mode }, 3, { containers, image: tried.image, ...more });

    it('completes, and the result names the image that was executed', async () => {
      const { end, files } = await run('complete');
      expect(end.type, messageOf(end)).to.equal('complete');
      const { metadata } = resultOf(end)!;
      expect(metadata).to.include({ miss_m: 1.5, mode: 'complete' });
      const container = metadata['simbatch_container'] as Record<string, string>;
      expect(container['image']).to.equal(tried.image);
      expect(container['runtime']).to.equal(tried.runtime.version);
      if (tried.title !== 'charliecloud') expect(container['digest']).to.match(/^sha256:[0-9a-f]{64}$/);
      expect(files['stdout.log']).to.equal('the output of run 3\n');
      expect(tried.containers()).to.deep.equal([]);
    });

    it('gets the contract, the variables of the study and few of the runner', async () => {
      const { end, files } = await run('environment');
      expect(end.type, messageOf(end)).to.equal('complete');
      const names = (files['names'] ?? '').split('\n');
      expect(names).to.include.members([
        'SIM_MODE',
        'SVC_OUTPUT_DIR',
        'SVC_RUN_CONFIG',
        'SVC_TELEMETRY_TOKEN',
        'OMP_NUM_THREADS',
      ]);
      expect(names).not.to.include('LICENCE_KEY');
      expect((files['cwd'] ?? '').trim()).to.equal(bench.folder);
    });

    it('reports the exit code of the simulation and its last lines', async () => {
      const { end } = await run('exit');
      expect(end).to.include({ type: 'fail', reason: 'exit' });
      expect(messageOf(end)).to.equal('the simulation exited with code 3\ntrim solution not found');
    });

    it('is ended at its time limit with every process of the container', async () => {
      const { end } = await run('hang', { timeoutSecs: 1 });
      expect(end).to.include({ type: 'fail', reason: 'timeout' });
      expect(resultOf(end)?.metadata['simbatch_notes']).to.equal(undefined);
      expect(tried.containers()).to.deep.equal([]);
      expect(processesOf(bench.folder)).to.deep.equal([]);
    });

    it('survives SIGTERM to every process on this machine, which reaches the simulation', async function () {
      if (!tried.isReal) return this.skip();
      const before = readdirSync(bench.folder);
      const running = run('patient');
      const isReady = (): boolean =>
        readdirSync(bench.folder).some((it) => !before.includes(it) && existsSync(join(bench.folder, it, 'ready')));
      while (!isReady()) await pause();
      for (const { pid } of carriersIn(bench.folder)) process.kill(pid, 'SIGTERM');
      const { end } = await running;
      expect(end.type, messageOf(end)).to.equal('complete');
      // Removed by a process of the runtime, which may end after its client.
      await until(() => tried.containers().length === 0);
    });

    it('says that the image is missing, as a fault of the machine', async () => {
      const { end } = await run('complete', { image: tried.image.startsWith('/') ? '/absent/image' : 'absent:1' });
      expect(end).to.include({ type: 'fail', reason: 'infrastructure' });
      expect(messageOf(end)).to.match(/^the image (?:absent:1|\/absent\/image) cannot be used: ./);
    });

    it('refuses an image that the operator does not allow', async () => {
      const { end } = await run('complete', { image: 'foreign:1' });
      expect(end).to.include({ type: 'fail', reason: 'invalid' });
      expect(messageOf(end)).to.equal(
        'container.image "foreign:1": this runner does not allow the image; have the operator of the runner add it to container_images',
      );
    });

    it('says when a limit takes no effect', async () => {
      const { end } = await run('complete', { memoryLimit: '512Mi' });
      const notes = (resultOf(end)?.metadata['simbatch_notes'] ?? []) as string[];
      if (tried.runtime.enforces.memoryBytes) expect(notes).to.deep.equal([]);
      else expect(notes.join()).to.match(/^container\.memory_limit and cpu_limit did not take effect: ./);
    });
  });
}

describe('containers of a former runner', () => {
  it('are ended by the name that follows from the output directory', async () => {
    const tried = await stub('podman');
    const bench = new ExecutionBench();
    const { runtime, image } = tried;
    const options = { images: ['*'], options: [], env: bench.env, workingDirectory: bench.folder };
    const containers = new Containers({ runtime, ...options, clock: systemClock, log: silentLog });
    const directory = join(bench.folder, 'run-1');
    const running = bench.execute({ name: '*', entrypoint: SIMULATION }, { SIM_MODE: 'hang' }, 3, {
      containers,
      image,
    });
    while (!readdirSync(tried.folder).includes(`container-${containerName(directory)}`)) await pause();
    await containers.end(directory);
    const { end } = await running;
    expect(end).to.include({ type: 'fail', reason: 'signal' });
    bench.close();
    tried.close();
  });
});

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

/** Processes whose environment names a folder below this one. */
function carriersIn(folder: string): { pid: number; command: string }[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const isOfRun = environment.includes(`SVC_OUTPUT_DIR=${folder}`) && command !== '';
      return isOfRun ? [{ pid: Number(pid), command }] : [];
    } catch {
      return [];
    }
  });
}

const processesOf = (folder: string): string[] => carriersIn(folder).map((it) => it.command);
