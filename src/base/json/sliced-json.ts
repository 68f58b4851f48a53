/**
 * Parses a long JSON object in steps: `JSON.parse` holds the thread for 10 ms for each megabyte. Lists that are members of the object, or of an
 * object in it, are parsed in pieces of their items; everything else at once.
 */
import { endOfString } from './json-loss.ts';
import { pointerToken } from './json-pointer.ts';

/** Characters that are parsed in one step. */
const PIECE = 65_536;

/** Where a piece of the text is: its offset, and its pointer; with `index` it is a list of the items of that pointer from there on. */
export interface PiecePlace {
  offset: number;
  pointer: string;
  index?: number;
}
/** Parses a piece of the text that is a JSON value. */
export type ParsePiece = (text: string, place: PiecePlace) => unknown;

/** The text is not a JSON object, or its lists are not lists. */
export class SlicedJsonError extends Error {}

/**
 * Returns the value of a text that is a JSON object.
 * @throws SlicedJsonError, and all that `parse` throws; `twice` is called for a second member of a name and must throw
 */
export async function parseSliced(
  text: string,
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
  readonly #text: string;
  readonly #parse: ParsePiece;
  readonly #pause: () => Promise<void> | undefined;
  readonly #twice: (pointer: string, offset: number) => never;

  constructor(
    text: string,
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
      const code = this.#text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at += 1;
    }
  }

  #expect(character: string): void {
    this.space();
    if (this.#text[this.at] !== character) throw new SlicedJsonError(`"${character}" is missing at ${this.at}`);
    this.at += 1;
  }

  /** Objects are entered to this `depth`. */
  async object(pointer: string, depth: number): Promise<unknown> {
    this.#expect('{');
    const members = new Map<string, unknown>();
    this.space();
    if (this.#text[this.at] === '}') {
      this.at += 1;
      return {};
    }
    for (;;) {
      this.space();
      const from = this.at;
      if (this.#text[from] !== '"') throw new SlicedJsonError(`a name is missing at ${from}`);
      this.at = endOfString(this.#text, from) + 1;
      const name = this.#parse(this.#text.slice(from, this.at), { offset: from, pointer }) as string;
      const here = pointer + pointerToken(name);
      if (members.has(name)) this.#twice(here, from);
      this.#expect(':');
      this.space();
      const next = this.#text[this.at];
      if (next === '[') members.set(name, await this.#list(here));
      else if (next === '{' && depth > 0) members.set(name, await this.object(here, depth - 1));
      else {
        const offset = this.at;
        this.at = this.#endOfValue();
        members.set(name, this.#parse(this.#text.slice(offset, this.at), { offset, pointer: here }));
      }
      this.space();
      if (this.#text[this.at] === '}') break;
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
    if (this.#text[this.at] === ']') {
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
      const isLast = this.#text[this.at] === ']';
      if (!isLast && this.#text[this.at] !== ',') throw new SlicedJsonError(`"," is missing at ${this.at}`);
      this.at += 1;
      if (!isLast && end - from < PIECE) continue;
      const piece = this.#parse(`[${this.#text.slice(from, end)}]`, {
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
      const code = text.charCodeAt(at);
      if (code === 34) at = endOfString(text, at);
      else if (code === 91 || code === 123) depth += 1;
      else if (code === 93 || code === 125) {
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
      } else if (code === 44 && depth === 0) return at;
    }
    return text.length;
  }
}
