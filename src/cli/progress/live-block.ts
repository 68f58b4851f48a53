/** Lines at the end of a terminal that are drawn over again as they change. */
import { paint, type Tone } from '../terminal/colour.ts';
import { cutTo, widthOf, wrap } from '../terminal/screen.ts';

export interface LiveLine {
  text: string;
  tone?: Tone | undefined;
  /** True for a line that is wrapped at words; other lines are cut at the width of the terminal. */
  isProse?: boolean;
}

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const CLEAR_LINE = '\u001b[2K';
const CLEAR_BELOW = '\u001b[0J';
const upBy = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A`);

/** The cursor stays visible and below the lines: a killed program leaves the terminal as it should be. */
export class LiveBlock {
  readonly #terminal: Terminal;
  #drawn = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws these lines in the place of the former ones. */
  show(lines: readonly LiveLine[]): void {
    // One column less: some terminals move to the next line when the last column is written.
    const width = widthOf(this.#terminal) - 1;
    const drawn = lines
      .flatMap((it) => {
        const parts = it.isProse === true ? wrap(it.text, width).split('\n') : [it.text];
        return parts.map((text) => paint(cutTo(text, width), it.tone, this.#terminal));
      })
      // Lines that have left the screen at its top cannot be drawn again.
      .slice(0, Math.max(1, (this.#terminal.rows ?? 24) - 1));
    const text = drawn.map((line) => `${CLEAR_LINE}${line}\n`).join('');
    this.#terminal.write(`${upBy(this.#drawn)}\r${text}${CLEAR_BELOW}`);
    this.#drawn = drawn.length;
  }

  /** Writes a line above, which stays. */
  say(line: string): void {
    this.#terminal.write(`${upBy(this.#drawn)}\r${CLEAR_BELOW}${wrap(line, widthOf(this.#terminal))}\n`);
    this.#drawn = 0;
  }
}
