/**
 * A Parquet table in one reading of its batch: a file names its columns at its end, so that outputs may be found while rows are written.
 * Where an output, or a value of another type, appears after some groups were sent, these get its column at the end of the file.
 */
import type { Column } from '../../../../analysis/export/columns.ts';
import { OutputTypes } from '../../../../analysis/export/output-types.ts';
import { ParquetFile } from '../formats/parquet.ts';
import { type Member, rowBlocks } from './members.ts';
import type { TablePlan } from './plan.ts';
import { kindsFor, RowWriter } from './row-writer.ts';

/** Rows whose outputs are found before the first group: most runs of a study have the same ones. */
const PROBED = 100;
/** With more columns all outputs are found before the first byte: a table that is too wide is refused, which later would break it off. */
const MANY_COLUMNS = 1000;

export interface OneReading {
  member: Member;
  planOf: (types: OutputTypes) => TablePlan;
  /** The rows of a group of so many columns. */
  groupRows: (columns: number) => number;
  /** Begins the reading again at a run. */
  restart: (from: number) => Promise<void>;
  /** Finds all outputs in a reading of their own. */
  scan: () => Promise<OutputTypes>;
  /** The study, for the end of the file. */
  describe: (plan: TablePlan) => string;
  /** Takes the types of all outputs. */
  found: (types: OutputTypes) => void;
}

/** The file in pieces of any length. A group is read a second time where outputs appear in it. */
export async function* parquetInOneReading(parts: OneReading): AsyncGenerator<Uint8Array> {
  const { member, restart } = parts;
  const types = new OutputTypes();
  const file = new ParquetFile();
  /** The first run of each group. */
  const starts: number[] = [];
  let plan = parts.planOf(types);
  let from: number | undefined = 0;
  let isProbe = true;
  let isScanned = false;
  while (from !== undefined) {
    const rows = isProbe ? PROBED : parts.groupRows(plan.columns.length);
    const groups = groupsFrom(member, new RowWriter(plan.columns, rows, { findsOutputs: true }), from);
    from = undefined;
    for await (const { writer, start } of groups) {
      writer.addOutputs(types);
      let found = parts.planOf(types);
      const isWide = starts.length === 0 && !isScanned && found.columns.length > MANY_COLUMNS;
      if (isWide) {
        await restart(0);
        types.addAll(await parts.scan());
        found = parts.planOf(types);
        isScanned = true;
      }
      if (isProbe || isWide || !hasSameColumns(found, plan)) {
        [plan, from, isProbe] = [found, start, false];
        break;
      }
      starts.push(start);
      yield file.add(writer.chunk);
    }
    if (from !== undefined) await restart(from);
  }
  for (const [group, start] of starts.entries()) yield* amended(parts, file, { group, start, columns: plan.columns });
  yield file.end(plan.columns, parts.describe(plan));
  parts.found(types);
}

interface WrittenGroup {
  writer: RowWriter;
  /** Its first run. */
  start: number;
}

/** The rows from a run on in groups, each in the memory of the one before. */
async function* groupsFrom(member: Member, writer: RowWriter, from: number): AsyncGenerator<WrittenGroup> {
  const { chunk } = writer;
  chunk.clear();
  let start = from;
  const kinds = kindsFor(chunk.columns);
  for await (const block of rowBlocks([member], kinds, { replicate: member.replicate, runId: from })) {
    for (const row of block) {
      if (chunk.rows === 0) start = row.runId;
      writer.write(row);
      if (!writer.isFull) continue;
      yield { writer, start };
      chunk.clear();
    }
  }
  if (chunk.rows > 0) yield { writer, start };
}

const hasSameColumns = ({ columns }: TablePlan, other: TablePlan): boolean =>
  columns.length === other.columns.length &&
  columns.every(({ name, type }, at) => name === other.columns[at]!.name && type === other.columns[at]!.type);

/** Gives an earlier group the columns that it lacks; reads its rows again where it has values of another type. */
async function* amended(
  { member, restart }: OneReading,
  file: ParquetFile,
  { group, start, columns }: { group: number; start: number; columns: readonly Column[] },
): AsyncGenerator<Uint8Array> {
  const { columns: lacking, isEmpty, rows } = file.lacks(group, columns);
  if (lacking.length === 0) return;
  const writer = new RowWriter(lacking, rows);
  if (!isEmpty) {
    await restart(start);
    // The first group of these is this one.
    for await (const _ of groupsFrom(member, writer, start)) break;
  }
  yield file.amend(group, writer.chunk);
}
