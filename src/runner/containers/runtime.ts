/** A container runtime, as the runner uses it: resolves an image, says the command of a run, ends a container. */
import type { RuntimeName } from '../config/values.ts';
import type { CgroupLimits } from '../processes/cgroups.ts';

/** An image that can be started now. */
export interface ResolvedImage {
  /** The argument that names exactly these bytes to the runtime: an id or a path, never a tag that may move. */
  reference: string;
  /** `sha256:...`; undefined: the runtime has none for this kind of image. */
  digest: string | undefined;
}

/** The container of one run. */
export interface ContainerRun {
  /** Unique on this machine, and the same for the same output directory: a successor of the runner finds it. */
  name: string;
  image: string;
  command: string;
  args: readonly string[];
  cwd: string;
  /** Absolute paths that the simulation reads, at the same places inside. */
  readable: readonly string[];
  /** Absolute paths that it writes, at the same places inside. */
  writable: readonly string[];
  /** All that the simulation gets. Names with the prefix SVC_ may be secrets, and are not put on a command line. */
  environment: Readonly<Record<string, string>>;
  limits: CgroupLimits;
  /** The GPUs that are its own; absent: the runner pins none. */
  devices?: readonly string[] | undefined;
  /** The operator's own arguments, e.g. `--gpus=all`. */
  options: readonly string[];
}

/** A command of the runtime, with its whole environment. */
export interface ContainerCommand {
  args: string[];
  env: Record<string, string>;
}

/** Containers whose processes are not descendants of the command that started them: they are ended by name. */
export interface DetachedContainers {
  /** Sends SIGKILL. Resolves when the runtime has answered, also when there is no such container. Never rejects. */
  kill(name: string): Promise<void>;
  /** Resolves to true while the container exists and runs. An unanswered question is a true: never guessed. */
  isRunning(name: string): Promise<boolean>;
}

export interface ContainerRuntime {
  readonly name: RuntimeName;
  /** The program, as an absolute path or a name in PATH. */
  readonly program: string;
  /** For the log, e.g. `podman version 4.3.1`. */
  readonly version: string;
  /** Which limits the runtime itself enforces; others are the cgroup's of the run, or reported as without effect. */
  readonly enforces: Readonly<Record<keyof CgroupLimits, boolean>>;
  /** Undefined: the processes of a container are descendants of its command and die with its group or cgroup. */
  readonly detached: DetachedContainers | undefined;
  /**
   * Finds the image, and fetches it when it is not here.
   * @throws Error with the runtime's own message.
   */
  resolve(image: string): Promise<ResolvedImage>;
  commandOf(run: ContainerRun): ContainerCommand;
  /** The runtime's own fault by exit code and last lines of stderr; undefined: the code is the simulation's. */
  faultOf(code: number, stderr: string): string | undefined;
}
