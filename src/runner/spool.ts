/**
 * What this runner must not forget: the attempts it executes (so that a successor finds their processes) and the outcomes
 * the coordinator has not acknowledged. A small LevelDB per runner id; its lock keeps a second process with this id out,
 * and having got it proves that any former process is dead.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Level } from 'level';
import { SimbatchError } from '../domain/errors.ts';
import type { AttemptRef, Report } from '../domain/types.ts';

/** An outcome as it is reported. */
export type Outcome = Exclude<Report, { type: 'start' }>;

/** One attempt the coordinator believes to be ours. */
export interface SpooledAttempt extends AttemptRef {
  /** The attempt's output directory: its processes carry it in their environment. */
  directory: string;
  /** The leader of its process group, once there is one. */
  pid?: number;
  /** When that process started, as `processStart` tells it; tells a recycled pid from ours. */
  pidStart?: string;
  /** Set once the attempt is over and not yet acknowledged. */
  outcome?: Outcome;
}

interface InstanceFile {
  pid: number;
  instance: string;
  signed_off: boolean;
}

const FORMAT = 'simbatch-runner-1';

export class Spool {
  readonly directory: string;
  /** The instance of the process that was here before and did not sign off. */
  readonly replaces: string | undefined;
  readonly #level: Level<string, SpooledAttempt>;
  readonly #instance: InstanceFile;

  private constructor(directory: string, level: Level<string, SpooledAttempt>, own: InstanceFile, replaces?: string) {
    this.directory = directory;
    this.replaces = replaces;
    this.#level = level;
    this.#instance = own;
  }

  /**
   * Opens `<output_root>/.simbatch-runner/<runner_id>/`.
   * @throws SimbatchError `store-locked` when a process with this id lives on this machine, `store-unusable` when the
   * directory cannot be written.
   */
  static async open(outputRoot: string, runnerId: string, own: { pid: number; instance: string }): Promise<Spool> {
    const directory = join(outputRoot, '.simbatch-runner', runnerId);
    const level = new Level<string, SpooledAttempt>(join(directory, 'spool'), { valueEncoding: 'json' });
    try {
      mkdirSync(directory, { recursive: true });
      await level.open();
    } catch (error) {
      throw unusable(error, directory, runnerId);
    }
    const former = readInstance(directory);
    const spool = new Spool(
      directory,
      level,
      { ...own, signed_off: false },
      former?.signed_off === false ? former.instance : undefined,
    );
    spool.#writeInstance();
    return spool;
  }

  /** Every attempt left here by a former process, in no particular order. */
  async leftovers(): Promise<SpooledAttempt[]> {
    const all: SpooledAttempt[] = [];
    for await (const record of this.#level.values()) all.push(record);
    return all;
  }

  /**
   * The attempt is about to have processes, or has them. Survives the death of this process, which is all that is asked:
   * the machine's own death takes the processes along.
   */
  async running(attempt: SpooledAttempt): Promise<void> {
    await this.#level.put(key(attempt), attempt);
  }

  /** On disk when it resolves: from here on the outcome reaches the coordinator whatever happens to this process. */
  async ended(attempt: SpooledAttempt, outcome: Outcome): Promise<void> {
    await this.#level.put(key(attempt), { ...attempt, outcome }, { sync: true });
  }

  /** The coordinator has it, or does not want it. Forgetting this by a crash costs one report that is refused or repeated. */
  async settled(attempt: AttemptRef): Promise<void> {
    await this.#level.del(key(attempt));
  }

  /** The coordinator knows that this process is gone; the next one has nobody to replace. */
  signedOff(): void {
    this.#instance.signed_off = true;
    this.#writeInstance();
  }

  async close(): Promise<void> {
    await this.#level.close();
  }

  #writeInstance(): void {
    writeFileSync(join(this.directory, 'process.json'), `${JSON.stringify({ format: FORMAT, ...this.#instance })}\n`);
  }
}

function key(attempt: AttemptRef): string {
  return `${attempt.job_id}/${String(attempt.attempt)}`;
}

function readInstance(directory: string): InstanceFile | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(join(directory, 'process.json'), 'utf8'));
    if (typeof read !== 'object' || read === null || !('instance' in read) || !('signed_off' in read)) return undefined;
    const { instance, signed_off } = read;
    return typeof instance === 'string' ? { pid: 0, instance, signed_off: signed_off === true } : undefined;
  } catch {
    // None yet, or torn by a crash of the machine: then the former instance is left to its lease.
    return undefined;
  }
}

function unusable(error: unknown, directory: string, runnerId: string): SimbatchError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && (cause as NodeJS.ErrnoException).code === 'LEVEL_LOCKED') {
    const message = `a runner with the id ${runnerId} is already running here (${directory}); give this one another --runner-id`;
    return new SimbatchError('store-locked', message, { cause: error });
  }
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the runner cannot keep its state in ${directory}: ${why}; choose another --output-root`;
  return new SimbatchError('store-unusable', message, { cause: error });
}
