/** The output of a run that shares a process with others: its logs, captured from its first byte on. Most short runs print nothing. */
import type { Readable } from 'node:stream';
import { oneLine } from '../../system-error.ts';
import type { Waits } from '../../waits.ts';
import { OutputCapture } from '../output-capture.ts';
import { logsIn, type Logs } from '../simulation-process.ts';

const LOGS_MS = 10_000;
type Stream = 'stdout' | 'stderr';

export class SharedOutput {
  readonly container = undefined;
  readonly #directory: string;
  readonly #makesDirectory: boolean;
  #logs: Logs | undefined;
  readonly #captures: Partial<Record<Stream, OutputCapture>> = {};

  /** @param makesDirectory the run has a directory when something asks for it. */
  constructor(directory: string, makesDirectory = false) {
    this.#directory = directory;
    this.#makesDirectory = makesDirectory;
  }

  /** True when the run has printed nothing. */
  get isEmpty(): boolean {
    return this.#logs === undefined;
  }

  /** Captures a stream of the run, once each. */
  take(name: Stream, output: Readable): void {
    this.#logs ??= logsIn(this.#directory, this.#makesDirectory);
    this.#captures[name] = new OutputCapture(output, this.#logs[name]);
  }

  /** Completes the logs when the run has ended; returns notes for the reader of the result. */
  async finish(waits: Waits): Promise<string[]> {
    const { stdout, stderr } = this.#captures;
    if (this.#logs === undefined) return [];
    try {
      const finishing = Promise.all(
        [stdout, stderr].map(async (it) => {
          await it?.ended;
          await it?.finish();
        }),
      );
      await waits.within(LOGS_MS, 'completing its logs', finishing);
    } catch (error) {
      return [`its output could not be logged: ${oneLine(error)}`];
    }
    return this.logFault === undefined ? [] : [`its output could not be logged: ${this.logFault.message}`];
  }

  /** Closes logs of an attempt that was not concluded. */
  async discard(waits: Waits): Promise<void> {
    if (this.#logs === undefined) return;
    const open = [this.#logs.stdout, this.#logs.stderr].filter((it) => it.isOpen);
    if (open.length === 0) return;
    const closed = Promise.all(open.map((it) => it.discard()));
    await waits.within(LOGS_MS, 'closing its logs', closed).catch(() => {});
  }

  removeEmptyLogs(): string[] {
    if (this.#logs === undefined) return [];
    return [this.#logs.stdout, this.#logs.stderr].filter((it) => it.removeIfEmpty()).map((it) => it.path);
  }

  lastLines(maxBytes: number): string {
    const { stderr, stdout } = this.#captures;
    const lines = stderr?.lastLines(maxBytes) ?? '';
    return lines === '' ? (stdout?.lastLines(maxBytes) ?? '') : lines;
  }

  get logFault(): Error | undefined {
    return this.#logs?.stderr.fault ?? this.#logs?.stdout.fault;
  }
}
