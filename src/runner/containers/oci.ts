/** Podman and Docker: one command line, a container that is not a descendant of it, images with digests. */
import { isOwnVariable } from '../../base/text/variables.ts';
import { deviceVariables } from '../processes/devices.ts';
import type { RuntimeClient } from './runtime-client.ts';
import type { ContainerCommand, ContainerRun, ContainerRuntime, ResolvedImage } from './runtime.ts';

/** Fetching an image of some gigabytes over a slow line. */
const PULL_MS = 30 * 60_000;
/** Exit code of `run` when the runtime itself failed. */
const RUNTIME_FAILED = 125;
const MILLI = 1000;

interface Inspected {
  Id?: unknown;
  Digest?: unknown;
  RepoDigests?: unknown;
}

/** @throws Error when the program does not answer. */
export async function openPodman(client: RuntimeClient): Promise<ContainerRuntime> {
  const version = await client.version();
  const info = JSON.parse(await client.output(['info', '--format', 'json'])) as {
    host?: { cgroupControllers?: string[] };
  };
  const controllers = info.host?.cgroupControllers ?? [];
  const enforces = { memoryBytes: controllers.includes('memory'), cpuMilli: controllers.includes('cpu') };
  // A rootless container has the runner's user as its root, so the files of a run belong to the runner.
  return new OciRuntime(
    { name: 'podman', version, enforces, runOptions: ['--security-opt', 'label=disable'], atOnce: ['--time', '0'] },
    client,
  );
}

/** @throws Error when the program or its daemon does not answer. */
export async function openDocker(client: RuntimeClient): Promise<ContainerRuntime> {
  const version = await client.version();
  const info = JSON.parse(await client.output(['info', '--format', '{{json .}}'])) as {
    MemoryLimit?: boolean;
    CpuCfsQuota?: boolean;
  };
  const enforces = { memoryBytes: info.MemoryLimit === true, cpuMilli: info.CpuCfsQuota === true };
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  // The container runs as this user, or the files of a run would belong to root.
  const user = uid === undefined || gid === undefined ? [] : ['--user', `${String(uid)}:${String(gid)}`];
  return new OciRuntime({ name: 'docker', version, enforces, runOptions: user }, client);
}

interface OciOptions {
  name: 'podman' | 'docker';
  version: string;
  enforces: ContainerRuntime['enforces'];
  /** Arguments of `run` that only one of the two needs. */
  runOptions: readonly string[];
  /** Arguments of `rm`: no time for a container to end by itself. */
  atOnce?: readonly string[];
}

/** The flags that give a container its GPUs; none where the operator's own options give any. */
function deviceFlags(name: 'podman' | 'docker', { devices = [], options }: ContainerRun): string[] {
  if (devices.length === 0 || options.some((it) => /^--(?:gpus|device)(?:=|$)/.test(it))) return [];
  // Docker reads the value as CSV.
  if (name === 'docker') return ['--gpus', `"device=${devices.join(',')}"`];
  return devices.flatMap((it) => ['--device', `nvidia.com/gpu=${it}`]);
}

/** Inside the container the devices that it was given are counted from 0; those of the operator's options are all there. */
function insideVariables(name: 'podman' | 'docker', run: ContainerRun): Readonly<Record<string, string>> {
  if (deviceFlags(name, run).length === 0) return run.environment;
  return {
    ...run.environment,
    ...deviceVariables((run.devices ?? []).map((id, at) => (/^\d+$/.test(id) ? String(at) : id))),
  };
}

class OciRuntime implements ContainerRuntime {
  readonly name: 'podman' | 'docker';
  readonly program: string;
  readonly version: string;
  readonly enforces: ContainerRuntime['enforces'];
  readonly #client: RuntimeClient;
  readonly #runOptions: readonly string[];
  readonly #atOnce: readonly string[];
  readonly detached = {
    kill: async (name: string): Promise<void> => {
      // `rm --force` also removes a container that was created and not started yet.
      await this.#client.output(['rm', '--force', ...this.#atOnce, name]).catch(() => '');
    },
    isRunning: async (name: string): Promise<boolean> => {
      try {
        const filters = ['--filter', `name=^${name}$`, '--filter', 'status=running'];
        return (await this.#client.output(['ps', '--quiet', '--no-trunc', ...filters])).trim() !== '';
      } catch {
        return true;
      }
    },
  };

  constructor({ name, version, enforces, runOptions, atOnce = [] }: OciOptions, client: RuntimeClient) {
    this.#client = client;
    this.program = client.program;
    this.name = name;
    this.version = version;
    this.enforces = enforces;
    this.#runOptions = runOptions;
    this.#atOnce = atOnce;
  }

  async resolve(image: string): Promise<ResolvedImage> {
    const inspect = (): Promise<string> => this.#client.output(['image', 'inspect', image]);
    const present = await inspect().catch(() => undefined);
    if (present !== undefined) return this.#imageOf(image, present);
    await this.#client.output(['pull', '--quiet', image], PULL_MS);
    return this.#imageOf(image, await inspect());
  }

  #imageOf(image: string, inspected: string): ResolvedImage {
    const [{ Id, Digest, RepoDigests } = {}] = JSON.parse(inspected) as Inspected[];
    if (typeof Id !== 'string' || Id === '') throw new Error(`${this.name} names no id of the image ${image}`);
    const [ofRepository] = Array.isArray(RepoDigests) ? (RepoDigests as unknown[]) : [];
    const id = Id.startsWith('sha256:') ? Id : `sha256:${Id}`;
    const digest =
      typeof Digest === 'string' && Digest !== ''
        ? Digest
        : typeof ofRepository === 'string'
          ? ofRepository.slice(ofRepository.lastIndexOf('@') + 1)
          : id;
    return { reference: id, digest };
  }

  commandOf(run: ContainerRun): ContainerCommand {
    const { memoryBytes, cpuMilli } = run.limits;
    const environment = insideVariables(this.name, run);
    const secrets = Object.entries(environment).filter(([name]) => isOwnVariable(name));
    const others = Object.entries(environment).filter(([name]) => !isOwnVariable(name));
    return {
      args: [
        'run',
        '--rm',
        '--name',
        run.name,
        // Telemetry is received on the loopback of this machine.
        '--network',
        'host',
        '--pull',
        'never',
        '--log-driver',
        'none',
        '--security-opt',
        'no-new-privileges',
        ...this.#runOptions,
        ...(memoryBytes !== undefined && this.enforces.memoryBytes ? ['--memory', String(memoryBytes)] : []),
        ...(cpuMilli !== undefined && this.enforces.cpuMilli ? ['--cpus', String(cpuMilli / MILLI)] : []),
        ...run.readable.flatMap((path) => ['--mount', mountOf(path, true)]),
        ...run.writable.flatMap((path) => ['--mount', mountOf(path, false)]),
        '--workdir',
        run.cwd,
        ...secrets.flatMap(([name]) => ['--env', name]),
        ...others.flatMap(([name, value]) => ['--env', `${name}=${value}`]),
        ...deviceFlags(this.name, run),
        ...run.options,
        // The entrypoint of the image would come before the command of the simulation.
        '--entrypoint',
        run.command,
        run.image,
        ...run.args,
      ],
      env: { ...this.#client.env, ...Object.fromEntries(secrets) },
    };
  }

  faultOf(code: number, stderr: string): string | undefined {
    if (code !== RUNTIME_FAILED) return undefined;
    const [line] = /^(?:Error:|docker:|podman:).*$/m.exec(stderr) ?? [];
    return line === undefined ? undefined : `${this.name} could not start the container: ${line}`;
  }
}

/** A bind mount; `--volume` would split a path at a colon. */
function mountOf(path: string, isReadOnly: boolean): string {
  // The value of --mount is a line of CSV.
  const field = (text: string): string => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return ['type=bind', field(`src=${path}`), field(`dst=${path}`), ...(isReadOnly ? ['ro=true'] : [])].join(',');
}
