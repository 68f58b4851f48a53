/** The runs of each cell of a study with scenarios as a table of its own: the runs of a cell are a sample as those of any study. */
import type { BatchConfig, Scenario } from '../../contract/types.ts';
import { type Cells, cellsOf } from '../../domain/scenarios/cells.ts';
import { type DesignMethod, methodOfCell } from '../../domain/study/design-method.ts';
import { type RunTable, type TableCells, type TextColumn, runIdOf, statisticRows } from './run-table.ts';

/** The scenarios of the table of a study; undefined where it has none. */
export function tableCells(config: BatchConfig): TableCells | undefined {
  const cells = cellsOf(config);
  return cells === undefined
    ? undefined
    : { cells, epistemic: Object.keys(config.epistemic ?? {}), method: methodOfCell(config) };
}

/** Which columns of a table are taken; the parameters are where none is named. */
interface Taken {
  /** Names of outputs; absent: all. */
  outputs?: ReadonlySet<string>;
  /** False: the parameters are left out. */
  parameters?: boolean;
}

/** The rows of each cell, in their order; of a study that stopped by itself those up to the stop. */
export function rowsOfCells(table: RunTable, { cells }: TableCells): Uint32Array[] {
  const counts = new Uint32Array(cells.count);
  const used = statisticRows(table);
  for (let row = 0; row < used; row++) counts[cells.cellOf(runIdOf(table, row))]!++;
  const rows = Array.from(counts, (count) => new Uint32Array(count));
  counts.fill(0);
  for (let row = 0; row < used; row++) {
    const cell = cells.cellOf(runIdOf(table, row));
    rows[cell]![counts[cell]!++] = row;
  }
  return rows;
}

/** How many runs after the rows each cell has. */
function absentOfCells(table: RunTable, { cells }: TableCells): Uint32Array {
  const absent = new Uint32Array(cells.count);
  if (table.settledRows !== undefined) return absent;
  const { runs = 0, runIdAt } = table.absent ?? {};
  // In the order of runs the cells take turns.
  const first = runIdAt === undefined ? table.rows : undefined;
  for (let cell = 0; first !== undefined && cell < cells.count; cell++) {
    const offset = (cell - (first % cells.count) + cells.count) % cells.count;
    absent[cell] = Math.max(0, Math.ceil((runs - offset) / cells.count));
  }
  for (let at = 0; first === undefined && at < runs; at++) absent[cells.cellOf(runIdAt!(table.rows + at))]!++;
  return absent;
}

/** The tables of all cells, one after the other, so that memory is that of one. */
export function* cellTables(table: RunTable, of: TableCells, taken: Taken = {}): Generator<RunTable> {
  const rows = rowsOfCells(table, of);
  const absent = absentOfCells(table, of);
  for (const [cell, its] of rows.entries()) yield tableOfRows(table, its, absent[cell]!, of.method, taken);
}

/** The runs of the cells that have the same levels of some axes. */
export interface CellGroup {
  scenario: Scenario;
  /** How many cells these are. */
  cells: number;
  /** Their runs are a sample where it is one cell. */
  table: RunTable;
}

/** Groups the cells by their levels of these axes, in the order of the first cell of each. */
export function groupCells(cells: Cells, by: readonly string[]): { scenario: Scenario; cells: number[] }[] {
  const groups = new Map<string, { scenario: Scenario; cells: number[] }>();
  for (let cell = 0; cell < cells.count; cell++) {
    const scenario = cells.scenarioOf(cell, by);
    const key = JSON.stringify(scenario);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { scenario, cells: [cell] });
    else group.cells.push(cell);
  }
  return [...groups.values()];
}

/** The tables of the groups of cells, one after the other. */
export function* groupTables(
  table: RunTable,
  of: TableCells,
  by: readonly string[],
  taken: Taken = {},
): Generator<CellGroup> {
  const rows = rowsOfCells(table, of);
  const absent = absentOfCells(table, of);
  for (const { scenario, cells } of groupCells(of.cells, by)) {
    const all = new Uint32Array(cells.reduce((sum, cell) => sum + rows[cell]!.length, 0));
    let end = 0;
    for (const cell of cells) {
      all.set(rows[cell]!, end);
      end += rows[cell]!.length;
    }
    all.sort();
    const missing = cells.reduce((sum, cell) => sum + absent[cell]!, 0);
    const method = cells.length === 1 ? of.method : table.method;
    yield { scenario, cells: cells.length, table: tableOfRows(table, all, missing, method, taken) };
  }
}

/** @throws RangeError for an axis that the study does not have, or that is named twice */
export function requireAxes(of: TableCells | undefined, by: readonly string[]): TableCells {
  if (of === undefined) throw new RangeError('by has no meaning for a study without scenarios; leave it out');
  const names = of.cells.axes.map(({ name }) => name);
  const unknown = by.find((it) => !names.includes(it));
  if (unknown !== undefined)
    throw new RangeError(`by names "${unknown}", which is not an axis of the study; name one of ${names.join(', ')}`);
  const twice = by.find((it, at) => by.indexOf(it) !== at);
  if (twice !== undefined) throw new RangeError(`by names "${twice}" twice; name it once`);
  return of;
}

function tableOfRows(
  table: RunTable,
  rows: Uint32Array,
  absentRuns: number,
  method: DesignMethod,
  { outputs, parameters = true }: Taken,
): RunTable {
  const isTaken = (name: string): boolean => outputs === undefined || outputs.has(name);
  const numbers = (values: Float64Array): Float64Array => Float64Array.from(rows, (row) => values[row]!);
  const flags = (values: Uint8Array): Uint8Array => Uint8Array.from(rows, (row) => values[row]!);
  const texts = ({ codes, values }: TextColumn): TextColumn => ({
    codes: Uint16Array.from(rows, (row) => codes[row]!),
    values,
  });
  const columns = <T>(from: ReadonlyMap<string, T>, take: (column: T) => T): Map<string, T> =>
    new Map([...from].flatMap(([name, it]) => (isTaken(name) ? [[name, take(it)] as const] : [])));
  const { cells: _, absent, settledRows: __, stoppedBy: ___, toCome: ____, ...rest } = table;
  return {
    ...rest,
    method,
    rows: rows.length,
    ...(absent === undefined || absentRuns === 0 ? {} : { absent: { runs: absentRuns, class: absent.class } }),
    runIds: Uint32Array.from(rows, (row) => runIdOf(table, row)),
    ...(table.replicates === undefined ? {} : { replicates: Uint16Array.from(rows, (row) => table.replicates![row]!) }),
    ...(table.batches === undefined ? {} : { batches: texts(table.batches) }),
    classes: flags(table.classes),
    ...(table.telemetryLost === undefined ? {} : { telemetryLost: flags(table.telemetryLost) }),
    ...(table.wouldTerminate === undefined ? {} : { wouldTerminate: flags(table.wouldTerminate) }),
    ...(table.reused === undefined ? {} : { reused: flags(table.reused) }),
    parameters: parameters ? new Map([...table.parameters].map(([name, it]) => [name, numbers(it)])) : new Map(),
    outputs: columns(table.outputs, numbers),
    texts: columns(table.texts, texts),
    executionSecs: numbers(table.executionSecs),
    patterns: texts(table.patterns),
    ruleCodes: Uint16Array.from(rows, (row) => table.ruleCodes[row]!),
  };
}

/** The level of each row by axis, as columns of texts; none of a study without scenarios. */
export function axisColumns(table: RunTable): Map<string, TextColumn & { kind: 'text' }> {
  const { cells } = table.cells ?? {};
  const column = (axis: number, levels: readonly string[]): TextColumn & { kind: 'text' } => ({
    kind: 'text',
    codes: Uint16Array.from(
      { length: table.rows },
      (_, row) => 1 + cells!.placeOf(cells!.cellOf(runIdOf(table, row)), axis),
    ),
    values: ['', ...levels],
  });
  return new Map((cells?.axes ?? []).map(({ name, levels }, axis) => [name, column(axis, levels)]));
}
