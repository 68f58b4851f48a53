/**
 * One forkserver process: `clients/python/warm` with a simulation's modules imported, which forks a process for each run.
 * It is the parent of these processes, and reaps each only after the runner has stopped signalling it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Duplex } from 'node:stream';
import { createActor } from 'xstate';
import { warmServerMachine } from '../../../machines/warm/server.ts';
import type { WarmServerEvent } from '../../../machines/warm/server.ts';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { packageRoot } from '../../base/package.ts';
import { readAnswers, RESERVED_BYTES, sendOrder } from './control-channel.ts';
import type { Answer, Order } from './control-channel.ts';
import type { Ending, Launch, LaunchContext, LaunchedProcess } from './launcher.ts';
import type { ExpectedOutput, OutputSockets } from './output-sockets.ts';

export const SCRIPT = join(packageRoot, 'clients', 'python', 'warm', '__main__.py');
const START_MS = 120_000;
const FORK_MS = 10_000;
const PING_MS = 5000;
const ANSWER_MS = 15_000;
const END_MS = 5000;
/** How long the connections of a process may take that has ended already. */
const CONNECT_MS = 250;
const KEPT_OUTPUT = 2000;

export interface ForkServerOptions {
  python: string;
  entrypoint: string;
  /** Undefined: the modules that the entrypoint imports at its top. */
  preload: readonly string[] | undefined;
  env: Readonly<Record<string, string>>;
  cwd: string;
  clock: Clock;
  outputs: OutputSockets;
  /** Called once, when it has ended without being asked to. */
  onDeath: (detail: string) => void;
  /** For tests: false leaves the end of the control channel as its only sign of the runner's end. */
  deathSignal?: boolean;
}

/** The modules that it imported, and those that each run must import by itself. */
export type Readiness = Extract<Answer, { type: 'ready' }>;

interface Pending {
  /** When the order was sent. */
  sinceMs: number;
  context: LaunchContext;
  output: ExpectedOutput;
  /** Settles the launch. */
  settle: (result: LaunchedProcess | Ending | 'stale') => void;
  ending: Ending | undefined;
  ended: Promise<Ending>;
  end: (ending: Ending) => void;
}

export class ForkServer {
  readonly pid: number | undefined;
  /** Resolves when it can fork, with why it cannot, or with undefined when it has ended before. Never rejects. */
  readonly ready: Promise<Readiness | { refused: string } | undefined>;
  readonly #options: ForkServerOptions;
  readonly #actor = createActor(warmServerMachine);
  readonly #child: ChildProcess;
  readonly #control: Duplex;
  readonly #runs = new Map<number, Pending>();
  #output = '';
  #settleReady: (it: Readiness | { refused: string } | undefined) => void = () => {};
  #cancelPing: () => void = () => {};
  #answeredMs: number;
  /** The first reason to end it by force. */
  #fault: string | undefined;

  constructor(options: ForkServerOptions) {
    const { python, entrypoint, preload, env, cwd, clock } = options;
    this.#options = options;
    this.#answeredMs = clock.monotonicMs();
    this.#actor.start();
    this.ready = new Promise((resolve) => {
      this.#settleReady = resolve;
    });
    const settings = { entrypoint, preload: preload ?? null, death_signal: options.deathSignal !== false, skipped: {} };
    const child = spawn(python, [SCRIPT, JSON.stringify(settings)], {
      cwd,
      env: { ...env, SVC_OUTPUT_DIR: '-'.repeat(RESERVED_BYTES) },
      // A Ctrl-C at a terminal is the runner's to judge.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#control = child.stdio[3] as Duplex;
    this.pid = child.pid;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT);
      });
    }
    readAnswers(
      this.#control,
      (answer) => this.#take(answer),
      (detail) => this.#give(detail),
    );
    child.once('error', (error) => this.#died(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      void this.#exited(signal === null ? `with exit code ${String(code)}` : `by signal ${signal}`);
    });
    // Whatever keeps the runner running, this does not.
    for (const it of [child, ...child.stdio]) (it as { unref?: () => void } | null)?.unref?.();
    const cancelStart = clock.after(START_MS, () =>
      this.#give(`its imports take longer than ${String(START_MS / 1000)} s`),
    );
    void this.ready.then(cancelStart);
    this.#cancelPing = clock.every(PING_MS, () => this.#ping());
  }

  get state(): string {
    return this.#actor.getSnapshot().value;
  }

  /** Forks a process. `stale`: a file that it has imported is not the same any more, so nothing was forked. */
  async fork(launch: Launch, context: LaunchContext): Promise<LaunchedProcess | Ending | 'stale'> {
    const { clock, outputs } = this.#options;
    const output = outputs.expect();
    const { id, secret } = output;
    const launched = new Promise<LaunchedProcess | Ending | 'stale'>((settle) => {
      let end: (ending: Ending) => void = () => {};
      const ended = new Promise<Ending>((resolve) => {
        end = resolve;
      });
      const sinceMs = clock.monotonicMs();
      this.#runs.set(id, { sinceMs, context, output, settle, ending: undefined, ended, end });
    });
    const cancel = clock.after(FORK_MS, () => this.#give(`it did not fork within ${String(FORK_MS / 1000)} s`));
    const cgroup = context.scope.prepare();
    this.#send({
      type: 'run',
      id,
      env: launch.contract,
      socket: outputs.path,
      secret,
      cgroup,
      seed: launch.randomSeed,
    });
    const result = await launched;
    cancel();
    return result;
  }

  /** Takes no further run; ends when its last one has ended. */
  retire(): void {
    if (this.state === 'Starting') this.kill();
    this.#event({ type: 'RETIRE' });
    this.#endIfOver();
  }

  /** Ends it at once, and with it the runs it has. */
  kill(): void {
    this.#event({ type: 'RETIRE' });
    this.#child.kill('SIGKILL');
  }

  /** Its last line of output, for messages. */
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
    } else if (answer.type !== 'pong') {
      const run = this.#runs.get(answer.id);
      if (run === undefined) this.#give(`it answered for a run that it does not have: ${JSON.stringify(answer)}`);
      else this.#takeOf(run, answer);
    }
  }

  #takeOf(run: Pending, answer: Extract<Answer, { id: number }>): void {
    switch (answer.type) {
      case 'started': {
        this.#event({ type: 'FORKED' });
        run.context.scope.adopt(answer.pid);
        run.context.onProcess(answer.pid, run.sinceMs);
        void this.#connect(run);
        break;
      }
      case 'no-cgroup':
        run.context.scope.disown(answer.reason);
        break;
      case 'stale':
        this.#runs.delete(answer.id);
        run.output.cancel();
        run.context.scope.release();
        run.settle('stale');
        break;
      case 'unforked':
        this.#runs.delete(answer.id);
        run.output.cancel();
        run.settle({ type: 'failed-to-start', code: answer.code });
        break;
      case 'failed':
        run.ending = { type: 'failed-to-start', code: answer.code };
        break;
      case 'ended':
        run.context.onExit();
        run.ending ??= endingOf(answer);
        this.#send({ type: 'reap', id: answer.id });
        break;
      case 'reaped':
        this.#runs.delete(answer.id);
        this.#event({ type: 'REAPED' });
        run.end(run.ending ?? { type: 'lost', detail: 'its forkserver does not know how it ended' });
        this.#endIfOver();
        break;
    }
  }

  /** Waits for the connections of stdout and stderr, which a process that is killed early never makes. */
  async #connect(run: Pending): Promise<void> {
    const { clock } = this.#options;
    const { stdout, stderr, cancel } = run.output;
    const connected = new AbortController();
    const none = run.ended.then(() => sleep(clock, CONNECT_MS, connected.signal)).then(() => undefined);
    const [out, error] = await Promise.all([Promise.race([stdout, none]), Promise.race([stderr, none])]);
    connected.abort();
    cancel();
    run.settle({ stdout: out ?? Readable.from([]), stderr: error ?? Readable.from([]), ended: run.ended });
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
    if (this.state !== 'Ended') return;
    this.#control.end();
    this.#options.clock.after(END_MS, () => this.#child.kill('SIGKILL'));
  }

  /** Ends it by force; its runs are lost. */
  #give(detail: string): void {
    this.#fault ??= `by the runner: ${detail}`;
    this.#child.kill('SIGKILL');
  }

  async #exited(how: string): Promise<void> {
    // Its last answers may still be in the channel.
    const closed = new Promise((resolve) => this.#control.once('close', resolve));
    if (!this.#control.destroyed) await Promise.race([closed, sleep(this.#options.clock, CONNECT_MS)]);
    const said = this.lastOutput;
    this.#died(this.#fault ?? `${how}${said === '' ? '' : ` (${said})`}`);
  }

  #died(detail: string): void {
    this.#cancelPing();
    const wasWanted = this.state !== 'Ended';
    this.#event({ type: 'DIED', detail });
    this.#settleReady(undefined);
    for (const run of this.#runs.values()) {
      run.output.cancel();
      run.context.onExit();
      run.ending ??= { type: 'lost', detail };
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
