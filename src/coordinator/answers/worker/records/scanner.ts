/**
 * Reads the members of stored records straight from their bytes: places of values, without an object for each record. The records of a
 * study have the same names in the same order, so a name is found by comparing it with its successor in the record before.
 */
import type { RecordBytes } from './chunk.ts';

/** The kinds of values. `text` has neither escapes nor characters beyond ASCII, `escaped` may; `other` is a list or an object. */
export const KIND = { absent: 0, number: 1, true: 2, false: 3, text: 4, escaped: 5, null: 6, other: 7 } as const;

/** The members of objects at one place of a record. */
export interface Level {
  /** The slot for values of this member; -1 where they are not wanted. */
  slotOf(name: string): number;
  /** The level of a member's object; undefined where an object is a single value. */
  levelOf(name: string): Level | undefined;
}

/** A level of wanted names with their slots. */
export class NamedLevel implements Level {
  readonly #slots: ReadonlyMap<string, number>;
  readonly #levels: ReadonlyMap<string, Level>;

  constructor(slots: Readonly<Record<string, number>>, levels: Readonly<Record<string, Level>> = {}) {
    this.#slots = new Map(Object.entries(slots));
    this.#levels = new Map(Object.entries(levels));
  }

  slotOf(name: string): number {
    return this.#slots.get(name) ?? -1;
  }

  levelOf(name: string): Level | undefined {
    return this.#levels.get(name);
  }
}

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const DIGIT_0 = 48;
const DIGIT_9 = 57;
const COLON = 58;
const LIST_OPEN = 91;
const BACKSLASH = 92;
const LIST_CLOSE = 93;
const LETTER_F = 102;
const LETTER_N = 110;
const LETTER_T = 116;
const OPEN = 123;
const CLOSE = 125;
const SPACE = 32;
const MAX_ASCII = 127;

/** Known names beyond this number are looked up each time: a study may name its outputs by its runs. */
const MAX_ENTRIES = 20_000;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A member of a level. */
interface Entry {
  /** The name as in a record: with quotes and colon. */
  raw: Uint8Array;
  name: string;
  slot: number;
  node: Node | undefined;
  /** The member that followed it in the latest record. */
  next: Entry | undefined;
}

interface Node {
  level: Level;
  entries: Map<string, Entry>;
  first: Entry | undefined;
}

/** The record is not as `JSON.stringify` writes: it is parsed and written anew. */
class NotCompact extends Error {}

const nodeOf = (level: Level): Node => ({ level, entries: new Map(), first: undefined });

export class RecordScanner {
  /** The bytes that `starts` and `ends` are places of. */
  bytes: Uint8Array = new Uint8Array();
  /** Of the latest record, by slot: the kind of the value, and its first byte and the one after its last. A text has its quotes. */
  kinds: Uint8Array;
  starts: Int32Array;
  ends: Int32Array;
  /** Of all records so far, by slot: bit n for kind n. */
  seen: Uint8Array;
  readonly #root: Node;
  #entries = 0;

  constructor(level: Level, slots = 0) {
    this.#root = nodeOf(level);
    this.kinds = new Uint8Array(slots);
    this.starts = new Int32Array(slots);
    this.ends = new Int32Array(slots);
    this.seen = new Uint8Array(slots);
  }

  /** Reads a record. Of several values for one slot the last counts. @throws SyntaxError where it is not JSON */
  read(record: RecordBytes): void {
    this.kinds.fill(KIND.absent);
    this.bytes = record.chunk.bytes;
    try {
      if (this.#object(this.#root, record.start) === record.end) return;
    } catch (error) {
      if (!(error instanceof NotCompact)) throw error;
    }
    this.kinds.fill(KIND.absent);
    this.bytes = encoder.encode(JSON.stringify(JSON.parse(record.text)));
    this.#object(this.#root, 0);
  }

  /** The text of a value as it is in the record. */
  raw(slot: number): string {
    return decoder.decode(this.bytes.subarray(this.starts[slot], this.ends[slot]));
  }

  #object(node: Node, from: number): number {
    const { bytes } = this;
    if (bytes[from] !== OPEN) throw new NotCompact();
    if (bytes[from + 1] === CLOSE) return from + 2;
    let at = from + 1;
    let previous: Entry | undefined;
    for (;;) {
      const expected: Entry | undefined = previous === undefined ? node.first : previous.next;
      let entry = expected;
      if (entry === undefined || !isAt(bytes, at, entry.raw)) {
        entry = this.#entry(node, at);
        if (previous === undefined) node.first = entry;
        else previous.next = entry;
      }
      at = this.#value(node, entry, at + entry.raw.length);
      previous = entry;
      const separator = bytes[at++];
      if (separator === CLOSE) return at;
      if (separator !== COMMA) throw new NotCompact();
    }
  }

  /** The member whose name is at this place. */
  #entry(node: Node, at: number): Entry {
    const { bytes } = this;
    if (bytes[at] !== QUOTE) throw new NotCompact();
    const end = stringEnd(bytes, at);
    if (bytes[end] !== COLON) throw new NotCompact();
    const name = JSON.parse(decoder.decode(bytes.subarray(at, end))) as string;
    const known = node.entries.get(name);
    const raw = bytes.slice(at, end + 1);
    if (known !== undefined && known.raw.length === raw.length) return known;
    const entry: Entry = { raw, name, slot: this.#slot(node.level, name), node: undefined, next: undefined };
    if (this.#entries < MAX_ENTRIES) {
      node.entries.set(name, entry);
      this.#entries++;
    }
    return entry;
  }

  #slot(level: Level, name: string): number {
    const slot = level.slotOf(name);
    if (slot < this.kinds.length) return slot;
    const size = Math.max(16, slot * 2);
    const { kinds, starts, ends, seen } = this;
    this.kinds = new Uint8Array(size);
    this.starts = new Int32Array(size);
    this.ends = new Int32Array(size);
    this.kinds.set(kinds);
    this.starts.set(starts);
    this.ends.set(ends);
    this.seen = new Uint8Array(size);
    this.seen.set(seen);
    return slot;
  }

  #value(node: Node, entry: Entry, start: number): number {
    const { bytes } = this;
    const first = bytes[start]!;
    let end: number;
    let kind: number;
    if (first === QUOTE) {
      end = start + 1;
      kind = KIND.text;
      for (let code = bytes[end]!; code !== QUOTE; code = bytes[end]!) {
        // Also past the end of the bytes, where there is no code.
        if (!(code >= SPACE)) throw new NotCompact();
        if (code > MAX_ASCII || code === BACKSLASH) kind = KIND.escaped;
        end += code === BACKSLASH ? 2 : 1;
      }
      end++;
    } else if (first === OPEN) {
      const level = entry.node?.level ?? node.level.levelOf(entry.name);
      if (level !== undefined) {
        entry.node ??= nodeOf(level);
        return this.#object(entry.node, start);
      }
      end = nestedEnd(bytes, start);
      kind = KIND.other;
    } else if (first === LIST_OPEN) {
      end = nestedEnd(bytes, start);
      kind = KIND.other;
    } else if (first === LETTER_T || first === LETTER_N) {
      end = start + 4;
      kind = first === LETTER_T ? KIND.true : KIND.null;
    } else if (first === LETTER_F) {
      end = start + 5;
      kind = KIND.false;
    } else {
      if (first !== MINUS && !(first >= DIGIT_0 && first <= DIGIT_9)) throw new NotCompact();
      end = start + 1;
      kind = KIND.number;
      for (let code = bytes[end]!; code !== COMMA && code !== CLOSE; code = bytes[end]!) {
        if (!(code > SPACE)) throw new NotCompact();
        end++;
      }
    }
    const { slot } = entry;
    if (slot >= 0) {
      this.kinds[slot] = kind;
      this.starts[slot] = start;
      this.ends[slot] = end;
      this.seen[slot]! |= 1 << kind;
    }
    return end;
  }
}

function isAt(bytes: Uint8Array, at: number, raw: Uint8Array): boolean {
  // From the end: names that follow each other often begin alike.
  for (let index = raw.length - 1; index >= 0; index--) if (bytes[at + index] !== raw[index]) return false;
  return true;
}

/** The place after the string that begins at this one. */
function stringEnd(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  for (let code = bytes[at]!; code !== QUOTE; code = bytes[at]!) {
    if (!(code >= SPACE)) throw new NotCompact();
    at += code === BACKSLASH ? 2 : 1;
  }
  return at + 1;
}

/** The place after the list or object that begins at this one. */
function nestedEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  let depth = 0;
  do {
    const code = bytes[at]!;
    if (code === QUOTE) {
      at = stringEnd(bytes, at);
      continue;
    }
    if (!(code > SPACE)) throw new NotCompact();
    if (code === OPEN || code === LIST_OPEN) depth++;
    else if (code === CLOSE || code === LIST_CLOSE) depth--;
    at++;
  } while (depth > 0);
  return at;
}
