/** The containers of a runner: which images may be started, each resolved once, and a launcher for each run. */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { matchesAny } from '../../domain/runner-settings.ts';
import { imageEntrypoint } from '../config/image-entrypoint.ts';
import { commandOf } from '../launch/engine.ts';
import type { Engine } from '../config/engines.ts';
import type { CgroupLimits } from '../processes/cgroups.ts';
import type { Log } from '../log.ts';
import type { Launcher } from '../launch/launcher.ts';
import { oneLine } from '../system-error.ts';
import { ContainerLauncher } from './container-launcher.ts';
import type { ContainerRuntime, ResolvedImage } from './runtime.ts';

/** Less than the time within which the coordinator expects the start of a claimed run. */
const PREPARE_MS = 30_000;
/** How long an image counts as found; then the runtime is asked again, since images are removed and rebuilt. */
const RESOLVED_MS = 60_000;

/** The container that a study names for its runs. */
export interface ContainerWish {
  image: string;
  /** `compute.container.environment`. */
  environment: Readonly<Record<string, string>>;
  limits: CgroupLimits;
}

/** The paths of a run that its container needs. */
export interface RunDirectories {
  directory: string;
  runConfigPath: string;
  checkpointDirectory?: string;
  /** The GPUs that are its own. */
  devices?: readonly string[] | undefined;
}

export interface ContainersOptions {
  runtime: ContainerRuntime;
  /** Patterns of images that studies may name; `*` at the end for a prefix. */
  images: readonly string[];
  /** The operator's further arguments of each start. */
  options: readonly string[];
  /** The environment that simulations inherit. */
  env: Readonly<Record<string, string>>;
  workingDirectory: string;
  clock: Clock;
  log: Log;
}

/** Variables of the runner that are about the work of a machine, and not about its files and programs. */
const INHERITED_INSIDE = [
  'TZ',
  'LANG',
  'LANGUAGE',
  'LC_*',
  'OMP_*',
  'MKL_*',
  'OPENBLAS_*',
  'NUMEXPR_*',
  'NUMBA_*',
  'CUDA_VISIBLE_DEVICES',
];

export class Containers {
  readonly #options: ContainersOptions;
  readonly #images = new Map<string, { sinceMs: number; resolved: Promise<ResolvedImage | Error> }>();

  constructor(options: ContainersOptions) {
    this.#options = options;
  }

  get runtime(): ContainerRuntime {
    return this.#options.runtime;
  }

  /** Why a run with this image is refused, with the remedy; undefined when it is not. */
  refusalOf(image: string): string | undefined {
    if (image.startsWith('-')) return `container.image ${JSON.stringify(image)} begins with "-"; name an image`;
    if (matchesAny(image, this.#options.images)) return undefined;
    return `container.image ${JSON.stringify(image)}: this runner does not allow the image; have the operator of the runner add it to container_images`;
  }

  /** Resolves when the image is here, or could not be fetched, or `PREPARE_MS` are over. Never rejects. */
  async prepare(image: string): Promise<void> {
    const stop = new AbortController();
    await Promise.race([this.resolve(image), sleep(this.#options.clock, PREPARE_MS, stop.signal)]);
    stop.abort();
  }

  /** The image as it is now, or why there is none. Never rejects. */
  async resolve(image: string): Promise<ResolvedImage | Error> {
    const { clock, runtime, log } = this.#options;
    const known = this.#images.get(image);
    if (known !== undefined && clock.monotonicMs() - known.sinceMs < RESOLVED_MS) return await known.resolved;
    const entry = {
      sinceMs: clock.monotonicMs(),
      resolved: runtime.resolve(image).catch((error: unknown) => new Error(oneLine(error))),
    };
    this.#images.set(image, entry);
    const resolved = await entry.resolved;
    // A fault is not kept for the next run; the age of an image counts from its answer.
    if (resolved instanceof Error) this.#images.delete(image);
    else {
      entry.sinceMs = clock.monotonicMs();
      log.debug(`image ${image} is ${resolved.digest ?? resolved.reference}`);
    }
    return resolved;
  }

  /** The launcher of a run with the files that it needs. */
  launcherOf(engine: Engine, wish: ContainerWish, files: RunDirectories): Launcher {
    const { directory, runConfigPath, checkpointDirectory, devices } = files;
    const { runtime, options, workingDirectory, env, clock } = this.#options;
    const inside = imageEntrypoint(engine.entrypoint);
    const inherited = Object.entries(env).filter(([name]) => matchesAny(name, INHERITED_INSIDE));
    return new ContainerLauncher({
      runtime,
      resolve: () => this.resolve(wish.image),
      image: wish.image,
      name: containerName(directory),
      // Interpreters are those of the image.
      ...commandOf(inside ?? engine.entrypoint, 'python3', 'node'),
      readable: [
        ...new Set([workingDirectory, ...(inside === undefined ? [dirname(engine.entrypoint)] : []), runConfigPath]),
      ],
      writable: [directory, ...(checkpointDirectory === undefined ? [] : [checkpointDirectory])],
      environment: { ...Object.fromEntries(inherited), ...wish.environment },
      limits: wish.limits,
      devices,
      options,
      clock,
    });
  }

  /** Ends the container that a former runner process may have left of an attempt. Never rejects. */
  async end(directory: string): Promise<void> {
    await this.#options.runtime.detached?.kill(containerName(directory));
  }
}

/** The name of the container of an attempt, from its output directory. */
export function containerName(directory: string): string {
  return `simbatch-${createHash('sha256').update(directory).digest('hex').slice(0, 24)}`;
}
