/**
 * The workers of one warm Python: each executes run after run. As many work as there are lanes with runs; each is fed ahead, and a run
 * that waits after a long one is taken back. A run that ends its worker loses no other run.
 */
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../log.ts';
import type { ProcessScope } from '../../processes/process-scope.ts';
import { recentMean } from './recent-mean.ts';
import { oneLine } from '../../system-error.ts';
import { openWorker } from './open-worker.ts';
import type { Rendezvous } from './rendezvous.ts';
import { lossOf, type PooledRun as Run, type SharedEnding, type SharedRun, type WorkerSource } from './shared-run.ts';
import type { RunEnd } from './worker-message.ts';
import { Worker, type WorkerCalls } from './worker.ts';

/** A worker has runs for about this time, so that it never waits for the runner. */
const FED_MS = 400;
const MOST_FED = 256;
/** Runs after a run that takes longer are given to others. */
const LONG_RUN_MS = 100;
/** A worker without runs is ended after this time. */
const IDLE_MS = 60_000;
const LOOK_MS = 50;

export interface SharedPythonOptions {
  source: WorkerSource;
  rendezvous: () => Rendezvous;
  clock: Clock;
  log: Log;
  /** The engine, for messages. */
  name: string;
  /** The digest of the code that the workers have loaded; undefined: not known. */
  code: string | undefined;
  /** The memory limit of the runs in bytes; null: none. */
  memory: number | null;
  /** A worker without runs is ended after this time. */
  idleMs?: number;
}

interface Pooled {
  worker: Worker<Run>;
  /** When its current run began, or when it became idle. */
  sinceMs: number;
  isFilling: boolean;
  /** The run that has left something in it, for which it ends by itself. */
  last?: { run: Run; end: RunEnd };
  /** The run for which it was ended. */
  killer?: Run;
}

export class SharedPython {
  /** The digest of the code that the workers have loaded. */
  readonly code: string | undefined;
  readonly #options: SharedPythonOptions;
  /** Runs that no worker has, the next first. */
  readonly #pending: Run[] = [];
  readonly #workers = new Set<Pooled>();
  /** Number of runs in flight of each lane. */
  readonly #lanes = new Map<number, number>();
  #starting = 0;
  /** Why the last worker could not be started. */
  #fault: string | undefined;
  #meanMs: number | undefined;
  #isScheduled = false;
  #isLookDue = false;

  constructor(options: SharedPythonOptions) {
    this.#options = options;
    this.code = options.code;
  }

  /** Starts a worker where there is none, so that the first run does not wait for it. @param scope of a run with these limits. */
  async prepare(scope: ProcessScope): Promise<void> {
    if (this.#workers.size === 0 && this.#starting === 0) await this.#start(scope);
  }

  /** Executes the run. Never rejects. */
  execute(run: SharedRun): Promise<SharedEnding> {
    return new Promise((end) => {
      const pending: Run = Object.assign(run, { sinceMs: this.#options.clock.monotonicMs(), end });
      this.#lanes.set(run.lane, (this.#lanes.get(run.lane) ?? 0) + 1);
      this.#pending.push(pending);
      this.#pumpSoon();
    });
  }

  /** The run is not wanted any more. If it executes, its scope ends it with its worker. */
  cancel(run: SharedRun): void {
    const pooled = run as Run;
    for (const it of this.#workers) if (it.worker.has(pooled)) this.#takeBack(it);
    if (this.#remove(pooled)) this.#conclude(pooled, { type: 'signal', signal: 'SIGKILL' });
    this.#pumpSoon();
  }

  /** The process of the run survives SIGKILL: its end is not waited for. */
  giveUp(run: SharedRun): void {
    this.#conclude(run as Run, { type: 'survived' });
  }

  /** Ends the workers when their current runs have ended. */
  retire(): void {
    for (const it of this.#workers) {
      this.#takeBack(it);
      it.worker.retire();
    }
  }

  // --- giving ------------------------------------------------------------------------------------------------------

  /** Runs that are launched in one turn of the event loop are given together. */
  #pumpSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const batches = new Map<Pooled, Run[]>();
    const sizeOf = (it: Pooled): number => it.worker.size + (batches.get(it)?.length ?? 0);
    const fed = this.#fed;
    let busy = [...this.#workers].filter((it) => it.worker.size > 0).length;
    while (this.#pending.length > 0) {
      let best: Pooled | undefined;
      for (const it of this.#workers) {
        const size = sizeOf(it);
        // Runs are given together: a worker that is full is given more when half of them have ended.
        if (size >= fed) it.isFilling = false;
        else if (size * 2 <= fed) it.isFilling = true;
        if (!it.worker.isTaking || !it.isFilling) continue;
        if (size === 0 ? busy >= this.#lanes.size : nowMs - it.sinceMs > LONG_RUN_MS) continue;
        if (best === undefined || size < sizeOf(best)) best = it;
      }
      if (best === undefined) break;
      if (sizeOf(best) === 0) {
        busy += 1;
        best.sinceMs = nowMs;
      }
      const run = this.#pending.shift()!;
      const batch = batches.get(best) ?? [];
      batches.set(best, batch);
      batch.push(run);
    }
    for (const [{ worker }, runs] of batches) {
      worker.give(runs.map((run) => ({ run, order: run.order })));
    }
    const living = [...this.#workers].filter((it) => it.worker.isTaking).length;
    const [first] = this.#pending;
    if (first !== undefined && living + this.#starting < this.#lanes.size) void this.#start(first.scope);
    if (this.#isLookDue) return;
    this.#isLookDue = true;
    this.#options.clock.after(LOOK_MS, () => this.#look());
  }

  /** How many runs a worker has at most. */
  get #fed(): number {
    if (this.#meanMs === undefined || this.#meanMs > LONG_RUN_MS) return 1;
    return Math.min(MOST_FED, 1 + Math.ceil(FED_MS / Math.max(this.#meanMs, 0.1)));
  }

  /** Takes back runs that wait after a long one, gives up those that wait too long, ends workers that have nothing to do. */
  #look(): void {
    this.#isLookDue = false;
    const nowMs = this.#options.clock.monotonicMs();
    for (const it of this.#workers) {
      if (it.worker.size > 1 && nowMs - it.sinceMs > LONG_RUN_MS) this.#takeBack(it);
      if (it.worker.size === 0 && nowMs - it.sinceMs > (this.#options.idleMs ?? IDLE_MS)) it.worker.retire();
    }
    if (this.#starting === 0) {
      for (const run of this.#pending.filter((it) => nowMs - it.sinceMs > it.patienceMs)) {
        this.#remove(run);
        this.#conclude(run, { type: 'displaced', detail: 'the runs before it take long' });
      }
    }
    if (this.#lanes.size > 0 || this.#workers.size > 0) this.#pump();
  }

  #takeBack(it: Pooled): void {
    this.#pending.unshift(...it.worker.takeBack());
  }

  #remove(run: Run): boolean {
    const at = this.#pending.indexOf(run);
    if (at >= 0) this.#pending.splice(at, 1);
    return at >= 0;
  }

  /** The end of a run that no worker has. */
  #conclude(run: Run, ending: SharedEnding): void {
    if (run.isOver === true) return;
    run.isOver = true;
    const left = (this.#lanes.get(run.lane) ?? 1) - 1;
    if (left > 0) this.#lanes.set(run.lane, left);
    else this.#lanes.delete(run.lane);
    run.end(ending);
  }

  // --- workers -------------------------------------------------------------------------------------------------------

  async #start(scope: ProcessScope): Promise<void> {
    this.#starting += 1;
    try {
      const pooled = await this.#open(scope);
      if (pooled === undefined) this.#executeAlone();
      else {
        this.#workers.add(pooled);
        this.#fault = undefined;
      }
    } catch (error) {
      this.#warn(oneLine(error));
      this.#executeAlone();
    } finally {
      this.#starting -= 1;
    }
    this.#pumpSoon();
  }

  /** Once, until one can be started again: each run asks for it. */
  #warn(fault: string): void {
    if (this.#fault !== undefined) return;
    this.#fault = fault;
    this.#options.log.warn(
      `engine ${this.#options.name}: no shared interpreter could be started, runs have a process each: ${fault}`,
    );
  }

  /** Without a worker the next run has a process of its own. */
  #executeAlone(): void {
    const run = this.#pending.shift();
    if (run !== undefined) this.#conclude(run, { type: 'alone' });
  }

  async #open(ofRun: ProcessScope): Promise<Pooled | undefined> {
    const { clock } = this.#options;
    const found = await openWorker(this.#options, this.code, ofRun);
    if (found === undefined) return undefined;
    let pooled: Pooled | undefined;
    const calls = this.#callsOf(() => pooled);
    pooled = { worker: new Worker<Run>(found, clock, calls), sinceMs: clock.monotonicMs(), isFilling: true };
    return pooled;
  }

  #callsOf(pooledOf: () => Pooled | undefined): WorkerCalls<Run> {
    const { clock } = this.#options;
    return {
      begun: (run, sinceMs) => {
        const pooled = pooledOf();
        if (pooled === undefined) return;
        pooled.sinceMs = sinceMs;
        const { worker } = pooled;
        run.scope.join(worker.scope, () => {
          pooled.killer ??= run;
          this.#takeBack(pooled);
          this.#workers.delete(pooled);
          worker.kill();
          this.#pumpSoon();
        });
        run.begun(worker.pid, sinceMs);
      },
      output: (run, stream, output) => run.output(stream, output),
      ended: (run, end) => {
        const pooled = pooledOf();
        if (pooled !== undefined) pooled.sinceMs = clock.monotonicMs();
        // The worker ends now, and with it everything that the run has left: the outcome comes after that.
        if ('left' in end && end.left.length > 0 && pooled !== undefined) {
          pooled.last = { run, end };
          return;
        }
        run.scope.part();
        if ('ms' in end) {
          this.#note(end);
          this.#conclude(run, { type: 'ended', ...end });
        } else this.#conclude(run, { type: 'fault', ...end });
        this.#pumpSoon();
      },
      stale: () => {
        this.#options.log.info(
          `engine ${this.#options.name}: a file has changed, its shared interpreters are replaced`,
        );
        this.#options.source.retire();
      },
      gone: (ending, { lost, displaced, unbegun }) => {
        const pooled = pooledOf();
        this.#pending.unshift(...unbegun);
        if (pooled !== undefined) {
          this.#workers.delete(pooled);
          void this.#clear(pooled);
        }
        if (pooled?.last !== undefined) this.#conclude(pooled.last.run, { type: 'ended', ...pooled.last.end });
        if (lost !== undefined) this.#conclude(lost, lossOf(lost, ending, pooled?.killer));
        if (displaced !== undefined)
          this.#conclude(displaced, { type: 'displaced', detail: 'its process ended before it began' });
        this.#pumpSoon();
      },
    };
  }

  #note({ ms }: RunEnd): void {
    this.#meanMs = recentMean(this.#meanMs, ms);
  }

  /** Ends what a worker has left, and gives its cgroup back. */
  async #clear({ worker: { scope } }: Pooled): Promise<void> {
    while ((await scope.clear(this.#options.clock, true)).length > 0);
    scope.release();
  }
}
