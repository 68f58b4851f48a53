/** The images of deploy/docker, built by podman on a base of this machine's own files, and a study that a coordinator and a runner of them execute. */
import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../../src/base/package.ts';
import { makeRoot, podmanProgram } from '../../support/containers/runtimes.ts';
import { simbatch } from '../../support/program.ts';
import { freePorts } from '../../support/ports.ts';
import { skipWithout, until, withoutProgram } from '../support.ts';

const BASE = 'localhost/simbatch-base:test';
const COORDINATOR = 'localhost/simbatch-coordinator:test';
const RUNNER = 'localhost/simbatch-runner:test';
const APPLETS = ['chown', 'dirname', 'id', 'ln', 'mkdir', 'readlink', 'rm', 'test', 'touch'];
const SIMULATION = `import { readFileSync, writeFileSync } from 'node:fs';
const { parameters } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
writeFileSync(process.env.SVC_OUTPUT_DIR + '/metadata.json', JSON.stringify({ y: 2 * parameters.x, user: process.getuid() }));
`;
const STUDY = `name: doubled
config:
  simulation: { name: doubled, version: '1', duration_minutes: 1 }
  monte_carlo: { runs: 3, sampling_method: monte_carlo, seed: 1 }
  dispersions: { x: { distribution: { type: uniform, min: 0, max: 1 } } }
  compute: { max_parallel_jobs: 0, job_timeout_seconds: 60, max_retries: 0 }
`;

describe('e2e/site/images', function () {
  this.timeout(1_800_000);
  let folder = '';
  let program = '';
  const podman = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: folder, timeout: 900_000 });
    if (status !== 0) throw new Error(`podman ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout.trim();
  };
  /** Options without which containers do not start in a sandbox, and images are not built there; and without a copy of all files for each layer. */
  const building = ['--layers=false', '--isolation', 'chroot', '--ulimit', 'nofile=1024:1024'];
  const here = ['--network', 'host', '--ulimit', 'host'];
  const names = {
    coordinator: 'simbatch-test-coordinator',
    runner: 'simbatch-test-runner',
    volume: 'simbatch-test-data',
  };

  before(function () {
    skipWithout(this, withoutProgram('podman', 'busybox', 'ldd', 'tar'));
    folder = mkdtempSync(join(tmpdir(), 'simbatch-images-'));
    chmodSync(folder, 0o755);
    try {
      program = podmanProgram(folder);
    } catch (error) {
      skipWithout(this, (error as Error).message);
    }
    importBase();
    const why = spawnSync(program, ['run', '--rm', ...here, BASE, '/bin/node', '--version'], { encoding: 'utf8' });
    skipWithout(this, why.status === 0 ? undefined : `containers cannot be started here: ${why.stderr}`);
  });
  after(() => {
    if (program === '') return;
    for (const name of [names.coordinator, names.runner]) spawnSync(program, ['rm', '--force', '--time', '0', name]);
    spawnSync(program, ['volume', 'rm', '--force', names.volume]);
    spawnSync(program, ['rmi', '--force', RUNNER, COORDINATOR, BASE]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Node, its libraries and busybox, in place of an image of a registry. */
  function importBase(): void {
    const root = join(folder, 'root');
    makeRoot(root);
    for (const it of APPLETS) symlinkSync('busybox', join(root, 'bin', it));
    mkdirSync(join(root, 'usr/bin'));
    symlinkSync('/bin/busybox', join(root, 'usr/bin/env'));
    copyFileSync(process.execPath, join(root, 'bin/node'));
    chmodSync(join(root, 'bin/node'), 0o755);
    // libgcc and libatomic are those of the native packages too.
    const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).matchAll(/(\/\S+\.so\S*) \(0x/g);
    for (const [, path = ''] of libraries) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      copyFileSync(path, join(root, path));
    }
    mkdirSync(join(root, 'app'));
    writeFileSync(join(root, 'app/sim.mjs'), SIMULATION);
    execFileSync('tar', ['-C', root, '-cf', join(folder, 'base.tar'), '.']);
    rmSync(root, { recursive: true });
    podman('import', '--quiet', join(folder, 'base.tar'), BASE);
  }

  function build(tag: string, dockerfile: string, context: string): void {
    const file = join(context, 'Dockerfile');
    copyFileSync(join(packageRoot, 'deploy/docker', dockerfile), file);
    podman('build', '--quiet', ...building, '--build-arg', `BASE=${BASE}`, '--tag', tag, '--file', file, context);
  }

  it('builds the coordinator from the installed package', () => {
    const context = join(folder, 'coordinator');
    installPackage(join(context, 'app/node_modules'));
    build(COORDINATOR, 'coordinator.Dockerfile', context);
  });

  it('builds the runner from the kit', async () => {
    const context = join(folder, 'runner');
    mkdirSync(context);
    await packRunner(context);
    build(RUNNER, 'runner.Dockerfile', context);
    expect(podman('run', '--rm', ...here, RUNNER, '--version')).to.match(/\d+\.\d+\.\d+/);
  });

  it('executes a study with both, as a user without rights, and keeps it on the volume', async () => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${String(port)}`;
    // In one container: where there is no overlay, each has a copy of all files.
    const commands = ['--version', 'token create --scope read,submit,operate', 'token create --scope runner'];
    const lines = ['--entrypoint', '/bin/sh', COORDINATOR, '-c', commands.map((it) => `simbatch ${it}`).join(' && ')];
    const [version = '', own = '', pool = ''] = podman(
      'run',
      '--rm',
      ...here,
      '-v',
      `${names.volume}:/data`,
      ...lines,
    ).split('\n');
    expect(version).to.match(/^\d+\.\d+\.\d+$/);
    const serve = (): void => {
      const options = ['-e', `SIMBATCH_PORT=${String(port)}`, '-v', `${names.volume}:/data`];
      podman(
        'run',
        '--detach',
        '--read-only',
        '--cap-drop',
        'ALL',
        '--name',
        names.coordinator,
        ...here,
        ...options,
        COORDINATOR,
      );
    };
    const isHealthy = async (): Promise<boolean> => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true;
    serve();
    await until(isHealthy, undefined, 120_000);
    expect(podman('exec', names.coordinator, 'id', '-u')).to.equal('10001');
    const variables = ['-e', `SIMBATCH_ENDPOINT=${url}`, '-e', `SIMBATCH_TOKEN=${pool}`];
    podman('run', '--detach', '--name', names.runner, ...here, ...variables, RUNNER, '--entrypoint', '/app/sim.mjs');
    writeFileSync(join(folder, 'study.yaml'), STUDY);
    const env = { SVC_ENDPOINT: url, SVC_TOKEN: own };
    const submitted = await simbatch(['submit', '--watch', join(folder, 'study.yaml')], env);
    expect(submitted.stdout, submitted.stderr).to.include('3 Completed');
    const table = await simbatch(['table', 'latest', '--output', 'json'], env);
    expect(table.stdout).to.include('10001');

    podman('stop', '--time', '60', names.coordinator);
    expect(podman('inspect', '--format', '{{.State.ExitCode}}', names.coordinator)).to.equal('0');
    podman('rm', names.coordinator);
    serve();
    await until(isHealthy, undefined, 120_000);
    expect((await simbatch(['status', 'latest'], env)).stdout).to.include('3 Completed');
    podman('stop', '--time', '60', names.runner);
    expect(podman('inspect', '--format', '{{.State.ExitCode}}', names.runner)).to.equal('0');
  });
});

/** The files that `npm install` of the packed file makes: its files, and the packages that it depends on. */
function installPackage(modules: string): void {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(packageRoot, name), 'utf8'));
  const { files } = read('package.json') as { files: string[] };
  for (const name of ['package.json', ...files].filter((it) => existsSync(join(packageRoot, it))))
    copy(join(packageRoot, name), join(modules, 'simbatch', name));
  const { packages } = read('package-lock.json') as { packages: Record<string, { dev?: boolean }> };
  for (const [path, { dev = false }] of Object.entries(packages)) {
    const from = join(packageRoot, path);
    if (path === '' || dev || !existsSync(from)) continue;
    copy(from, join(modules, path.slice('node_modules/'.length)));
  }
}

/** As links where both are in one file system: it takes seconds to write thousands of files. */
function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  const isThere = existsSync(to);
  const paths = [from, isThere ? dirname(to) : to];
  if (spawnSync('cp', ['-RLl', ...paths]).status === 0) return;
  if (!isThere) rmSync(to, { recursive: true, force: true });
  execFileSync('cp', ['-RLf', ...paths]);
}

/** The kit with Node of this build, as `simbatch kit --with-node` makes it; not the bundle of dist/, which may be older. */
async function packRunner(folder: string): Promise<void> {
  const bundle = mkdtempSync(join(tmpdir(), 'simbatch-bundle-'));
  const { bundleRunner } = (await import(pathToFileURL(join(packageRoot, 'bin/bundle.mjs')).href)) as {
    bundleRunner: (folder: string) => Promise<void>;
  };
  await bundleRunner(bundle);
  const { describeNode, packKit } = await import('../../../src/launcher/kit/kit.ts');
  const kit = await packKit({ bundle, node: await describeNode(process.execPath) });
  rmSync(bundle, { recursive: true });
  writeFileSync(join(folder, `${kit.folder}-${kit.platform}-node.tar.gz`), kit.archive);
}
