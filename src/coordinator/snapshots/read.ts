/**
 * Reads a snapshot file of any known format. An export in its original layout is read line by line, so that its size does
 * not matter; any other layout is read whole. Refuses a file that is damaged, truncated or newer.
 */
import { isJsonObject } from '../../base/json/json-object.ts';
import type { RecordName } from '../../contract/records/records.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { headFaults, recordFaults } from './check.ts';
import { RECORD_NAMES, SNAPSHOT_FORMAT, splitKey, type Snapshot, type SnapshotRecord } from './format.ts';

/** The longest document or line. V8 allows no string above 512 MiB. */
const MAX_TEXT = 256 * 1024 * 1024;
/** The end of the first line of a document that can be read line by line. */
const RECORDS_BEGIN = '"records":[';

type Document = Record<string, unknown>;

/** Upgrades from one format to the next; a file of format n needs all from n on. */
type Upgrade = { head(head: Document): Document; record(record: SnapshotRecord): SnapshotRecord };
const UPGRADES: ReadonlyMap<number, Upgrade> = new Map();

export const unusable = (why: string, cause?: unknown): SimbatchError =>
  new SimbatchError('snapshot-unusable', `the snapshot cannot be used: ${why}`, { cause });

/** The JSON document of a file, and its records, which are not checked yet. */
export interface SnapshotDocument {
  head: Document;
  records: () => AsyncIterable<SnapshotRecord> | Iterable<SnapshotRecord>;
}

/** The formats that are known, and the upgrades to the latest. */
interface Formats {
  format?: number;
  upgrades?: ReadonlyMap<number, Upgrade>;
}

/**
 * Opens a snapshot, given its text in pieces of any size.
 * @throws SimbatchError `snapshot-unusable` or `snapshot-newer`; the records of the result throw the former
 */
export async function readSnapshot(pieces: AsyncIterable<string>, options: Formats = {}): Promise<Snapshot> {
  return snapshotOf(await readDocument(pieces), options);
}

/** @throws SimbatchError `snapshot-unusable` for a text that is not a JSON object */
export async function readDocument(pieces: AsyncIterable<string>): Promise<SnapshotDocument> {
  const lines = linesOf(pieces);
  const first = (await lines.next()).value ?? '';
  if (first.endsWith(RECORDS_BEGIN)) return { head: parsed(`${first}]}`), records: () => streamedRecords(lines) };
  const head = parsed(await rest(first, lines));
  return { head, records: () => listedRecords(head['records']) };
}

/** See `readSnapshot`. */
export function snapshotOf({ head, records }: SnapshotDocument, options: Formats = {}): Snapshot {
  const { format: known = SNAPSHOT_FORMAT, upgrades = UPGRADES } = options;
  const format = head['format'];
  if (typeof format !== 'number' || !Number.isInteger(format) || format < 1) {
    throw unusable(`"format" is ${JSON.stringify(format) ?? 'missing'}; it must be a whole number from 1`);
  }
  if (format > known) {
    throw new SimbatchError(
      'snapshot-newer',
      `the snapshot has format ${format}, this program knows up to ${known}; use a newer simbatch`,
    );
  }
  const needed: Upgrade[] = [];
  for (let version = format; version < known; version += 1) {
    const upgrade = upgrades.get(version);
    if (upgrade === undefined) throw unusable(`this program cannot upgrade its format ${version} to ${version + 1}`);
    needed.push(upgrade);
  }
  const upgraded = needed.reduce((document, it) => it.head(document), head);
  return checkedHead({ ...upgraded, format: known }, upgradedRecords(records(), needed));
}

function checkedHead(head: Document, records: AsyncIterable<SnapshotRecord>): Snapshot {
  switch (head['kind']) {
    case 'scenario': {
      const faults = headFaults('scenario', head);
      if (faults.length > 0) throw unusable(faults.join('; '));
      return head as unknown as Snapshot;
    }
    case 'study':
    case 'export': {
      const faults = headFaults(head['kind'], head);
      if (faults.length > 0) throw unusable(faults.join('; '));
      return { ...head, records } as unknown as Snapshot;
    }
    default:
      throw unusable(`"kind" is ${JSON.stringify(head['kind']) ?? 'missing'}; it must be scenario, study or export`);
  }
}

async function* upgradedRecords(
  records: AsyncIterable<SnapshotRecord> | Iterable<SnapshotRecord>,
  upgrades: readonly Upgrade[],
): AsyncGenerator<SnapshotRecord> {
  for await (const record of records) yield checked(upgrades.reduce((it, upgrade) => upgrade.record(it), record));
}

function checked(record: SnapshotRecord): SnapshotRecord {
  const { key, value } = (record ?? {}) as Partial<SnapshotRecord>;
  if (typeof key !== 'string' || typeof value !== 'object' || value === null) {
    throw unusable(`a record has no key or no value: ${JSON.stringify(record).slice(0, 100)}`);
  }
  const { name, id } = splitKey(key);
  if (!RECORD_NAMES.includes(name as RecordName) || id === '') {
    throw unusable(`"${key.slice(0, 100)}" is not the key of a known kind of record`);
  }
  const faults = recordFaults(name as RecordName, id, value);
  if (faults.length > 0) throw unusable(`${key}: ${faults.join('; ')}`);
  return record;
}

function* listedRecords(records: unknown): Generator<SnapshotRecord> {
  if (!Array.isArray(records)) throw unusable('"records" is missing');
  yield* records as SnapshotRecord[];
}

/** One record a line, with a comma after each but the last; then `]}`. */
async function* streamedRecords(lines: AsyncIterable<string>): AsyncGenerator<SnapshotRecord> {
  let number = 1;
  let ended = false;
  for await (const line of lines) {
    number += 1;
    if (ended) {
      if (line.trim() !== '') throw unusable(`it has data after its end, in line ${number}`);
    } else if (line === ']}') ended = true;
    else yield parsed(line.endsWith(',') ? line.slice(0, -1) : line, `line ${number}`) as unknown as SnapshotRecord;
  }
  if (!ended) throw unusable(`it is truncated after line ${number}`);
}

function parsed(text: string, where = 'the document'): Document {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw unusable(`${where} is not valid JSON (${why})`, error);
  }
  if (isJsonObject(value)) return value;
  throw unusable(`${where} is not a JSON object`);
}

async function rest(first: string, lines: AsyncIterable<string>): Promise<string> {
  const parts = [first];
  let length = first.length;
  for await (const line of lines) {
    length += line.length + 1;
    if (length > MAX_TEXT) {
      throw unusable(`it is longer than ${MAX_TEXT / 2 ** 20} MiB and not in the layout in which it was exported`);
    }
    parts.push(line);
  }
  return parts.join('\n');
}

async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let begun: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', from)) {
      yield begun.join('') + piece.slice(from, piece[at - 1] === '\r' ? at - 1 : at);
      begun = [];
      length = 0;
      from = at + 1;
    }
    length += piece.length - from;
    if (length > MAX_TEXT) throw unusable(`a line of it is longer than ${MAX_TEXT / 2 ** 20} MiB`);
    if (from < piece.length) begun.push(piece.slice(from));
  }
  if (begun.length > 0) yield begun.join('');
  return undefined;
}
