/** Podman and Docker: one command line, a container that is not a descendant of it, images with digests. */
import { output } from './programs.ts';
import type { Environment } from './programs.ts';
import type { ContainerCommand, ContainerRun, ContainerRuntime, ResolvedImage } from './runtime.ts';

const ANSWER_MS = 30_000;
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
export async function openPodman(program: string, env: Environment): Promise<ContainerRuntime> {
  const version = (await output(program, ['--version'], ANSWER_MS, env)).trim();
  const info = JSON.parse(await output(program, ['info', '--format', 'json'], ANSWER_MS, env)) as {
    host?: { cgroupControllers?: string[] };
  };
  const controllers = info.host?.cgroupControllers ?? [];
  const enforces = { memoryBytes: controllers.includes('memory'), cpuMilli: controllers.includes('cpu') };
  // A rootless container has the runner's user as its root, so the files of a run belong to the runner.
  return new OciRuntime(
    { name: 'podman', version, enforces, runOptions: ['--security-opt', 'label=disable'], atOnce: ['--time', '0'] },
    program,
    env,
  );
}

/** @throws Error when the program or its daemon does not answer. */
export async function openDocker(program: string, env: Environment): Promise<ContainerRuntime> {
  const version = (await output(program, ['--version'], ANSWER_MS, env)).trim();
  const info = JSON.parse(await output(program, ['info', '--format', '{{json .}}'], ANSWER_MS, env)) as {
    MemoryLimit?: boolean;
    CpuCfsQuota?: boolean;
  };
  const enforces = { memoryBytes: info.MemoryLimit === true, cpuMilli: info.CpuCfsQuota === true };
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  // Otherwise the files of a run would belong to root.
  const user = uid === undefined || gid === undefined ? [] : ['--user', `${String(uid)}:${String(gid)}`];
  return new OciRuntime({ name: 'docker', version, enforces, runOptions: user }, program, env);
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

class OciRuntime implements ContainerRuntime {
  readonly name: 'podman' | 'docker';
  readonly program: string;
  readonly version: string;
  readonly enforces: ContainerRuntime['enforces'];
  readonly #env: Environment;
  readonly #runOptions: readonly string[];
  readonly #atOnce: readonly string[];
  readonly detached = {
    kill: async (name: string): Promise<void> => {
      // Also a container that was created and not started yet.
      await output(this.program, ['rm', '--force', ...this.#atOnce, name], ANSWER_MS, this.#env).catch(() => '');
    },
    isRunning: async (name: string): Promise<boolean> => {
      try {
        const names = await output(
          this.program,
          ['ps', '--quiet', '--no-trunc', '--filter', `name=^${name}$`, '--filter', 'status=running'],
          ANSWER_MS,
          this.#env,
        );
        return names.trim() !== '';
      } catch {
        return true;
      }
    },
  };

  constructor({ name, version, enforces, runOptions, atOnce = [] }: OciOptions, program: string, env: Environment) {
    this.#env = env;
    this.name = name;
    this.program = program;
    this.version = version;
    this.enforces = enforces;
    this.#runOptions = runOptions;
    this.#atOnce = atOnce;
  }

  async resolve(image: string): Promise<ResolvedImage> {
    const inspect = (): Promise<string> => output(this.program, ['image', 'inspect', image], ANSWER_MS, this.#env);
    const present = await inspect().catch(() => undefined);
    if (present !== undefined) return this.#imageOf(image, present);
    await output(this.program, ['pull', '--quiet', image], PULL_MS, this.#env);
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
    const secrets = Object.entries(run.environment).filter(([name]) => name.startsWith('SVC_'));
    const others = Object.entries(run.environment).filter(([name]) => !name.startsWith('SVC_'));
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
        ...run.options,
        // The entrypoint of the image would come before the command of the simulation.
        '--entrypoint',
        run.command,
        run.image,
        ...run.args,
      ],
      env: { ...this.#env, ...Object.fromEntries(secrets) },
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
