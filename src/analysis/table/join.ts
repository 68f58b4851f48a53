/** Joins the tables of a family of batches: one row for each run of each replicate. */
import type { CommonParts } from '../../domain/runs/failure-groups.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { CLASS_CODES } from './run-class.ts';
import { type RunTable, type TerminationRule, type TextColumn, runIdOf } from './run-table.ts';

/** Most bytes of the columns of a family with their copy, and the bytes for each row that joining takes. */
const MAX_JOINED_BYTES = 1024 * 1024 * 1024;
const JOINED_ROW_BYTES = 64;
const mib = (bytes: number): string => String(Math.ceil(bytes / 2 ** 20));

/** The joined columns are a copy, made by a list of the rows of all members. @throws SimbatchError `answer-too-large` */
export function requireJoinable(members: readonly { bytes: number; table: Pick<RunTable, 'rows'> }[]): void {
  const bytes = members.reduce((sum, it) => sum + 2 * it.bytes + JOINED_ROW_BYTES * it.table.rows, 0);
  if (bytes <= MAX_JOINED_BYTES) return;
  throw new SimbatchError(
    'answer-too-large',
    `the runs of the family are not pooled: this takes ${mib(bytes)} MiB, more than ${mib(MAX_JOINED_BYTES)}; ask about each study without \`family\``,
  );
}

/** A batch of a family. */
export interface FamilyTable {
  table: RunTable;
  /** The randomisation of the design whose runs it holds. */
  replicate: number;
}

/** A row of a member, by the member's place. */
interface Source {
  member: number;
  row: number;
}

/**
 * The runs of all members in ascending order of (replicate, run id), under the id of one batch. Where several members have a run, the last
 * one in which it is terminal counts, or else the last one: members come oldest first. All share one method.
 */
export function joinTables(batchId: string, members: readonly FamilyTable[]): RunTable {
  const tables = members.map((it) => it.table);
  const sources = chosenRows(members);
  const rows = sources.length;
  const replicates = Uint16Array.from(sources, ({ member }) => members[member]!.replicate);
  const rules = tables.flatMap((it) => it.rules.slice(1));
  /** The places of each member's rules in `rules`, less one. */
  const offsets = tables.map((_, at) => tables.slice(0, at).reduce((sum, it) => sum + it.rules.length - 1, 0));
  const flags = (of: (table: RunTable) => Uint8Array | undefined): Uint8Array | undefined =>
    tables.some((it) => of(it) !== undefined)
      ? Uint8Array.from(sources, ({ member, row }) => of(tables[member]!)?.[row] ?? 0)
      : undefined;
  const telemetryLost = flags((it) => it.telemetryLost);
  const wouldTerminate = flags((it) => it.wouldTerminate);
  const reused = flags((it) => it.reused);
  return {
    batchId,
    method: tables[0]!.method,
    rows,
    runIds: Uint32Array.from(sources, ({ member, row }) => runIdOf(tables[member]!, row)),
    ...(replicates[0] === replicates.at(-1) ? {} : { replicates }),
    ...(tables[0]!.replicateRuns === undefined ? {} : { replicateRuns: tables[0]!.replicateRuns }),
    ...(tables[0]!.cells === undefined ? {} : { cells: tables[0]!.cells }),
    batches: batchColumn(tables, sources),
    classes: Uint8Array.from(sources, ({ member, row }) => tables[member]!.classes[row]!),
    ...(telemetryLost === undefined ? {} : { telemetryLost }),
    ...(wouldTerminate === undefined ? {} : { wouldTerminate }),
    ...(reused === undefined ? {} : { reused }),
    parameters: numberColumns(tables, sources, (it) => it.parameters),
    outputs: numberColumns(tables, sources, (it) => it.outputs),
    booleans: booleansOf(tables),
    texts: new Map(
      namesOf(tables, (it) => it.texts).map((name) => [name, textColumn(sources, (at) => tables[at]!.texts.get(name))]),
    ),
    executionSecs: Float64Array.from(sources, ({ member, row }) => tables[member]!.executionSecs[row]!),
    patterns: textColumn(sources, (at) => tables[at]!.patterns),
    commonParts: commonPartsOf(tables),
    ruleCodes: Uint16Array.from(sources, ({ member, row }) => {
      const code = tables[member]!.ruleCodes[row]!;
      return code === 0 ? 0 : code + offsets[member]!;
    }),
    rules: [undefined, ...rules] satisfies (TerminationRule | undefined)[],
    omittedOutputs: [...new Set(tables.flatMap((it) => it.omittedOutputs))],
  };
}

const KEY_STEP = 2 ** 31;

function chosenRows(members: readonly FamilyTable[]): Source[] {
  const chosen = new Map<number, Source>();
  const isTerminal = ({ member, row }: Source): boolean => members[member]!.table.classes[row] !== CLASS_CODES.open;
  members.forEach(({ table, replicate }, member) => {
    for (let row = 0; row < table.rows; row++) {
      const key = replicate * KEY_STEP + runIdOf(table, row);
      const known = chosen.get(key);
      const source = { member, row };
      if (known === undefined || isTerminal(source) || !isTerminal(known)) chosen.set(key, source);
    }
  });
  return [...chosen].sort(([a], [b]) => a - b).map(([, source]) => source);
}

const namesOf = (tables: readonly RunTable[], of: (table: RunTable) => ReadonlyMap<string, unknown>): string[] => [
  ...new Set(tables.flatMap((it) => [...of(it).keys()])),
];

const booleansOf = (tables: readonly RunTable[]): Set<string> =>
  new Set(
    tables
      .flatMap((it) => [...it.booleans])
      .filter((name) => tables.every((it) => it.booleans.has(name) || !it.outputs.has(name))),
  );

function numberColumns(
  tables: readonly RunTable[],
  sources: readonly Source[],
  of: (table: RunTable) => ReadonlyMap<string, Float64Array>,
): Map<string, Float64Array> {
  return new Map(
    namesOf(tables, of).map((name) => {
      const columns = tables.map((it) => of(it).get(name));
      return [name, Float64Array.from(sources, ({ member, row }) => columns[member]?.[row] ?? Number.NaN)];
    }),
  );
}

/** A text column of all members with one dictionary. */
function textColumn(sources: readonly Source[], of: (member: number) => TextColumn | undefined): TextColumn {
  const codes = new Map<string, number>([['', 0]]);
  const column = Uint16Array.from(sources, ({ member, row }) => {
    const own = of(member);
    const text = own === undefined ? '' : own.values[own.codes[row]!]!;
    let code = codes.get(text);
    if (code === undefined) codes.set(text, (code = codes.size));
    return code;
  });
  return { codes: column, values: [...codes.keys()] };
}

/** The common parts of the messages of all runs of the members, also of runs that another member replaces. */
function commonPartsOf(tables: readonly RunTable[]): Map<string, CommonParts> {
  const all = new Map<string, CommonParts>();
  for (const [pattern, parts] of tables.flatMap((it) => [...it.commonParts])) {
    const known = all.get(pattern);
    all.set(pattern, known === undefined ? parts : known.with(parts));
  }
  return all;
}

function batchColumn(tables: readonly RunTable[], sources: readonly Source[]): TextColumn {
  return { values: ['', ...tables.map((it) => it.batchId)], codes: Uint16Array.from(sources, (it) => it.member + 1) };
}
