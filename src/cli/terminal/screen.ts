/** The width of the terminal, and prose that is wrapped at it. */
import stringWidth from 'string-width';

/** Columns of the terminal of a stream; infinite for a pipe or a file, where nothing is cut or wrapped. */
export function widthOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  // A terminal may report no size, or 0: it is as wide as terminals usually are.
  return stream.isTTY === true ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}

const ASCII = /^[ -~]*$/;

/** Columns that a text takes on a terminal, without its colours. */
export const columnsOf = (text: string): number => (ASCII.test(text) ? text.length : stringWidth(text));

/** The text cut to `width` columns, with an ellipsis where it is cut. */
export function cutTo(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  let [shown, used] = ['', 0];
  for (const character of text) {
    const own = columnsOf(character);
    if (used + own > width - 1) break;
    shown += character;
    used += own;
  }
  return `${shown.trimEnd()}…`;
}

/** Wraps a line at words; further lines begin with `hang` spaces after its own indentation. A longer word has a line of its own. */
export function wrap(line: string, width: number, hang = 2): string {
  if (columnsOf(line) <= width) return line;
  const own = /^ */.exec(line)?.[0].length ?? 0;
  const lines: string[] = [];
  let current = ' '.repeat(own);
  let isEmpty = true;
  for (const word of line.trimStart().split(' ')) {
    if (!isEmpty && columnsOf(current) + 1 + columnsOf(word) > width) {
      lines.push(current);
      current = ' '.repeat(own + hang) + word;
    } else current += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, current].join('\n');
}
