/** The code of the engines of a runner: stated with registrations and claims, and looked at for each run. */
import { settlesWithin, type Clock } from '../../base/clock.ts';
import { isFunctions } from '../../domain/study/function-code.ts';
import type { CodeIdentity, RunnerEngine } from '../../contract/types.ts';
import { checkpointRoot, type RunnerConfig } from '../config/config.ts';
import type { Engine } from '../config/engines.ts';
import { imageEntrypoint } from '../config/image-entrypoint.ts';
import type { Containers } from '../containers/containers.ts';
import type { Log } from '../log.ts';
import type { Looked, LookTime } from './code-look.ts';
import { digestInImage, hexOfImage } from './digest.ts';
import { LookThread } from './look-thread.ts';

/** A claim does not wait longer for a look at files or at an image. */
const STATED_MS = 5_000;
/** The outcome of a run does not wait longer for the look after its end, in seconds; its slot is free meanwhile. */
const AFTER_END_SECS = 60;
/** Images whose code is stated, the last used. */
const MOST_IMAGES = 16;
/** Programs have loaded their code within this time after the creation of their process. */
const LOADING_MS = 10_000;
const LATE = `the look at the files of the entrypoint takes longer than ${String(STATED_MS / 1000)} s; it is repeated`;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const MINUTE_MS = 60_000;
/** So many changes within a minute are not made by a person: a program writes a file of the folder. */
const RESTLESS = 8;

export interface EngineCodesOptions {
  config: Pick<RunnerConfig, 'engines' | 'outputRoot' | 'checkpointDir'>;
  containers: Containers | undefined;
  clock: Clock;
  log: Log;
  /** Of the processes of git. */
  env: Readonly<Record<string, string>>;
}

/** The code of a run: what its start reports. */
export interface RunCode {
  identity: CodeIdentity;
  /** The digest of the image that must be started, in a container. */
  image?: string;
  /** When the files were looked at, in ms since the epoch; absent for a function and a file of an image. */
  lookedMs?: number;
}

/** Whether the code of a run changed while it ran: as long as it may have loaded the other version, or later; unknown where the files do not answer. */
export type CodeChange = 'none' | 'while loading' | 'later' | 'unknown';

/** Why the code of a run is not known. */
type Unknown = Exclude<Looked, { code: unknown }>;

/** The part of a plan that its code depends on. */
interface Planned {
  engine: Engine;
  /** Absent: it is executed on the machine itself. */
  container?: { image: string };
  /** The function of the study. */
  code?: { sha256: string };
}

export class EngineCodes {
  readonly #options: EngineCodesOptions;
  readonly #looks = new Map<string, LookThread>();
  /** By engine: when changes of its code were seen within the last minute, at most `RESTLESS`. Monotonic times, in ms. */
  readonly #changes = new Map<string, number[]>();
  /** Engine and image of the runs that were looked at, the last used at the end. */
  readonly #images = new Map<string, { engine: Engine; image: string }>();

  constructor(options: EngineCodesOptions) {
    this.#options = options;
    const { config, clock, env } = options;
    for (const { name, entrypoint, code } of config.engines) {
      if (imageEntrypoint(entrypoint) !== undefined || isFunctions(name)) continue;
      const look = new LookThread({
        entrypoint,
        globs: code,
        own: [config.outputRoot, checkpointRoot(config)],
        clock,
        env,
        onChange: (identity, files) => this.#noteChange(name, identity, files),
      });
      this.#looks.set(name, look);
    }
  }

  /**
   * The engines with their code, for a registration or a claim; by looks that begin after the call where `time` is `now`, on which the coordinator
   * relies in a claim after an answer without work. Never rejects.
   */
  async stated(time: LookTime = 'now'): Promise<RunnerEngine[]> {
    const engines = this.#options.config.engines.map((engine) => this.#stated(engine, time));
    const images = [...this.#images.values()].map(({ engine, image }) => this.#statedInImage(engine, image, time));
    return (await Promise.all([...engines, ...images])).flat();
  }

  /** The code that a run would execute now; undefined: not known. Never rejects. */
  async of(plan: Planned, time: LookTime = 'now'): Promise<RunCode | undefined> {
    const found = await this.#of(plan, time);
    return 'identity' in found ? found : undefined;
  }

  /**
   * True when a run would execute another code than `reported`. False where that cannot be found out, and where the files change all the time, so that
   * no run would ever start: `changeSince` finds both. Never rejects.
   */
  async isOther(plan: Planned, reported: RunCode, time: LookTime): Promise<boolean> {
    const now = await this.of(plan, time);
    return now !== undefined && now.identity.digest !== reported.identity.digest && !this.#isRestless(plan.engine.name);
  }

  #isRestless = (engine: string): boolean => this.#lastMinute(engine).length >= RESTLESS;

  #lastMinute(engine: string): number[] {
    const sinceMs = this.#options.clock.monotonicMs() - MINUTE_MS;
    return (this.#changes.get(engine) ?? []).filter((it) => it > sinceMs);
  }

  #noteChange(engine: string, { digest }: CodeIdentity, files: readonly string[]): void {
    const { clock, log } = this.#options;
    const wasRestless = this.#isRestless(engine);
    const changes = [...this.#lastMinute(engine), clock.monotonicMs()].slice(-RESTLESS);
    this.#changes.set(engine, changes);
    // The message itself may be what is written to the file.
    if (wasRestless) return;
    const which = files.length === 0 ? 'a file was added or removed' : files.join(', ');
    if (changes.length < RESTLESS)
      return log.info(`engine ${engine}: its code has changed (${which}) and is now ${digest.slice(0, 12)}`);
    log.warn(
      `engine ${engine}: its code changes all the time (${which}): runs are executed, and the code of their results is not known; ` +
        `keep files that programs write out of its folder, let git ignore them, or name its code files with --code`,
    );
  }

  async #of({ engine, container, code }: Planned, time: LookTime, patienceSecs?: number): Promise<RunCode | Unknown> {
    if (code !== undefined) return { identity: { kind: 'function', digest: code.sha256 } };
    const { containers } = this.#options;
    if (containers === undefined || container === undefined) {
      const looked = await this.#look(engine, time, patienceSecs);
      return 'code' in looked ? { identity: looked.code, lookedMs: looked.lookedMs } : looked;
    }
    const { image } = container;
    const key = `${engine.name} ${image}`;
    this.#images.delete(key);
    this.#images.set(key, { engine, image });
    const [oldest] = this.#images.keys();
    if (this.#images.size > MOST_IMAGES && oldest !== undefined) this.#images.delete(oldest);
    return await this.#inImage(containers, { engine, image }, time, patienceSecs);
  }

  /** How the code of a run has changed since its process was created at `sinceMs`, in ms since the epoch. Never rejects. */
  async changeSince(plan: Planned, reported: RunCode, sinceMs: number): Promise<CodeChange> {
    if (plan.code !== undefined) return 'none';
    const found = await this.#of(plan, 'now', AFTER_END_SECS);
    if ('late' in found) return 'unknown';
    const now = 'identity' in found ? found : undefined;
    // A container keeps its image while the tag moves.
    const isChanged = now?.identity.digest !== reported.identity.digest && now?.image === reported.image;
    // The look that its start reported may be older than its process.
    const changedMs = this.#looks.get(plan.engine.name)?.changedMs(Math.min(reported.lookedMs ?? sinceMs, sinceMs));
    if (!isChanged && changedMs === undefined) return 'none';
    return (changedMs ?? sinceMs) <= sinceMs + LOADING_MS ? 'while loading' : 'later';
  }

  async #inImage(
    containers: Containers,
    { engine, image }: { engine: Engine; image: string },
    time: LookTime,
    patienceSecs?: number,
  ): Promise<RunCode | Unknown> {
    const resolved = await containers.resolve(image);
    if (resolved instanceof Error) return { fault: resolved.message };
    if (resolved.digest === undefined || !DIGEST.test(resolved.digest)) return { fault: 'the image has no digest' };
    const { digest } = resolved;
    if (imageEntrypoint(engine.entrypoint) !== undefined) {
      return { identity: { kind: 'image', digest: hexOfImage(digest) }, image: digest };
    }
    const looked = await this.#look(engine, time, patienceSecs);
    if (!('code' in looked)) return looked;
    const own = { ...looked.code, digest: digestInImage(looked.code.digest, digest), image: digest };
    return { identity: own, image: digest, lookedMs: looked.lookedMs };
  }

  async #look({ name, entrypoint }: Engine, time: LookTime, patienceSecs?: number): Promise<Looked> {
    const look = this.#looks.get(name);
    if (look !== undefined) return await look.look(time, patienceSecs);
    const inImage = imageEntrypoint(entrypoint) !== undefined;
    return { fault: inImage ? 'it is in the image that a study names' : 'it comes with the study' };
  }

  async #stated(engine: Engine, time: LookTime): Promise<RunnerEngine> {
    const { name } = engine;
    // A thread that is silent does not hold each claim again.
    const isSilent = (this.#looks.get(name)?.silentMs ?? 0) > STATED_MS;
    const looked = isSilent ? undefined : await this.#inTime(this.#look(engine, time));
    if (looked === undefined) return { name, unknown: LATE };
    return 'code' in looked ? { name, code: looked.code } : { name, unknown: looked.fault };
  }

  /** Nothing while the image cannot be looked at: the start of a run does so. */
  async #statedInImage(engine: Engine, image: string, time: LookTime): Promise<RunnerEngine[]> {
    const { containers } = this.#options;
    if (containers === undefined) return [];
    const code = await this.#inTime(this.#inImage(containers, { engine, image }, time));
    return code === undefined || !('identity' in code) ? [] : [{ name: engine.name, image, code: code.identity }];
  }

  async #inTime<T>(look: Promise<T>): Promise<T | undefined> {
    return (await settlesWithin(this.#options.clock, STATED_MS, look)) ? await look : undefined;
  }
}
