/** Reads the runner's YAML file into given values that know their line and column. Which values are fit is not judged here. */
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Node } from 'yaml';
import { SimbatchError } from '../../domain/errors.ts';
import type { Given } from './values.ts';

const LARGEST_BYTES = 1 << 20;

/**
 * The file's fields by name. `fault` is called for what is wrong with the file as such, with `file:line:column`.
 * @throws SimbatchError `invalid-configuration` when the file cannot be read.
 */
export function readConfigFile(path: string, fault: (message: string) => void): Map<string, Given> {
  const lines = new LineCounter();
  const document = parseDocument(readText(path), { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${String(line)}:${String(col)}`;
  };
  const fields = new Map<string, Given>();
  for (const error of document.errors) fault(`${place(error.pos[0])}: ${error.message.split('\n', 1)[0] ?? ''}`);
  if (document.errors.length > 0 || document.contents === null) return fields;
  if (!isMap(document.contents)) {
    fault(`${place(startOf(document.contents))}: the file must be a list of "field: value" lines`);
    return fields;
  }
  for (const { key, value } of document.contents.items) {
    if (!isScalar(key) || typeof key.value !== 'string') {
      fault(`${place(startOf(key))}: a field's name must be a text`);
      continue;
    }
    // Only `resources` takes names with values; the others say what they take.
    const node = isScalar(value) || isSeq(value) || (isMap(value) && key.value === 'resources') ? value : undefined;
    const where = place(startOf(key));
    if (value === null || (isScalar(value) && value.value === null)) {
      fault(`${where}: ${key.value} has no value; give one or remove the line`);
    } else if (node === undefined) {
      fault(`${where}: ${key.value} must be a single value or a list`);
    } else {
      fields.set(key.value, { value: plain(node), where: place(startOf(node)), base: dirname(path) });
    }
  }
  return fields;
}

function readText(path: string): string {
  try {
    if (statSync(path).size > LARGEST_BYTES) throw new Error('it is larger than 1 MiB');
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SimbatchError('invalid-configuration', `--config ${path} cannot be read: ${why}`, { cause: error });
  }
}

function plain(node: Node): unknown {
  if (isScalar(node)) return node.value;
  if (isMap(node)) {
    const pairs = node.items.map(({ key, value }) => [
      String(plain(key as Node)),
      isScalar(value) ? value.value : undefined,
    ]);
    return Object.fromEntries(pairs);
  }
  // Anything but a scalar inside a list is left as undefined, which no list accepts.
  return isSeq(node) ? node.items.map((item) => (isScalar(item) ? item.value : undefined)) : undefined;
}

function startOf(node: unknown): number {
  return isScalar(node) || isMap(node) || isSeq(node) ? (node.range?.[0] ?? 0) : 0;
}
