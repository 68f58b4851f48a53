/** The whole screen of a terminal: entered and left in order, with the key that ends it. */
import { columnsOf } from './screen.ts';

/** The other screen, without a cursor; and back. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_TO_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[0J';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export class Screen {
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WriteStream;
  readonly #end = new AbortController();
  readonly #onKey = (keys: Buffer): void => {
    // Ctrl-C is a key here: the terminal gives every key to the program.
    if (/[qQ\u0003\u001b]/.test(keys.toString())) this.#end.abort();
  };
  readonly #onSignal = (): void => this.#end.abort();

  /** Enters the screen; `close` has to be called, whatever happens. */
  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream) {
    this.#input = input;
    this.#output = output;
    input.setRawMode(true);
    input.resume();
    input.on('data', this.#onKey);
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    output.write(ENTER);
  }

  /** Aborted when the person has pressed q, Escape or Ctrl-C, or a signal came. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  /** Draws the lines from the top; those that have no room are left out, which the last line says. */
  show(lines: readonly string[]): void {
    const rows = this.#output.rows || 24;
    const hidden = lines.length - (rows - 1);
    const shown =
      hidden > 0 ? [...lines.slice(0, rows - 2), `… ${hidden + 1} more lines: make the terminal higher`] : lines;
    const text = shown.map((line) => `${fitted(line, this.columns)}${CLEAR_TO_END}`).join('\r\n');
    this.#output.write(`${HOME}${text}\r\n${CLEAR_BELOW}`);
  }

  close(): void {
    this.#input.off('data', this.#onKey);
    this.#input.setRawMode(false);
    this.#input.pause();
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    this.#output.write(LEAVE);
  }
}

/** A line that is too long loses its end; colours are kept, as they take no column. */
function fitted(line: string, width: number): string {
  if (columnsOf(line) <= width) return line;
  let shown = line;
  while (columnsOf(shown) > width) shown = shown.slice(0, -1);
  return `${shown}\u001b[0m`;
}
