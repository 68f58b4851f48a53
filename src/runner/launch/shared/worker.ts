/** One worker: a process that executes run after run. It begins the runs it was given in their order, and is fed ahead. */
import type { Duplex, Readable } from 'node:stream';
import { settlesWithin, type Clock } from '../../../base/clock.ts';
import type { ProcessScope } from '../../processes/process-scope.ts';
import type { Ending } from '../launcher.ts';
import { recentMean } from './recent-mean.ts';
import { MarkedOutput } from './marked-output.ts';
import type { RunNumbers } from './rendezvous.ts';
import { parsed, type RunEnd, type RunFault } from './worker-message.ts';

/** A run as a worker takes it. */
export interface WorkerOrder {
  env: Readonly<Record<string, string>>;
  seed: number;
  /** The text of the run configuration. */
  config: string;
  /** Its directory and the file of its configuration are made when it asks for them. */
  on_demand: boolean;
}

/** The process of a worker and its connections. */
export interface WorkerProcess {
  pid: number;
  scope: ProcessScope;
  ended: Promise<Ending>;
  /**
   * `orders` goes to the worker, the others come from it. Apart, since a worker that ends with orders unread resets its connection, and
   * messages that were not read yet would be lost with it.
   */
  connections: { orders: Duplex; messages: Duplex; stdout: Duplex; stderr: Duplex };
  numbers: RunNumbers;
  /** Its secret, which marks the end of the output of its runs. */
  token: string;
}

/** A run that was given to a worker. */
interface Given<Run> {
  id: number;
  run: Run;
  /** Its beginning was announced. */
  isAnnounced: boolean;
  end: RunEnd | RunFault | undefined;
}

export interface WorkerCalls<Run> {
  /** The run is executed from now on. */
  begun: (run: Run, sinceMs: number) => void;
  /** The run has printed its first byte on the stream. */
  output: (run: Run, stream: 'stdout' | 'stderr', output: Readable) => void;
  ended: (run: Run, end: RunEnd | RunFault) => void;
  /** A file of the program has changed: nothing more is executed by this program. */
  stale: () => void;
  /**
   * The worker has ended. `lost`: the run that ended it, or ended with it; `displaced`: the run whose beginning was announced and that
   * it has not begun; `unbegun`: the others. The note is for the result of the lost run.
   */
  gone: (ending: Ending & { note?: string }, runs: { lost?: Run; displaced?: Run; unbegun: readonly Run[] }) => void;
}

/** Longest time for the last messages and the output of a worker that has ended, and of all that it has left. */
const LAST_MS = 10_000;
/** How long the messages of a worker that has more runs are collected: the outcomes of a group share their writes and requests. */
const READ_MS = 100;
/** The same after output: a run that prints more than its connection holds waits for the runner. */
const READ_OUTPUT_MS = 8;
/** The share of the time that its further runs take, so that it never waits for the runner. */
const READ_SHARE = 0.5;
/** The messages that its connection holds while nothing is read. */
const HELD = process.platform === 'linux' ? { count: 100, bytes: 48 << 10 } : { count: 40, bytes: 6 << 10 };
const MOST_LINE_BYTES = 1 << 20;

export class Worker<Run> {
  /** Its processes, their group and their cgroup. */
  readonly scope: ProcessScope;
  readonly pid: number;
  readonly #clock: Clock;
  readonly #orders: Duplex;
  readonly #messages: Duplex;
  readonly #numbers: RunNumbers;
  readonly #outputs: { stdout: MarkedOutput; stderr: MarkedOutput };
  readonly #calls: WorkerCalls<Run>;
  #isPaused = false;
  /** Why the runner has ended it, if its messages were the reason. */
  #fault: string | undefined;
  readonly #given: Given<Run>[] = [];
  #lastId = 0;
  #rest = '';
  /** False from the message on that it ends after a run, or when it was ended. */
  #isTaking = true;
  #isStale = false;
  /** Output has come since the last pause. */
  #hasPrinted = false;
  /** Mean duration of its runs, in milliseconds. */
  #meanMs: number | undefined;
  /** Mean length of its messages. */
  #meanBytes: number | undefined;
  /** It has said that it executes no further run. */
  #isEnding = false;
  #isRetired = false;

  constructor(process: WorkerProcess, clock: Clock, calls: WorkerCalls<Run>) {
    const { orders, messages, stdout, stderr } = process.connections;
    this.pid = process.pid;
    this.scope = process.scope;
    this.#clock = clock;
    this.#orders = orders;
    this.#messages = messages;
    this.#numbers = process.numbers;
    this.#calls = calls;
    const marked = (stream: Duplex, name: 'stdout' | 'stderr'): MarkedOutput =>
      new MarkedOutput(
        stream,
        process.token,
        (output) => this.#print(name, output),
        () => this.#advance(),
      );
    this.#outputs = { stdout: marked(stdout, 'stdout'), stderr: marked(stderr, 'stderr') };
    messages.on('data', (data: Buffer) => this.#take(data));
    for (const stream of [messages, stdout, stderr]) stream.on('data', () => this.#pause());
    this.#resume();
    void process.ended.then((ending) => this.#gone(ending));
  }

  /** How many runs it has, with its current run. */
  get size(): number {
    return this.#given.length;
  }

  /** True when it may be given runs. */
  get isTaking(): boolean {
    return this.#isTaking;
  }

  /** True when it has this run, begun or not. */
  has(run: Run): boolean {
    return this.#given.some((it) => it.run === run);
  }

  /** Gives it runs to execute after those that it has. */
  give(runs: readonly { run: Run; order: WorkerOrder }[]): void {
    const isIdle = this.#given.length === 0;
    const ids: number[] = [];
    let lines = '';
    for (const { run, order } of runs) {
      const id = (this.#lastId += 1);
      ids.push(id);
      lines += `${JSON.stringify({ id, ...order })}\n`;
      this.#given.push({ id, run, isAnnounced: false, end: undefined });
    }
    this.#orders.write(lines);
    this.#numbers.give(ids);
    if (isIdle) this.#begin();
  }

  /** The runs that it has not begun and will not begin. */
  takeBack(): Run[] {
    const ids = new Set(this.#numbers.takeBack());
    const [first] = this.#given;
    // A run whose beginning was announced stays.
    if (first?.isAnnounced === true && ids.delete(first.id)) this.#numbers.give([first.id]);
    return this.#remove(ids);
  }

  #remove(ids: ReadonlySet<number>): Run[] {
    const taken: Run[] = [];
    for (const it of this.#given.filter(({ id }) => ids.has(id))) {
      this.#given.splice(this.#given.indexOf(it), 1);
      taken.push(it.run);
    }
    return taken;
  }

  /** Takes no further run, and ends with those that it has. */
  retire(): void {
    this.#isTaking = false;
    this.#isRetired = true;
    if (this.#given.length === 0) this.kill();
  }

  /** Ends it at once; a run that it executes is lost. */
  kill(): void {
    this.#isTaking = false;
    this.scope.kill();
  }

  /** Reads the messages of several short runs together: each reading costs more than a message. */
  #pause(): void {
    if (this.#isPaused || this.#given.length < 2 || !this.#isTaking) return;
    this.#isPaused = true;
    // All three have been read by then: a run has ended when its message and both marks have come.
    this.#clock.soon(() => {
      for (const it of [this.#messages, this.#outputs.stdout, this.#outputs.stderr]) it.pause();
      const mostMs = this.#hasPrinted ? READ_OUTPUT_MS : READ_MS;
      this.#hasPrinted = false;
      const held = Math.min(HELD.count, HELD.bytes / Math.max(1, this.#meanBytes ?? 0));
      const runs = Math.min(held, (this.#given.length - 1) * READ_SHARE);
      this.#clock.after(Math.min(mostMs, runs * (this.#meanMs ?? 0)), () => {
        this.#isPaused = false;
        this.#resume();
      });
    });
  }

  #resume(): void {
    for (const it of [this.#messages, this.#outputs.stdout, this.#outputs.stderr]) it.resume();
  }

  #take(data: Buffer): void {
    const lines = (this.#rest + data.toString()).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MOST_LINE_BYTES) this.#refuse('a message of it does not end');
    for (const line of lines) this.#message(line);
    this.#advance();
  }

  /** A message is its own word: nothing that it says concerns another run than those it has. */
  #message(line: string): void {
    if (this.#fault !== undefined) return;
    const message = parsed(line);
    if (message === undefined) return this.#refuse('its process sent something else than a message');
    if ('stale' in message) {
      this.#isTaking = false;
      this.#isStale = true;
      return;
    }
    // The runs end in their order.
    const given = this.#given.find(({ end }) => end === undefined);
    if (given?.id !== message.id)
      return this.#refuse('its process sent a message about a run that it does not execute');
    given.end = message;
    this.#meanBytes = recentMean(this.#meanBytes, line.length);
    if ('ms' in message) this.#meanMs = recentMean(this.#meanMs, message.ms);
    if (!('last' in message) || !message.last) return;
    this.#isTaking = false;
    this.#isEnding = true;
  }

  #refuse(fault: string): void {
    this.#fault = fault;
    this.kill();
  }

  /** Ends the runs whose message and marks have come, in their order. */
  #advance(isClosed = false): void {
    const { stdout, stderr } = this.#outputs;
    for (let it = this.#given[0]; it?.end !== undefined; it = this.#given[0]) {
      if (!isClosed && (stdout.lastId < it.id || stderr.lastId < it.id)) return;
      this.#given.shift();
      this.#calls.ended(it.run, it.end);
      this.#begin();
    }
    if (this.#isRetired && this.#given.length === 0) this.kill();
  }

  #begin(): void {
    const next = this.#given[0];
    // It ends after a run; those up to it have ended.
    if (next === undefined || (this.#isEnding && next.end === undefined)) return;
    next.isAnnounced = true;
    this.#calls.begun(next.run, this.#clock.monotonicMs());
  }

  #print(name: 'stdout' | 'stderr', output: Readable): void {
    this.#hasPrinted = true;
    const ofStream = this.#outputs[name].lastId;
    // The output of a run comes after the mark of the one before it on the same stream.
    const given = this.#given.find(({ id }) => id > ofStream);
    if (given === undefined) output.resume();
    else this.#calls.output(given.run, name, output);
  }

  async #gone(ending: Ending): Promise<void> {
    this.#isTaking = false;
    const { stdout, stderr } = this.#outputs;
    const ids = new Set(this.#numbers.takeBack());
    const [first] = this.#given;
    const isWaiting = first?.isAnnounced === true && ids.delete(first.id);
    const unbegun = this.#remove(ids);
    // Processes that it has left keep the connections open, in which its last messages and output may still be.
    await this.scope.clear(this.#clock, true);
    const read = Promise.all([stdout.ended(), stderr.ended(), closed(this.#messages)]);
    this.#resume();
    const isComplete = await settlesWithin(this.#clock, LAST_MS, read);
    for (const it of [this.#orders, this.#messages]) it.destroy();
    for (const it of [stdout, stderr]) it.close();
    this.#advance(true);
    this.#numbers.close();
    const [current, ...others] = this.#given.splice(0).map(({ run }) => run);
    const runs = { unbegun: [...others, ...unbegun] };
    if (this.#isStale) this.#calls.stale();
    if (current === undefined) this.#calls.gone(ending, runs);
    else if (this.#isStale || isWaiting) this.#calls.gone(ending, { ...runs, displaced: current });
    else this.#calls.gone(this.#withNote(ending, isComplete), { ...runs, lost: current });
  }

  #withNote(ending: Ending, isComplete: boolean): Ending & { note?: string } {
    if (this.#fault !== undefined) return { ...ending, note: `the runner ended it: ${this.#fault}` };
    return isComplete ? ending : { ...ending, note: 'the end of its output was not read in time and may be missing' };
  }
}

function closed(stream: Duplex): Promise<void> {
  return stream.closed ? Promise.resolve() : new Promise((resolve) => stream.once('close', () => resolve()));
}
