/**
 * A process that creates the processes of runs: the forkserver of a warm Python, or the starter of programs. It is their parent,
 * reads their output, and reaps each only after the runner has stopped signalling it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Duplex, Readable } from 'node:stream';
import { createActor } from 'xstate';
import { warmServerMachine } from '../../../machines/warm/server.ts';
import type { WarmServerEvent } from '../../../machines/warm/server.ts';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { withoutInherited } from '../processes/inherited-descriptors.ts';
import { readAnswers, sendOrder } from './control-channel.ts';
import type { Answer, Order, RunOrder } from './control-channel.ts';
import type { Ending, LaunchContext, LaunchedProcess } from './launcher.ts';
import { ServedOutputs } from './served-output.ts';

const START_MS = 120_000;
const FORK_MS = 10_000;
const PING_MS = 5000;
const ANSWER_MS = 15_000;
const END_MS = 5000;
/** Longest time for the last answers of a server that has ended. */
const LAST_ANSWERS_MS = 250;
const KEPT_OUTPUT = 2000;

export interface ProcessServerOptions {
  /** Name of the server in messages: `forkserver`. */
  name: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  clock: Clock;
  /** Called once, when it has ended without being asked to. */
  onDeath: (detail: string) => void;
}

/** The modules that it imported, and those that each run must import by itself. */
export type Readiness = Extract<Answer, { type: 'ready' }>;

interface Run {
  /** When the order was sent. */
  sinceMs: number;
  context: LaunchContext;
  stdout: Readable;
  stderr: Readable;
  /** Settles the launch. */
  settle: (result: LaunchedProcess | Ending | 'stale') => void;
  ending: Ending | undefined;
  ended: Promise<Ending>;
  end: (ending: Ending) => void;
}

export class ProcessServer {
  readonly pid: number | undefined;
  /** Resolves when it can create processes, with why it cannot, or with undefined when it has ended before. Never rejects. */
  readonly ready: Promise<Readiness | { refused: string } | undefined>;
  readonly #options: ProcessServerOptions;
  readonly #actor = createActor(warmServerMachine);
  readonly #child: ChildProcess;
  readonly #control: Duplex;
  readonly #runs = new Map<number, Run>();
  readonly #outputs: ServedOutputs;
  #lastId = 0;
  #output = '';
  #settleReady: (it: Readiness | { refused: string } | undefined) => void = () => {};
  #cancelPing: () => void = () => {};
  #answeredMs: number;
  /** The first reason to end it by force. */
  #fault: string | undefined;

  constructor(options: ProcessServerOptions) {
    const { command, args, env, cwd, clock } = options;
    this.#options = options;
    this.#answeredMs = clock.monotonicMs();
    this.#actor.start();
    this.ready = new Promise((resolve) => {
      this.#settleReady = resolve;
    });
    const child = spawn(command, args, {
      cwd,
      env,
      // A Ctrl-C at a terminal is the runner's to judge.
      detached: true,
      stdio: withoutInherited(['ignore', 'pipe', 'pipe', 'pipe']),
    });
    this.#child = child;
    this.#control = child.stdio[3] as Duplex;
    this.#outputs = new ServedOutputs(
      (order) => this.#send(order),
      () => this.#endIfOver(),
    );
    this.pid = child.pid;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT);
      });
    }
    readAnswers(
      this.#control,
      (answer) => this.#take(answer),
      (chunk, data) => this.#outputs.take(chunk, data),
      (detail) => this.#give(detail),
    );
    child.once('error', (error) => this.#died(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      const how = signal === null ? `with exit code ${String(code)}` : `by signal ${signal}`;
      void this.#exited(how, signal ?? undefined);
    });
    // Whatever keeps the runner running, this does not.
    for (const it of [child, ...child.stdio]) (it as { unref?: () => void } | null)?.unref?.();
    const cancelStart = clock.after(START_MS, () =>
      this.#give(`its start takes longer than ${String(START_MS / 1000)} s`),
    );
    void this.ready.then(cancelStart);
    this.#cancelPing = clock.every(PING_MS, () => this.#ping());
  }

  get state(): string {
    return this.#actor.getSnapshot().value;
  }

  /** Creates a process. `stale`: a file that it has imported is not the same any more, so nothing was created. */
  async create(order: RunOrder, context: LaunchContext): Promise<LaunchedProcess | Ending | 'stale'> {
    const { clock } = this.#options;
    const id = (this.#lastId += 1);
    const launched = new Promise<LaunchedProcess | Ending | 'stale'>((settle) => {
      let end: (ending: Ending) => void = () => {};
      const ended = new Promise<Ending>((resolve) => {
        end = resolve;
      });
      const [stdout, stderr] = [this.#outputs.open(id, 1), this.#outputs.open(id, 2)];
      const sinceMs = clock.monotonicMs();
      this.#runs.set(id, { sinceMs, context, stdout, stderr, settle, ending: undefined, ended, end });
    });
    const cancel = clock.after(FORK_MS, () => this.#give(`it did not fork within ${String(FORK_MS / 1000)} s`));
    this.#send({ ...order, id, cgroup: context.scope.prepare(), reap: context.scope.knowsPids });
    const result = await launched;
    cancel();
    return result;
  }

  /** An environment that orders name by its number, in place of an earlier one. */
  define(base: number, env: Readonly<Record<string, string>>): void {
    this.#send({ type: 'environment', base, env });
  }

  /** Takes no further run; ends when its last one has ended. */
  retire(): void {
    if (this.state === 'Starting') this.kill();
    this.#event({ type: 'RETIRE' });
    this.#endIfOver();
  }

  /** Ends the server at once, and its runs with it. */
  kill(): void {
    this.#event({ type: 'RETIRE' });
    this.#child.kill('SIGKILL');
  }

  /** The last line of the server's output, for messages. */
  get lastOutput(): string {
    return this.#output.trim().split('\n').at(-1) ?? '';
  }

  #event(event: WarmServerEvent): void {
    this.#actor.send(event);
  }

  #send(order: Order): void {
    sendOrder(this.#control, order);
  }

  #take(answer: Answer): void {
    this.#answeredMs = this.#options.clock.monotonicMs();
    if (answer.type === 'ready') {
      this.#event({ type: 'READY' });
      this.#settleReady(answer);
    } else if (answer.type === 'refused') {
      this.#event({ type: 'RETIRE' });
      this.#settleReady({ refused: answer.reason });
    } else if (answer.type === 'closed') {
      this.#outputs.close(answer.id, answer.fd);
    } else if (answer.type !== 'pong') {
      const run = this.#runs.get(answer.id);
      if (run === undefined) this.#give(`it answered for a run that it does not have: ${JSON.stringify(answer)}`);
      else this.#takeOf(run, answer);
    }
  }

  #takeOf(run: Run, answer: Exclude<Extract<Answer, { id: number }>, { type: 'closed' }>): void {
    switch (answer.type) {
      case 'started':
        this.#event({ type: 'FORKED' });
        run.context.scope.adopt(answer.pid, answer.start ?? undefined);
        run.context.onProcess(answer.pid, run.sinceMs);
        run.settle({ stdout: run.stdout, stderr: run.stderr, ended: run.ended });
        break;
      case 'no-cgroup':
        run.context.scope.disown(answer.reason);
        break;
      case 'stale':
        this.#forget(answer.id);
        run.context.scope.release();
        run.settle('stale');
        break;
      case 'unforked':
        this.#forget(answer.id);
        run.settle({ type: 'failed-to-start', code: answer.code });
        break;
      case 'ended':
        run.context.onExit();
        run.ending = endingOf(answer);
        for (const fd of answer.closed) this.#outputs.close(answer.id, fd);
        if (answer.reaped) this.#reaped(answer.id, run);
        else this.#send({ type: 'reap', id: answer.id });
        break;
      case 'reaped':
        this.#reaped(answer.id, run);
        break;
    }
  }

  #reaped(id: number, run: Run): void {
    this.#runs.delete(id);
    this.#event({ type: 'REAPED' });
    run.end(run.ending ?? this.#lost('does not know how it ended'));
    this.#endIfOver();
  }

  /** A run without a process. */
  #forget(id: number): void {
    this.#runs.delete(id);
    for (const fd of [1, 2] as const) this.#outputs.close(id, fd);
  }

  #lost(detail: string, signal?: NodeJS.Signals): Ending {
    const ending = { type: 'lost' as const, detail: `the ${this.#options.name} of the simulation ${detail}` };
    return signal === undefined ? ending : { ...ending, signal };
  }

  #ping(): void {
    if (this.#runs.size === 0) {
      this.#answeredMs = this.#options.clock.monotonicMs();
      return;
    }
    if (this.#options.clock.monotonicMs() - this.#answeredMs > ANSWER_MS) {
      this.#give(`it does not answer for ${String(ANSWER_MS / 1000)} s`);
    } else this.#send({ type: 'ping' });
  }

  #endIfOver(): void {
    if (this.state !== 'Ended' || this.#outputs.size > 0) return;
    this.#control.end();
    this.#options.clock.after(END_MS, () => this.#child.kill('SIGKILL'));
  }

  /** Ends the server by force; its runs are lost. */
  #give(fault: string): void {
    this.#fault ??= `by the runner: ${fault}`;
    this.#child.kill('SIGKILL');
  }

  async #exited(how: string, signal: NodeJS.Signals | undefined): Promise<void> {
    // The last answers of the server may still be in the channel.
    const closed = new Promise((resolve) => this.#control.once('close', resolve));
    if (!this.#control.destroyed) await Promise.race([closed, sleep(this.#options.clock, LAST_ANSWERS_MS)]);
    const said = this.lastOutput;
    if (this.#fault === undefined) this.#died(`${how}${said === '' ? '' : ` (${said})`}`, signal);
    else this.#died(this.#fault);
  }

  #died(detail: string, signal?: NodeJS.Signals): void {
    this.#cancelPing();
    const wasWanted = this.state !== 'Ended';
    this.#event({ type: 'DIED', detail });
    this.#settleReady(undefined);
    const { name } = this.#options;
    this.#outputs.cut(`the ${name} ended ${detail}`);
    for (const run of this.#runs.values()) {
      run.context.onExit();
      run.ending ??= this.#lost(`ended ${detail}`, signal);
      run.end(run.ending);
      run.settle(run.ending);
    }
    this.#runs.clear();
    if (wasWanted) this.#options.onDeath(detail);
  }
}

function endingOf({ code, signal }: { code?: number; signal?: number }): Ending {
  if (signal === undefined) return { type: 'exit', code: code ?? 0 };
  const [name] = Object.entries(constants.signals).find(([, number]) => number === signal) ?? [];
  return { type: 'signal', signal: (name ?? 'SIGKILL') as NodeJS.Signals };
}
