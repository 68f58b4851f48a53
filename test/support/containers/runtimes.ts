/** Container runtimes for tests: stand-ins everywhere, and the real ones where this machine can start containers. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { RuntimeClient } from '../../../src/runner/containers/runtime-client.ts';
import { RUNTIMES } from '../../../src/runner/containers/open.ts';
import type { RuntimeName } from '../../../src/runner/config/values.ts';
import type { ContainerRuntime } from '../../../src/runner/containers/runtime.ts';

const SOURCES = join(packageRoot, 'test', 'support', 'containers');
export const SIMULATION = join(SOURCES, 'simulation.sh');
const USER = 'simbatch-containers';
const APPLETS = ['sh', 'cat', 'echo', 'env', 'grep', 'ls', 'pwd', 'sed', 'sleep', 'sort', 'true', 'nc'];

export interface RuntimeOnTrial {
  title: string;
  runtime: ContainerRuntime;
  /** The name of an image that is here, with the simulation at `/simulation.sh`. */
  image: string;
  /** Whether the image has files of its own: a stand-in executes on this machine. */
  isReal: boolean;
  /** Names of the containers that exist. */
  containers: () => string[];
  /** The search path on which a runner finds the program. */
  path?: string;
  /** Makes another image of the same files and moves the name to it; only where that is possible. */
  moveTag?: () => void;
  close: () => void;
}

/** A stand-in for a runtime. */
export async function stub(name: Exclude<RuntimeName, 'charliecloud'>): Promise<RuntimeOnTrial & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-stub-'));
  process.env['STUB_DIR'] = folder;
  const program = join(SOURCES, name === 'apptainer' ? 'stub-apptainer.mjs' : 'stub-oci.mjs');
  const image = name === 'apptainer' ? join(folder, 'here.sif') : 'here:1';
  writeFileSync(join(folder, 'here.sif'), 'an image');
  return {
    title: `${name}, a stand-in`,
    runtime: await RUNTIMES[name].open(new RuntimeClient(program, process.env, systemClock), folder),
    image,
    isReal: false,
    containers: () => [],
    folder,
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * The real runtime with an image of a shell; a text says why this machine starts no containers.
 * @param files further files of the image: their paths in it, and where they are here.
 * @throws Error when every test is required and a program is not installed.
 */
export async function real(
  name: 'podman' | 'charliecloud',
  files: Readonly<Record<string, string>> = {},
): Promise<RuntimeOnTrial | string> {
  const missing = [name === 'podman' ? 'podman' : 'ch-run', 'busybox'].filter((it) => !isProgram(it));
  if (missing.length > 0) {
    const why = `${missing.join(' and ')} is not installed`;
    if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error(why);
    return why;
  }
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-containers-'));
  chmodSync(folder, 0o755);
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  const root = join(folder, 'root');
  makeRoot(root);
  for (const [path, from] of Object.entries(files)) copyFileSync(from, join(root, path));
  try {
    return name === 'podman' ? await realPodman(folder, root, close) : await realCharliecloud(folder, root, close);
  } catch (error) {
    close();
    return `containers cannot be started here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function realPodman(folder: string, root: string, close: () => void): Promise<RuntimeOnTrial> {
  const program = podmanProgram(folder);
  const podman = (...args: string[]): string =>
    execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  let version = 1;
  const archive = join(folder, 'root.tar');
  execFileSync('tar', ['-C', root, '-cf', archive, '.']);
  const image = 'simbatch-test:1';
  podman('import', '--quiet', archive, image);
  const options = ['--rm', '--network', 'host', '--ulimit', 'host'];
  podman('run', ...options, image, '/bin/true');
  return {
    title: 'podman',
    runtime: await RUNTIMES.podman.open(new RuntimeClient(program, process.env, systemClock), folder),
    image: `localhost/${image}`,
    isReal: true,
    path: `${program === 'podman' ? '' : `${folder}:`}${process.env['PATH'] ?? ''}`,
    moveTag: () => podman('import', '--quiet', '--change', `LABEL version=${String(++version)}`, archive, image),
    containers: () => podman('ps', '--all', '--format', '{{.Names}}').split('\n').filter(Boolean),
    close,
  };
}

/** The program of podman for the user of this process; `folder` is on no other search path. */
export const podmanProgram = (folder: string): string => (process.getuid?.() === 0 ? asOtherUser(folder) : 'podman');

/** Podman refuses to work as root in a sandbox: a program that starts it as another user. */
function asOtherUser(folder: string): string {
  if (spawnSync('id', [USER]).status !== 0) {
    if (process.env['SIMBATCH_REQUIRE_ALL'] !== '1') throw new Error('podman needs a user that is not root');
    execFileSync('useradd', ['--create-home', USER]);
  }
  const runtimeFolder = join(folder, 'xdg');
  mkdirSync(runtimeFolder, { mode: 0o700 });
  execFileSync('chown', [USER, runtimeFolder]);
  const program = join(folder, 'podman');
  const asUser = `setpriv --reuid=${USER} --regid=${USER} --init-groups`;
  const env = `env HOME=/home/${USER} XDG_RUNTIME_DIR=${runtimeFolder}`;
  const engine = `${isProgram('crun') ? '' : '--runtime runc '}--cgroup-manager cgroupfs`;
  const podman = execFileSync('sh', ['-c', 'command -v podman'], { encoding: 'utf8' }).trim();
  writeFileSync(program, `#!/bin/sh\nexec ${asUser} ${env} ${podman} ${engine} "$@"\n`, { mode: 0o755 });
  return program;
}

async function realCharliecloud(folder: string, root: string, close: () => void): Promise<RuntimeOnTrial> {
  const runtime = await RUNTIMES.charliecloud.open(new RuntimeClient('ch-run', process.env, systemClock), folder);
  execFileSync('ch-run', [root, '--', '/bin/true'], { env: { ...process.env, USER: 'simbatch' }, stdio: 'pipe' });
  return { title: 'charliecloud', runtime, image: root, isReal: true, containers: () => [], close };
}

/** The files of an image: a shell, the simulation, and places for mounts. */
export function makeRoot(root: string): void {
  for (const it of ['bin', 'dev', 'etc', 'home', 'mnt', 'proc', 'sys', 'tmp', 'usr', 'work'])
    mkdirSync(join(root, it), { recursive: true });
  for (const it of ['passwd', 'group', 'hosts', 'resolv.conf']) writeFileSync(join(root, 'etc', it), '');
  const busybox = execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim();
  copyFileSync(busybox, join(root, 'bin', 'busybox'));
  for (const it of APPLETS) symlinkSync('busybox', join(root, 'bin', it));
  copyFileSync(SIMULATION, join(root, 'simulation.sh'));
}

const isProgram = (name: string): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
