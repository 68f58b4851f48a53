/**
 * Parses a study from YAML 1.2 or JSON and keeps the position of every member. Misleading text (duplicate members, foreign
 * tags, several documents, multiplying aliases) is rejected here; validation of the study is elsewhere.
 */
import { Composer, isAlias, isMap, isScalar, isSeq, LineCounter, Parser } from 'yaml';
import type { CST, Document, ParsedNode, YAMLError } from 'yaml';

/** One fault of a file, with line and column from 1. */
export interface FileFault {
  line: number;
  column: number;
  /** JSON Pointer into the study; undefined for a fault of the text itself. */
  pointer?: string;
  detail: string;
}

export interface StudyText {
  /** The parsed value; undefined when `faults` is not empty. */
  value: unknown;
  faults: FileFault[];
  /** Returns the position of a member's value, or of its name with `ofName`; for a missing member, of its nearest parent. */
  place(pointer: string, ofName?: boolean): { line: number; column: number };
  /** Returns the source text of a plain scalar, e.g. `1.10` for the number 1.1; otherwise undefined. */
  written(pointer: string): string | undefined;
}

/** Deeper than any study; the recursive composer crashes without an exception beyond some thousand levels. */
const MAX_DEPTH = 64;
/** Most values with aliases expanded: the limit against an "alias bomb". */
const MAX_VALUES = 500_000;
const MAX_FAULTS = 100;
const SEED = '/config/monte_carlo/seed';
const CORE_TAG = /^tag:yaml\.org,2002:(null|bool|int|float|str|map|seq)$/;

/** Never throws for any text. */
export function readStudyText(text: string): StudyText {
  const lines = new LineCounter();
  const at = (offset: number): { line: number; column: number } => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const refuse = (faults: FileFault[]): StudyText => {
    const place = (): { line: number; column: number } => ({ line: 1, column: 1 });
    return { value: undefined, faults, place, written: () => undefined };
  };

  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const deepOffset = tooDeep(tokens);
  if (deepOffset !== undefined)
    return refuse([{ ...at(deepOffset), detail: `is nested deeper than ${MAX_DEPTH} levels` }]);
  // Unique names are checked below: the composer compares each name with each.
  const composer = new Composer({ version: '1.2', schema: 'core', intAsBigInt: true, uniqueKeys: false, merge: false });
  const documents = [...composer.compose(tokens, true, text.length)];
  const document = documents[0];
  if (documents.length > 1) {
    return refuse([{ ...at(documents[1]?.range?.[0] ?? 0), detail: 'starts a second document; a study is one' }]);
  }
  if (document?.contents === null || document?.contents === undefined)
    return refuse([{ line: 1, column: 1, detail: 'the file is empty' }]);
  if (document.errors.length > 0) {
    // A tab causes further faults that are indistinguishable from real ones: only the tabs are reported.
    const tabs = document.errors.filter((error) => error.code === 'TAB_AS_INDENT');
    const reported = tabs.length > 0 ? tabs : document.errors;
    return refuse(reported.slice(0, MAX_FAULTS).map((error) => syntaxFault(error, at)));
  }

  const conversion = new Conversion(document, at);
  const value = conversion.run();
  return {
    value: conversion.faults.length > 0 ? undefined : value,
    faults: conversion.faults,
    place: (pointer, ofName = false) => at(offsetOf(document, pointer, ofName)),
    written: (pointer) => {
      const node = find(document, pointer).node;
      return isScalar(node) && node.type === 'PLAIN' ? node.source : undefined;
    },
  };
}

function syntaxFault(error: YAMLError, at: (offset: number) => { line: number; column: number }): FileFault {
  const place = at(error.pos[0]);
  if (error.code === 'TAB_AS_INDENT') return { ...place, detail: 'is indented with a tab; YAML takes spaces only' };
  const unquoted = /^Plain value cannot start with (?:block scalar indicator|reserved character) (.)/.exec(
    error.message,
  );
  if (error.message.startsWith('Not a YAML token'))
    return { ...place, detail: 'does not belong here; text that begins with > or | needs quotes' };
  return { ...place, detail: unquoted === null ? error.message : `begins with ${unquoted[1]}; put the text in quotes` };
}

/** Returns the offset at which nesting exceeds the limit, without recursion; undefined when it does not. */
function tooDeep(tokens: readonly CST.Token[]): number | undefined {
  type Nested = { offset: number; value?: unknown; items?: readonly { key?: unknown; value?: unknown }[] };
  // Each level is at most two tokens, as a map's value may be a collection inside a pair.
  const pending: [unknown, number][] = tokens.map((token) => [token, 0]);
  while (pending.length > 0) {
    const [token, depth] = pending.pop() as [unknown, number];
    if (typeof token !== 'object' || token === null) continue;
    const { offset, value, items } = token as Nested;
    if (depth > MAX_DEPTH) return offset;
    pending.push([value, depth + 1]);
    for (const item of items ?? []) pending.push([item.key, depth + 1], [item.value, depth + 1]);
  }
  return undefined;
}

/** Converts the document into plain values and collects its faults. */
class Conversion {
  readonly faults: FileFault[] = [];
  readonly #document: Document.Parsed;
  readonly #at: (offset: number) => { line: number; column: number };
  #values = 0;

  constructor(document: Document.Parsed, at: (offset: number) => { line: number; column: number }) {
    this.#document = document;
    this.#at = at;
  }

  run(): unknown {
    return this.#value(this.#document.contents, '', 0);
  }

  #fault(node: unknown, detail: string, pointer?: string): undefined {
    const offset = (node as ParsedNode | null)?.range?.[0] ?? 0;
    if (this.faults.length < MAX_FAULTS)
      this.faults.push({ ...this.#at(offset), ...(pointer === undefined ? {} : { pointer }), detail });
    return undefined;
  }

  #value(node: unknown, pointer: string, depth: number): unknown {
    if (++this.#values > MAX_VALUES) {
      return this.#values === MAX_VALUES + 1
        ? this.#fault(node, `holds more than ${MAX_VALUES} values once its aliases are followed`)
        : undefined;
    }
    if (depth > MAX_DEPTH)
      return this.#fault(node, `is nested deeper than ${MAX_DEPTH} levels once its aliases are followed`);
    const tag = (node as ParsedNode | null)?.tag;
    if (tag !== undefined && !CORE_TAG.test(tag))
      return this.#fault(node, `has the tag ${tag}, which means nothing here`, pointer);
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      if (target === undefined)
        return this.#fault(node, `refers to *${node.source}, but there is no &${node.source} before it`, pointer);
      return this.#value(target, pointer, depth + 1);
    }
    if (isMap(node)) return this.#object(node, pointer, depth);
    if (isSeq(node)) return node.items.map((item, index) => this.#value(item, `${pointer}/${index}`, depth + 1));
    return isScalar(node) ? this.#scalar(node, pointer) : null;
  }

  #object(map: { items: readonly { key: unknown; value: unknown }[] }, pointer: string, depth: number): unknown {
    const members = new Map<string, unknown>();
    for (const { key, value } of map.items) {
      const name = nameOf(key);
      if (name === undefined) {
        this.#fault(key ?? value, 'is not a name: a member needs a plain name', pointer);
        continue;
      }
      const path = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (name === '<<')
        this.#fault(key, 'is a merge key of YAML 1.1; write the members out, or use an alias for a whole value', path);
      else if (members.has(name)) this.#fault(key, `repeats the member ${JSON.stringify(name)}`, path);
      else members.set(name, this.#value(value, path, depth + 1));
    }
    // Object.fromEntries defines members, so that `__proto__` is a name like any other.
    return Object.fromEntries(members);
  }

  #scalar(node: { value: unknown }, pointer: string): unknown {
    const { value } = node;
    if (typeof value !== 'bigint') return value;
    const safe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
    return safe || pointer !== SEED ? Number(value) : value;
  }
}

/** Returns a member's name as written: `1.50` stays `1.50`. */
function nameOf(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  if (typeof key.value === 'string') return key.value;
  return key.source === undefined || key.source === '' ? undefined : key.source;
}

/** Returns the deepest node on the path `pointer`, its key, and whether the path is complete. */
function find(document: Document.Parsed, pointer: string): { node: unknown; key: unknown } {
  let node: unknown = document.contents;
  let key: unknown;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    while (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => nameOf(item.key) === name);
      if (pair === undefined) return { node: undefined, key: key ?? node };
      key = pair.key;
      node = pair.value;
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(name)];
      if (item === undefined) return { node: undefined, key: key ?? node };
      key = undefined;
      node = item;
    } else {
      return { node: undefined, key: key ?? node };
    }
  }
  return { node, key };
}

function offsetOf(document: Document.Parsed, pointer: string, ofName: boolean): number {
  const { node, key } = find(document, pointer);
  const hasOwnText = isScalar(node) || isAlias(node);
  const shown = (ofName || !hasOwnText) && key !== undefined ? key : (node ?? key);
  return (shown as ParsedNode | undefined)?.range?.[0] ?? 0;
}
