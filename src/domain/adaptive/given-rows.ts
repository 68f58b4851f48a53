/**
 * Reads rows as clients send them: every fault with its place, and the numbers packed into blocks. A request may have 10,000 rows, so the
 * work is done in steps.
 */
import { pointerToken } from '../../base/json/json-pointer.ts';
import { distributionEntry } from '../../base/distributions/table.ts';
import { closestMatch } from '../../base/text/closest-match.ts';
import { sortedNames } from '../../base/text/sorted-names.ts';
import { INT32_MAX, LIMITS } from '../../contract/limits.ts';
import type { BatchConfig, DispersionConfig, Fault } from '../../contract/types.ts';
import { SimbatchError } from '../errors.ts';
import { blockRows, type Pause, type RowBlock, type RowShape } from './rows.ts';

/** A chosen name with the bounds of its numbers. */
interface ChosenName {
  name: string;
  lower: number;
  upper: number;
}

/** The part of a study that its rows depend on. */
export interface RowDesign extends RowShape {
  dispersions: Readonly<Record<string, DispersionConfig>>;
  /** The chosen names, sorted. */
  chosen: readonly ChosenName[];
  /** One more than the greatest draw: a table has no number for a greater one. */
  draws: number;
}

/** Rows without a fault. */
export interface GivenRows {
  count: number;
  /** Without draws. */
  blocks: RowBlock[];
  /** The request has columns and not rows: places in it are named so. */
  byColumn: boolean;
}

/** Faults beyond this many are not reported: one wrong column would give thousands. */
const MAX_FAULTS = 20;
/** With more names no similar one is looked for. */
const MAX_SUGGESTED = 200;
/** Numbers that are read in one step. */
const STEP_NUMBERS = 8_192;

/** The design of the rows of an adaptive study. */
export function rowDesign({ dispersions, adaptive }: Pick<BatchConfig, 'dispersions' | 'adaptive'>): RowDesign {
  if (adaptive?.algorithm === 'rare_event')
    return { dispersions, chosen: [], draws: 0, space: 'normal', names: randomNames(dispersions) };
  const chosen: ChosenName[] = [];
  let draws = INT32_MAX + 1;
  for (const name of sortedNames(Object.keys(dispersions))) {
    const { distribution } = dispersions[name]!;
    if (distribution.type === 'chosen') {
      const { lower, upper } = distribution;
      chosen.push({ name, lower: lower ?? -Infinity, upper: upper ?? Infinity });
    } else if (distribution.type === 'table') draws = Math.min(draws, distribution.values.length);
  }
  return { dispersions, chosen, draws, space: 'parameters', names: chosen.map(({ name }) => name) };
}

/** The parameters that are drawn, sorted by UTF-16 code unit: the coordinates of the space of standard normals. */
export const randomNames = (dispersions: Readonly<Record<string, DispersionConfig>>): string[] =>
  sortedNames(Object.keys(dispersions)).filter(
    (name) => distributionEntry(dispersions[name]!.distribution.type)?.argument === 'uniform',
  );

/** Collects faults up to their limit, and ends the reading there. */
export class Faults {
  readonly list: Fault[] = [];

  add(pointer: string, detail: string): void {
    this.list.push({ pointer, detail });
    if (this.list.length >= MAX_FAULTS) this.throwIfAny();
  }

  throwIfAny(): void {
    const [first] = this.list;
    if (first === undefined) return;
    const count = this.list.length === 1 ? 'one fault' : `${this.list.length} faults`;
    const message = `the request has ${count}; the first: ${first.pointer === '' ? 'the body' : first.pointer} ${first.detail}`;
    throw new SimbatchError('invalid-request', message, { faults: this.list });
  }
}

/** Returns the members of a request; adds a fault for each that is not one of `members`. @throws SimbatchError when it is not an object */
export function membersOf(body: unknown, members: readonly string[], faults: Faults): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    faults.add('', 'must be an object');
    faults.throwIfAny();
  }
  const given = body as Record<string, unknown>;
  for (const name of Object.keys(given)) {
    if (members.includes(name)) continue;
    const meant = closestMatch(name, members);
    faults.add(
      pointerToken(name),
      `is not a member of the request${meant === undefined ? '' : `, did you mean "${meant}"?`}`,
    );
  }
  return given;
}

/** Returns the text of a member; null without one. */
export function textOf(given: Record<string, unknown>, member: string, limit: number, faults: Faults): string | null {
  const value = given[member] ?? null;
  if (value === null) return null;
  if (typeof value !== 'string') faults.add(`/${member}`, `must be a text, not ${typeof value}`);
  else if (value.length > limit) faults.add(`/${member}`, `has ${value.length} characters; the limit is ${limit}`);
  else if (!value.isWellFormed()) faults.add(`/${member}`, 'must be valid Unicode, without lone surrogates');
  else return value;
  return null;
}

/** Reads `rows` or `columns` of a request. @throws SimbatchError `invalid-request` with the faults, those found before among them */
export async function readRows(
  given: Readonly<Record<string, unknown>>,
  design: RowDesign,
  faults: Faults,
  pause: Pause,
): Promise<GivenRows> {
  const byColumn = given['columns'] !== undefined;
  if (byColumn === (given['rows'] !== undefined)) {
    faults.add(
      '',
      `has ${byColumn ? 'both' : 'neither'} "rows" ${byColumn ? 'and' : 'nor'} "columns"; give one of them`,
    );
  }
  faults.throwIfAny();
  const blocks = byColumn
    ? await columnBlocks(given['columns'], design, faults, pause)
    : await rowBlocks(given['rows'], design, faults, pause);
  return { count: blocks.reduce((sum, { rows }) => sum + rows, 0), blocks, byColumn };
}

/** A value in the text of a fault. */
export const shown = (value: unknown): string =>
  typeof value === 'number' ? String(value) : value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;

/** Returns empty blocks for so many rows; refuses too many. */
function blocksFor(rows: number, pointer: string, { chosen }: RowDesign, faults: Faults): RowBlock[] {
  if (rows === 0) faults.add(pointer, 'has no row; give at least one');
  if (rows > LIMITS.roundRows) faults.add(pointer, `has ${rows} rows; a round takes up to ${LIMITS.roundRows}`);
  const most = Math.floor(LIMITS.roundBytes / 8 / Math.max(1, chosen.length));
  if (rows > most) faults.add(pointer, `has ${rows} rows of ${chosen.length} numbers; append up to ${most} at a time`);
  faults.throwIfAny();
  const full = blockRows(chosen.length);
  return Array.from({ length: Math.ceil(rows / full) }, (_, index) => {
    const size = Math.min(full, rows - index * full);
    return { rows: size, values: new Float64Array(size * chosen.length) };
  });
}

async function rowBlocks(rows: unknown, design: RowDesign, faults: Faults, pause: Pause): Promise<RowBlock[]> {
  if (!Array.isArray(rows)) {
    faults.add('/rows', `must be a list of rows, not ${shown(rows)}`);
    return [];
  }
  const blocks = blocksFor(rows.length, '/rows', design, faults);
  const { chosen } = design;
  const size = blockRows(chosen.length);
  const step = Math.max(1, Math.floor(STEP_NUMBERS / Math.max(1, chosen.length)));
  for (const [index, row] of (rows as unknown[]).entries()) {
    const later = index % step === step - 1 ? pause() : undefined;
    if (later !== undefined) await later;
    const here = `/rows/${index}`;
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      faults.add(here, `must be an object with the number of each chosen parameter, not ${shown(row)}`);
      continue;
    }
    const { values } = blocks[Math.floor(index / size)]!;
    const offset = (index % size) * chosen.length;
    let found = 0;
    for (const [place, it] of chosen.entries()) {
      const value: unknown = Object.hasOwn(row, it.name) ? (row as Record<string, unknown>)[it.name] : undefined;
      if (value !== undefined) found += 1;
      const fault = numberFault(value, it);
      if (fault === undefined) values[offset + place] = value as number;
      else faults.add(here + pointerToken(it.name), fault);
    }
    if (Object.keys(row).length > found) addUnknown(Object.keys(row), here, design, faults);
  }
  return blocks;
}

async function columnBlocks(given: unknown, design: RowDesign, faults: Faults, pause: Pause): Promise<RowBlock[]> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    faults.add('/columns', `must be an object with a list for each chosen parameter, not ${shown(given)}`);
    return [];
  }
  const { chosen } = design;
  addUnknown(Object.keys(given), '/columns', design, faults);
  const columns: { column: unknown[]; place: number; it: ChosenName }[] = [];
  for (const [place, it] of chosen.entries()) {
    const pointer = `/columns${pointerToken(it.name)}`;
    const column: unknown = Object.hasOwn(given, it.name) ? (given as Record<string, unknown>)[it.name] : undefined;
    if (!Array.isArray(column)) {
      faults.add(
        pointer,
        column === undefined ? 'is missing; every row gives it' : `must be a list, not ${shown(column)}`,
      );
    } else columns.push({ column, place, it });
  }
  const rows = columns[0]?.column.length ?? 0;
  for (const { column, it } of columns) {
    if (column.length !== rows) {
      faults.add(
        `/columns${pointerToken(it.name)}`,
        `has ${column.length} numbers, and "${columns[0]!.it.name}" has ${rows}; give one of each for every row`,
      );
    }
  }
  faults.throwIfAny();
  const blocks = blocksFor(rows, '/columns', design, faults);
  const size = blockRows(chosen.length);
  for (const { column, place, it } of columns) {
    for (let row = 0; row < rows; row++) {
      const later = row % STEP_NUMBERS === STEP_NUMBERS - 1 ? pause() : undefined;
      if (later !== undefined) await later;
      const fault = numberFault(column[row], it);
      if (fault !== undefined) faults.add(`/columns${pointerToken(it.name)}/${row}`, fault);
      else blocks[Math.floor(row / size)]!.values[(row % size) * chosen.length + place] = column[row] as number;
    }
    const later = pause();
    if (later !== undefined) await later;
  }
  return blocks;
}

function numberFault(value: unknown, { lower, upper }: ChosenName): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return value === undefined ? 'is missing; every row gives it' : `must be a finite number, not ${shown(value)}`;
  }
  if (value < lower) return `is ${value}; the lower bound is ${lower}`;
  return value > upper ? `is ${value}; the upper bound is ${upper}` : undefined;
}

/** Adds a fault for each name that is not a chosen one. */
function addUnknown(
  names: readonly string[],
  pointer: string,
  { dispersions, chosen }: RowDesign,
  faults: Faults,
): void {
  const known = new Set(chosen.map(({ name }) => name));
  for (const name of names) {
    if (known.has(name)) continue;
    const here = pointer + pointerToken(name);
    if (Object.hasOwn(dispersions, name)) {
      const { type } = dispersions[name]!.distribution;
      faults.add(here, `is drawn by the study (its distribution is ${type}); leave it out, or make it "chosen"`);
      continue;
    }
    const meant = known.size > MAX_SUGGESTED ? undefined : closestMatch(name, known);
    faults.add(
      here,
      `is not a chosen parameter of the study${meant === undefined ? '' : `, did you mean "${meant}"?`}`,
    );
  }
}
