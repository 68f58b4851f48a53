/** The Slurm engine: one allocation is one job of one task, submitted by sbatch, listed by one squeue, ended by scancel. */
import { join } from 'node:path';
import { packageRoot } from '../../../base/package.ts';
import {
  EngineRefused,
  EngineUnreachable,
  oneLine,
  errorLine,
  type AllocationRequest,
  type Cleaned,
  type CheckResult,
  type EndedAllocation,
  type Engine,
  type EngineAllocation,
  type EngineContext,
  type EngineModule,
  type EngineView,
  type Submitted,
} from '../../engine.ts';
import type { QueueConfig } from '../../settings.ts';
import { isOwnVariable } from '../../../base/text/variables.ts';
import { ProgramFailed, runProgram, type ProgramResult } from '../../../base/programs.ts';
import { readQueue, SQUEUE_FORMAT, SQUEUE_TIMES } from './queue-list.ts';
import { removeLogs } from './logs.ts';
import { batchScript, logDirectory, sbatchArguments, type Places } from './script.ts';
import { sectionFaults, SlurmSection } from './section.ts';

/** sbatch is killed after this time, also when the launcher has crashed meanwhile. */
const SBATCH_SECS = 30;
const CALL_MS = 45_000;
/** The time in which sbatch ends, and as much for a request that the controller has already received. */
const SETTLE_MS = 90_000;

/** Errors of the controller and of the way to it, after which the same request may be accepted. */
const TRANSIENT =
  /unable to contact slurm controller|socket timed out|not responding|temporarily unable|zero bytes were transmitted|connection (refused|timed out|reset)|unable to connect|resource temporarily unavailable|unexpected message received|insane message|authentication (error|failure|credential)|munge|slurm_load_jobs error|step creation temporarily/i;

export const slurmEngine: EngineModule<typeof SlurmSection> = {
  name: 'slurm',
  section: SlurmSection,
  faults: ({ section }) => sectionFaults(section),
  // Namespaces, hosts and images of a study have no meaning for a Slurm job itself.
  mismatch: () => undefined,
  open: (context) => new SlurmEngine(context),
};

class SlurmEngine implements Engine {
  readonly settleMs = SETTLE_MS;
  readonly #context: EngineContext<SlurmSection>;
  readonly #places: Places;

  constructor(context: EngineContext<SlurmSection>) {
    this.#context = context;
    this.#places = {
      launcher: context.launcher,
      baseDirectory: context.baseDirectory,
      ownProgram: [process.execPath, join(packageRoot, 'dist', 'bin', 'simbatch.js'), 'runner'],
    };
  }

  async list(): Promise<EngineView> {
    try {
      const command = ['squeue', '--me', '--noheader', '--states=all', `--format=${SQUEUE_FORMAT}`] as const;
      const result = await this.#run([...command], { SLURM_TIME_FORMAT: SQUEUE_TIMES });
      if (result.code !== 0) throw new EngineUnreachable(`squeue failed: ${said(result)}`);
      const limited = this.#context.queues.filter((it) => it.size.memoryBytes > 0).map((it) => it.name);
      return { allocations: readQueue(this.#context.launcher, result.stdout, new Set(limited)), silent: [] };
    } catch (error) {
      const why = errorLine(error);
      return { allocations: [], silent: this.#context.queues.map(({ name }) => ({ queue: name, why })) };
    }
  }

  async submit(request: AllocationRequest): Promise<Submitted> {
    const result = await this.#sbatch(request, []);
    const handle = /^(\d+)(?:;.*)?$/m.exec(result.stdout)?.[1];
    if (result.code === 0 && handle !== undefined) return { handle };
    throw sbatchError(result);
  }

  async stop(allocations: readonly EngineAllocation[], now: boolean): Promise<void> {
    const handles = allocations.map((it) => it.handle);
    if (handles.length === 0) return;
    if (now) {
      await this.#scancel(handles);
      return;
    }
    // A plain scancel of a running job becomes SIGKILL after Slurm's KillWait, however long the runner's grace time is.
    await this.#scancel(['--state=PENDING', ...handles]);
    await this.#scancel(['--state=RUNNING', '--batch', '--signal=TERM', ...handles]);
  }

  async clean(ended: readonly EndedAllocation[]): Promise<Cleaned> {
    const cleaned: Cleaned = { count: 0, bytes: 0, kept: [] };
    for (const queue of this.#context.queues) {
      const ids = new Set(ended.filter((it) => it.queue === queue.name).map((it) => it.id));
      if (ids.size === 0) continue;
      const found = await removeLogs(logDirectory(this.#places, queue), queue.name, ids);
      cleaned.count += found.count;
      cleaned.bytes += found.bytes;
      cleaned.kept = [...cleaned.kept, ...found.kept];
      if (found.why !== undefined) cleaned.why = found.why;
    }
    return cleaned;
  }

  async check(requests: readonly AllocationRequest[]): Promise<CheckResult[]> {
    const results: CheckResult[] = [];
    for (const request of requests) results.push(await this.#checkOne(request));
    return results;
  }

  script(request: AllocationRequest): string {
    const queue = this.#queue(request.queue);
    const options = sbatchArguments(this.#places, queue, { ...request, token: undefined });
    const [shebang = '', ...rest] = batchScript(this.#places, queue, request).split('\n');
    return [shebang, ...options.map((it) => `#SBATCH ${it}`), ...rest].join('\n');
  }

  async #checkOne(request: AllocationRequest): Promise<CheckResult> {
    const { queue } = request;
    try {
      const result = await this.#sbatch(request, ['--test-only']);
      if (result.code === 0) return { queue, isFault: false, message: `Slurm accepts it: ${said(result)}` };
      const why = sbatchError(result);
      const remedy = why instanceof EngineRefused ? 'correct the section `slurm` of the queue' : 'try again later';
      return { queue, isFault: true, message: `the queue ${queue} cannot be used: ${why.message}; ${remedy}` };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { queue, isFault: true, message: `the queue ${queue} cannot be checked: ${why}` };
    }
  }

  async #sbatch(request: AllocationRequest, extra: readonly string[]): Promise<ProgramResult> {
    const queue = this.#queue(request.queue);
    const deadline = ['timeout', '--signal=KILL', String(SBATCH_SECS)] as const;
    const options = [...sbatchArguments(this.#places, queue, request), ...extra];
    const secret: Record<string, string> = request.token === undefined ? {} : { SVC_TOKEN: request.token };
    return this.#run([...deadline, 'sbatch', ...options], secret, batchScript(this.#places, queue, request));
  }

  async #scancel(args: readonly string[]): Promise<void> {
    const result = await this.#run(['scancel', ...args], {});
    // Errors that name jobs which have ended meanwhile are left out.
    const meant = result.stderr.split('\n').filter((it) => !/Invalid job id|already complet/i.test(it));
    if (result.code !== 0 && TRANSIENT.test(meant.join(' '))) {
      throw new EngineUnreachable(`scancel failed: ${said(result)}`);
    }
  }

  #queue(name: string): QueueConfig<SlurmSection> {
    const queue = this.#context.queues.find((it) => it.name === name);
    if (queue === undefined) throw new Error(`the Slurm engine has no queue ${name}`);
    return queue;
  }

  async #run(command: [string, ...string[]], env: Record<string, string>, input?: string): Promise<ProgramResult> {
    const { clock, env: own, baseDirectory } = this.#context;
    // A runner's variables of an allocation that the launcher itself runs in would be taken over by sbatch.
    const base = Object.fromEntries(
      Object.entries(own).filter(([name]) => !name.startsWith('SBATCH_') && !isOwnVariable(name)),
    );
    try {
      const call = { command, env: { ...base, ...env }, timeoutMs: CALL_MS, cwd: baseDirectory };
      return await runProgram(clock, input === undefined ? call : { ...call, input });
    } catch (error) {
      if (!(error instanceof ProgramFailed)) throw error;
      const isMissing = (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
      throw isMissing ? new EngineRefused(error.message) : new EngineUnreachable(error.message);
    }
  }
}

const said = ({ stdout, stderr, code }: ProgramResult): string => {
  const text = oneLine(`${stderr} ${stdout}`).replaceAll(/\bs(batch|queue|cancel): (error: )?/g, '');
  return text === '' ? `exit code ${String(code)}` : text;
};

function sbatchError(result: ProgramResult): EngineRefused | EngineUnreachable {
  const { code, stderr } = result;
  // 127: sbatch is not there. Killed at its deadline: 137, or a signal.
  if (code === 127) return new EngineRefused('sbatch is not in PATH; run the launcher where Slurm is installed');
  if (code === undefined || code === 137) {
    return new EngineUnreachable(`sbatch did not end within ${String(SBATCH_SECS)} s: ${said(result)}`);
  }
  if (code === 0) return new EngineUnreachable(`sbatch returned no job id: ${said(result)}`);
  return TRANSIENT.test(stderr) ? new EngineUnreachable(said(result)) : new EngineRefused(said(result));
}
