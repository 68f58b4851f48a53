/**
 * Parses a long JSON object in steps: `JSON.parse` holds the thread for 10 ms for each megabyte. Lists that are members of the object, or of an
 * object in it, are parsed in pieces of their items; everything else at once. The text stays bytes until a piece is parsed: a string of 50 MB alone
 * holds the thread for 30 ms or more.
 */
import { pointerToken } from './json-pointer.ts';

const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [91, 93, 123, 125];
/** Bytes that are parsed in one step. */
const PIECE = 65_536;

/** Where a piece of the text is: its offset in bytes, and its pointer; with `index` it is a list of the items of that pointer from there on. */
export interface PiecePlace {
  offset: number;
  pointer: string;
  index?: number;
}
/** Parses a piece of the text that is a JSON value; with `index` the items of a list without its brackets. */
export type ParsePiece = (piece: Buffer, place: PiecePlace) => unknown;

/** The text is not a JSON object, or its lists are not lists. */
export class SlicedJsonError extends Error {}

/**
 * Returns the value of a text in UTF-8 that is a JSON object.
 * @throws SlicedJsonError, and all that `parse` throws; `twice` is called for a second member of a name and must throw
 */
export async function parseSliced(
  text: Buffer,
  parse: ParsePiece,
  pause: () => Promise<void> | undefined,
  twice: (pointer: string, offset: number) => never,
): Promise<unknown> {
  const reader = new Reader(text, parse, pause, twice);
  const value = await reader.object('', 1);
  reader.space();
  if (reader.at < text.length) throw new SlicedJsonError('text follows the object');
  return value;
}

class Reader {
  at = 0;
  readonly #text: Buffer;
  readonly #parse: ParsePiece;
  readonly #pause: () => Promise<void> | undefined;
  readonly #twice: (pointer: string, offset: number) => never;

  constructor(
    text: Buffer,
    parse: ParsePiece,
    pause: () => Promise<void> | undefined,
    twice: (pointer: string, offset: number) => never,
  ) {
    this.#text = text;
    this.#parse = parse;
    this.#pause = pause;
    this.#twice = twice;
  }

  space(): void {
    for (;;) {
      const code = this.#text[this.at];
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at += 1;
    }
  }

  #expect(character: string): void {
    this.space();
    if (this.#text[this.at] !== character.charCodeAt(0))
      throw new SlicedJsonError(`"${character}" is missing at ${this.at}`);
    this.at += 1;
  }

  /** Objects are entered to this `depth`. */
  async object(pointer: string, depth: number): Promise<unknown> {
    this.#expect('{');
    const members = new Map<string, unknown>();
    this.space();
    if (this.#text[this.at] === CLOSE_BRACE) {
      this.at += 1;
      return {};
    }
    for (;;) {
      this.space();
      const from = this.at;
      if (this.#text[from] !== QUOTE) throw new SlicedJsonError(`a name is missing at ${from}`);
      this.at = this.#endOfString(from) + 1;
      const name = this.#parse(this.#text.subarray(from, this.at), { offset: from, pointer }) as string;
      const here = pointer + pointerToken(name);
      if (members.has(name)) this.#twice(here, from);
      this.#expect(':');
      this.space();
      const next = this.#text[this.at];
      if (next === OPEN_BRACKET) members.set(name, await this.#list(here));
      else if (next === OPEN_BRACE && depth > 0) members.set(name, await this.object(here, depth - 1));
      else {
        const offset = this.at;
        this.at = this.#endOfValue();
        members.set(name, this.#parse(this.#text.subarray(offset, this.at), { offset, pointer: here }));
      }
      this.space();
      if (this.#text[this.at] === CLOSE_BRACE) break;
      this.#expect(',');
    }
    this.at += 1;
    // Each name becomes a member of its own, `__proto__` too.
    return Object.fromEntries(members);
  }

  async #list(pointer: string): Promise<unknown[]> {
    this.#expect('[');
    const items: unknown[] = [];
    this.space();
    if (this.#text[this.at] === CLOSE_BRACKET) {
      this.at += 1;
      return items;
    }
    let from = this.at;
    for (;;) {
      this.space();
      if (this.at === this.#text.length) throw new SlicedJsonError('a list has no end');
      this.at = this.#endOfValue();
      const end = this.at;
      this.space();
      const isLast = this.#text[this.at] === CLOSE_BRACKET;
      if (!isLast && this.#text[this.at] !== COMMA) throw new SlicedJsonError(`"," is missing at ${this.at}`);
      this.at += 1;
      if (!isLast && end - from < PIECE) continue;
      const piece = this.#parse(this.#text.subarray(from, end), {
        offset: from,
        pointer,
        index: items.length,
      }) as unknown[];
      for (const item of piece) items.push(item);
      if (isLast) return items;
      from = this.at;
      const later = this.#pause();
      if (later !== undefined) await later;
    }
  }

  /** The place after the value at hand, which need not be valid. */
  #endOfValue(): number {
    const text = this.#text;
    let depth = 0;
    for (let at = this.at; at < text.length; at++) {
      const code = text[at];
      if (code === QUOTE) at = this.#endOfString(at);
      else if (code === OPEN_BRACKET || code === OPEN_BRACE) depth += 1;
      else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) {
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
      } else if (code === COMMA && depth === 0) return at;
    }
    return text.length;
  }

  /** The place of the quote that ends the string which begins at `from`; the end of the text where there is none. */
  #endOfString(from: number): number {
    const text = this.#text;
    for (let at = from + 1; ; at += 1) {
      at = text.indexOf(QUOTE, at);
      if (at < 0) return text.length;
      let first = at;
      while (text[first - 1] === BACKSLASH) first -= 1;
      if ((at - first) % 2 === 0) return at;
    }
  }
}
