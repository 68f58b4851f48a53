/** The real coordinator as a process, and scripted runners that claim and report over HTTP without simulations. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, Client, UnreachableError } from '../../src/client/client.ts';
import type { Assignment, Report, ReportOutcome, Uuid } from '../../src/contract/types.ts';
import { PROGRAM } from '../support/program.ts';

export { sleep };

/** Skips a suite that needs something which this machine lacks, with the reason in its title; in the gate, which has it, it fails instead. */
export function skipWithout(context: Mocha.Context, why: string | undefined): void {
  if (why === undefined) return;
  if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error(why);
  if (context.test !== undefined) context.test.title += `: ${why}`;
  context.skip();
}

/** Why a program is missed; undefined where it is on the search path. */
export const withoutProgram = (...names: readonly string[]): string | undefined => {
  const absent = names.filter((it) => spawnSync('sh', ['-c', `command -v ${it}`]).status !== 0);
  return absent.length === 0 ? undefined : `${absent.join(', ')} is not installed`;
};

/** A data directory and its coordinator processes, one after the other, on the same port. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-whole-'));
  readonly dataDir: string;
  #port = 0;
  #process: ChildProcess | undefined;
  /** Its stderr since the last start. */
  log = '';

  constructor(dataDir?: string) {
    this.dataDir = dataDir ?? join(this.folder, 'data');
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  client(timeoutMs = 10_000): Client {
    return new Client({ endpoint: this.url, timeoutMs });
  }

  /** Starts it and resolves when it listens. `limit` is a shell command that precedes it. */
  async start(limit = ''): Promise<void> {
    const serve = [PROGRAM, 'serve', '--port', String(this.#port), '--data-dir', this.dataDir, '--log-level', 'error'];
    const [command, args] =
      limit === ''
        ? [process.execPath, serve]
        : ['bash', ['-c', `${limit}; exec "$@"`, 'bash', process.execPath, ...serve]];
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: this.folder });
    this.#process = child;
    this.log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.log += text));
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    for (;;) {
      const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(out)?.[1];
      if (port !== undefined) {
        this.#port = Number(port);
        return;
      }
      const event = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => 'ended' as const)]);
      if (event === 'ended') throw new Error(`the coordinator did not start: ${this.log}`);
    }
  }

  /** Resolves with the exit code, or the name of the signal that killed it. */
  async exit(): Promise<number | string | null> {
    const child = this.#process;
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode ?? child.signalCode;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | string | null> {
    this.#process?.kill(signal);
    return this.exit();
  }

  async clean(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Repeats an exchange until it is answered: without an answer it may or may not have taken effect. */
export async function insist<T>(exchange: () => Promise<T>, isOver: () => boolean = () => false): Promise<T> {
  for (;;) {
    try {
      return await exchange();
    } catch (error) {
      const passes = error instanceof UnreachableError || (error instanceof ApiError && error.transient);
      if (!passes || isOver()) throw error;
      await sleep(20);
    }
  }
}

/** Resolves when the condition holds; rejects when `meanwhile` rejects, or after `limitMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  meanwhile: Promise<unknown> = new Promise(() => {}),
  limitMs = 30_000,
): Promise<void> {
  let failure: unknown;
  meanwhile.catch((error: unknown) => (failure = error ?? new Error('it failed')));
  const endAt = Date.now() + limitMs;
  // Each look is a request, or a process: less often after a while.
  for (let pauseMs = 5; !(await condition()); pauseMs = Math.min(100, pauseMs * 1.2)) {
    if (failure !== undefined) throw failure;
    if (Date.now() > endAt) throw new Error(`it did not come true within ${limitMs} ms: ${String(condition)}`);
    await sleep(pauseMs);
  }
}

/** Runs whose completion the coordinator acknowledged. */
export interface Acknowledged {
  runner: string;
  attempt: number;
  mark: string;
}

interface Held {
  attempt: number;
  isStarted: boolean;
  endAt: number;
}

/**
 * A runner without simulations: each run "takes" some milliseconds. Like the real runner it keeps its attempts when the
 * coordinator dies, and reports until it is answered.
 */
export class FakeRunner {
  readonly id: string;
  readonly acknowledged: Map<Uuid, Acknowledged[]>;
  readonly #client: Client;
  readonly #slots: number;
  readonly #held = new Map<Uuid, Held>();
  #isStopped = false;

  constructor(id: string, client: Client, slots: number, acknowledged: Map<Uuid, Acknowledged[]>) {
    this.id = id;
    this.#client = client;
    this.#slots = slots;
    this.acknowledged = acknowledged;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Works until it is stopped. */
  async work(runMs: number): Promise<void> {
    const instance = `${this.id}-1`;
    const capabilities = {
      max_concurrent_jobs: this.#slots,
      cpu_cores: 0,
      memory_gb: 0,
      gpu_available: false,
      supported_simulation_types: [],
    };
    const over = (): boolean => this.#isStopped;
    await insist(() => this.#client.register({ id: this.id, capabilities, instance, heartbeat_interval_secs: 1 }));
    while (!this.#isStopped) {
      try {
        const holding = [...this.#held].map(([job_id, { attempt }]) => ({ job_id, attempt }));
        const free = this.#slots - this.#held.size;
        if (free > 0) {
          const request = { instance, max_jobs: free, wait_seconds: this.#held.size === 0 ? 1 : 0, holding };
          const { assignments } = await insist(() => this.#client.claim(this.id, request), over);
          this.#take(assignments, runMs);
        } else await insist(() => this.#client.heartbeat(this.id, { instance, holding }), over);
        await this.#report(instance, over);
        await sleep(5);
      } catch (error) {
        if (!this.#isStopped) throw error;
      }
    }
  }

  #take(assignments: readonly Assignment[], runMs: number): void {
    for (const { job, attempt } of assignments) {
      if (this.#held.get(job.id)?.attempt === attempt) continue;
      this.#held.set(job.id, { attempt, isStarted: false, endAt: Date.now() + runMs });
    }
  }

  async #report(instance: string, over: () => boolean): Promise<void> {
    const reports: Report[] = [];
    for (const [job_id, { attempt, isStarted, endAt }] of this.#held) {
      if (!isStarted) reports.push({ type: 'start', job_id, attempt });
      else if (Date.now() >= endAt) reports.push(this.#end(job_id, attempt));
    }
    if (reports.length === 0) return;
    const { outcomes } = await insist(() => this.#client.reports(this.id, { instance, reports }), over);
    for (const [at, outcome] of outcomes.entries()) this.#learn(reports[at] as Report, outcome);
  }

  /** Every seventh run fails the first time. */
  #end(job_id: Uuid, attempt: number): Report {
    if (attempt === 1 && parseInt(job_id.slice(-4), 16) % 7 === 0)
      return { type: 'fail', job_id, attempt, reason: 'exit', error_message: 'exit code 1' };
    const metadata = { mark: `${this.id}/${attempt}` };
    return { type: 'complete', job_id, attempt, result: { execution_time_secs: 0, output_files: [], metadata } };
  }

  #learn(report: Report, outcome: ReportOutcome): void {
    const held = this.#held.get(report.job_id);
    if (held === undefined) return;
    if ('problem' in outcome || report.type === 'fail') {
      this.#held.delete(report.job_id);
      return;
    }
    if (report.type === 'start') {
      held.isStarted = true;
      return;
    }
    this.#held.delete(report.job_id);
    const known = this.acknowledged.get(report.job_id) ?? [];
    this.acknowledged.set(report.job_id, known);
    known.push({ runner: this.id, attempt: report.attempt, mark: `${this.id}/${report.attempt}` });
  }
}
