/**
 * Two levels of an axis compared: cells that differ in this axis alone have the same random numbers, so that each sample has a difference.
 * Over the other axes the values of a sample are averaged: cells of a sample depend on each other, samples do not.
 */
import { plural } from '../../domain/plural.ts';
import { type Cells, scenarioText } from '../../domain/scenarios/cells.ts';
import type { Requirement, StudyComparison } from '../../contract/types.ts';
import { FAILED, failingGroups } from '../attribution/failing-groups.ts';
import { comparePairs } from '../compare/compare.ts';
import { pairsSentence } from '../compare/sentence.ts';
import { completedValues } from '../numeric/table-columns.ts';
import { requireShare } from '../request-checks.ts';
import { groupTables, rowsOfCells } from '../table/cell-tables.ts';
import { answerHeader, dependenceWarnings, epistemicWarnings } from '../table/header.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, runIdOf } from '../table/run-table.ts';
import type { Warning } from '../warning.ts';
import { readLevel, requireScenarios } from './levels.ts';

export interface LevelRequest {
  /** As `wind:calm`. */
  level: string;
  /** Another level of the same axis. */
  with: string;
  failing?: string;
  requirements?: readonly Requirement[];
  /** In (0, 1); 0.95 when absent. */
  confidence?: number;
}

/** Differences are those of `with` minus `level`. @throws RangeError for levels that are not two of one axis, or that share no cells */
export function compareLevels(table: RunTable, request: LevelRequest): StudyComparison {
  const { confidence = 0.95, failing, requirements } = request;
  requireShare('confidence', confidence);
  const of = requireScenarios(table.cells, 'a comparison of levels');
  if (table.replicates !== undefined)
    throw new RangeError('levels not compared: the study is read with its replicates; compare levels of one study');
  const [before, after] = [readLevel('level', request.level, of.cells), readLevel('with', request.with, of.cells)];
  const { name: axis, levels } = of.cells.axes[before.axis]!;
  if (after.axis !== before.axis)
    throw new RangeError(
      `with is of the axis ${of.cells.axes[after.axis]!.name} and level of ${axis}; name two levels of one axis`,
    );
  if (after.place === before.place)
    throw new RangeError(`level and with are both ${levels[after.place]}; name two levels`);
  const { pairs, alone } = pairsOf(of.cells, before.axis, before.place, after.place);
  const names = [levels[before.place]!, levels[after.place]!] as const;
  if (pairs.length === 0)
    throw new RangeError(
      `${names[0]} and ${names[1]} of ${axis} share no cells that are not skipped; name other levels`,
    );

  const groups = failingGroups(table, failing, requirements);
  const outputs = [...table.outputs].map(([name, values]) => ({ name, values: completedValues(table, values) }));
  const { samples, sides, incomplete } = bySample(table, rowsOfCells(table, of), pairs, outputs, groups);
  const rows = Uint32Array.from(samples, (_, at) => at);
  const side = (at: 0 | 1) => ({
    runIds: samples,
    terminal: new Uint8Array(samples.length).fill(1),
    groups: sides[at].groups,
    parameters: [],
    outputs: [],
    configuration: null,
  });
  const shared = outputs.map(({ name }, at) => ({
    name,
    before: sides[0].means[at]!,
    after: sides[1].means[at]!,
  }));
  const pairing = { inputs: 0, equal: 0, differing: [], reason: null };
  const found = comparePairs(
    side(0),
    side(1),
    { common: { before: rows, after: rows }, outputs: shared, pairing },
    confidence,
  );
  const [header, other] = headersOf(table, axis, names);
  const cellsText = pairs.length === 1 ? '' : `, averaged over ${pairs.length} pairs of cells`;
  return {
    ...header,
    with: other,
    configuration_changes: [],
    configuration_changes_omitted: 0,
    histories: [],
    ...found,
    levels: { axis, before: names[0], after: names[1], cells: pairs.length, cells_left_out: alone },
    sentence: `${axis}=${names[1]} minus ${axis}=${names[0]}, by sample${cellsText}; ${pairsSentence(found, 'samples', failing === FAILED ? undefined : failing)}`,
    warnings: [
      ...epistemicWarnings(table),
      ...header.warnings,
      ...dependenceWarnings(of.method),
      ...leftOut(alone, incomplete),
      ...found.warnings,
    ],
  };
}

/** The cells of one level with the cell of the other level with the same levels of the other axes, and how many cells have none. */
function pairsOf(cells: Cells, axis: number, before: number, after: number) {
  const others = cells.axes.map(({ name }) => name).filter((_, at) => at !== axis);
  const key = (cell: number): string => scenarioText(cells.scenarioOf(cell, others));
  const all = Array.from({ length: cells.count }, (_, cell) => cell);
  const first = all.filter((cell) => cells.placeOf(cell, axis) === before);
  const second = new Map(
    all.filter((cell) => cells.placeOf(cell, axis) === after).map((cell) => [key(cell), cell] as const),
  );
  const pairs = first.flatMap((cell) => {
    const other = second.get(key(cell));
    return other === undefined ? [] : [[cell, other] as const];
  });
  return { pairs, alone: first.length + second.size - 2 * pairs.length };
}

/** One side of the comparison, by sample. */
interface Side {
  /** Of each output the mean over the cells; NaN where a cell has no value. */
  means: Float64Array[];
  /** 1 where the sample fails in a cell, 0 where it passes in all, else -1. */
  groups: Int8Array;
}

/** The samples whose runs have ended in all cells of the pairs, their values on both sides, and the number of the other ones. */
function bySample(
  table: RunTable,
  rows: readonly Uint32Array[],
  pairs: readonly (readonly [number, number])[],
  outputs: readonly { name: string; values: Float64Array }[],
  groups: Int8Array,
): { samples: Uint32Array; sides: readonly [Side, Side]; incomplete: number } {
  const { cells } = table.cells!;
  const ended = new Map<number, number>();
  for (const cell of pairs.flat())
    for (const row of rows[cell]!) {
      const sample = cells.sampleOf(runIdOf(table, row));
      ended.set(sample, (ended.get(sample) ?? 0) + Number(table.classes[row] !== CLASS_CODES.open));
    }
  const samples = Uint32Array.from(
    [...ended].flatMap(([it, count]) => (count === 2 * pairs.length ? [it] : [])),
  ).sort();
  const places = new Map(Array.from(samples, (sample, place) => [sample, place] as const));
  const side = (at: 0 | 1): Side => {
    const means = outputs.map(() => new Float64Array(samples.length));
    const found = new Int8Array(samples.length);
    for (const pair of pairs)
      for (const row of rows[pair[at]]!) {
        const place = places.get(cells.sampleOf(runIdOf(table, row)));
        if (place === undefined) continue;
        for (const [output, { values }] of outputs.entries()) means[output]![place]! += values[row]! / pairs.length;
        const group = groups[row]!;
        if (group !== 0 && found[place] !== 1) found[place] = group;
      }
    return { means, groups: found };
  };
  return { samples, sides: [side(0), side(1)], incomplete: ended.size - samples.length };
}

function headersOf(table: RunTable, axis: string, names: readonly [string, string]) {
  const headers = new Map<string, ReturnType<typeof answerHeader>>();
  for (const it of groupTables(table, table.cells!, [axis], { outputs: new Set(), parameters: false }))
    headers.set(it.scenario[axis]!, answerHeader(it.table));
  return [headers.get(names[0])!, headers.get(names[1])!] as const;
}

function leftOut(cells: number, samples: number): Warning[] {
  return [
    ...(cells === 0
      ? []
      : [{ code: 'cells-left-out', message: `${plural(cells, 'cell')} that only one of the levels has, left out` }]),
    ...(samples === 0
      ? []
      : [{ code: 'samples-left-out', message: `${plural(samples, 'sample')} not ended in every cell, left out` }]),
  ];
}
