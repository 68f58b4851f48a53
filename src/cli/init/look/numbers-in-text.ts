/** The numbers of an input file that a program reads, with their places: JSON and YAML by their structure, others line by line. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Place } from '../subject.ts';

export interface PlacedNumber {
  /** The names from the root, sections and groups first. */
  path: readonly string[];
  value: number;
  place: Place;
}

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eEdD][-+]?\d+)?$/;
/** Longer lists of numbers are data. */
const LONGEST_LIST = 12;
const MOST_DEPTH = 32;

const valueOf = (text: string): number => Number(text.replace(/d/i, 'e'));

/** @throws Error for a text that is not YAML */
export function numbersOfYaml(text: string): PlacedNumber[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const [fault] = document.errors;
  if (fault !== undefined) throw new Error(fault.message.split('\n')[0]);
  const found: PlacedNumber[] = [];
  const look = (node: unknown, path: readonly string[]): void => {
    if (path.length > MOST_DEPTH || isAlias(node)) return;
    if (isMap(node))
      for (const { key, value } of node.items) look(value, [...path, isScalar(key) ? String(key.value) : '?']);
    else if (isSeq(node)) {
      if (node.items.length <= LONGEST_LIST) node.items.forEach((item, index) => look(item, [...path, String(index)]));
    } else if (isScalar(node) && typeof node.value === 'number' && NUMBER.test(node.source ?? '')) {
      const { line, col } = lines.linePos(node.range?.[0] ?? 0);
      found.push({ path, value: node.value, place: [line, col, node.source as string] });
    }
  };
  look(document.contents, []);
  return found;
}

/** How comments begin, and how sections and groups are written. */
export interface AssignmentSyntax {
  comment: readonly string[];
  /** The name of a section in its first group. */
  section?: RegExp;
  /** More than one assignment in a line, as in a namelist. */
  several: boolean;
}

/** `name = number` in each line, after `[section]` or `&group`. A line within a quoted text over several lines is not one. */
export function numbersOfAssignments(text: string, { comment, section, several }: AssignmentSyntax): PlacedNumber[] {
  const found: PlacedNumber[] = [];
  let current: string[] = [];
  let quote: string | undefined;
  for (const [index, whole] of text.split('\n').entries()) {
    const marks = whole.match(/"""|'''/g) ?? [];
    const wasQuoted = quote !== undefined;
    for (const mark of marks) quote = quote === undefined ? mark : quote === mark ? undefined : quote;
    if (wasQuoted || quote !== undefined) continue;
    const line = blanked(whole, comment);
    const named = section?.exec(line)?.[1];
    if (named !== undefined) current = [named.trim()];
    const pattern =
      /(^|[\s,;])([A-Za-z_][\w.%-]*(?:\(\d+\))?)\s*[=:]\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eEdD][-+]?\d+)?)\s*(?=$|[,;\s/])/g;
    for (const hit of several ? line.matchAll(pattern) : [pattern.exec(line)]) {
      if (hit === null || (!several && line.slice(0, hit.index).trim() !== '')) continue;
      const [all, , name = '', number = ''] = hit;
      const rest = line.slice(hit.index + all.length);
      // A list of numbers, or a number with something after it, is not an input.
      if (several ? /^\s*,\s*[-+.\d]/.test(rest) || /^\s*[-+*.\d]/.test(rest) : !/^[\s;]*$/.test(rest)) continue;
      const column = hit.index + all.trimEnd().length - number.length + 1;
      found.push({ path: [...current, name], value: valueOf(number), place: [index + 1, column, number] });
    }
  }
  return found;
}

/** The line with comments and quoted texts replaced by blanks, so that columns stay. */
function blanked(line: string, comment: readonly string[]): string {
  let out = '';
  for (let at = 0; at < line.length; at++) {
    const mark = line.charAt(at);
    if (comment.some((it) => line.startsWith(it, at))) return out.padEnd(line.length);
    if (mark === '"' || mark === "'") {
      const end = line.indexOf(mark, at + 1);
      const stop = end === -1 ? line.length : end + 1;
      out += '_'.repeat(stop - at);
      at = stop - 1;
    } else out += mark;
  }
  return out;
}

/** The last of the names where it is the only one of its kind, else all of them. */
export function namesOf(numbers: readonly PlacedNumber[]): string[] {
  const short = (it: PlacedNumber): string => {
    const from = it.path.findLastIndex((name) => !/^\d+$/.test(name));
    return it.path.slice(Math.max(from, 0)).join('_');
  };
  const counts = new Map<string, number>();
  for (const it of numbers) counts.set(short(it), (counts.get(short(it)) ?? 0) + 1);
  return numbers.map((it) => {
    const name = counts.get(short(it)) === 1 ? short(it) : it.path.join('_');
    return name.replaceAll(/[^\w]+/g, '_');
  });
}
