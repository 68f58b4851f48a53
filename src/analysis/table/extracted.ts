/** Outputs of the extractions of a study as columns of its own runs, `NAME.output`, for questions about the study. */
import { CLASS_CODES } from './run-class.ts';
import { requireJoinable } from './join.ts';
import { type OutputsToCome, countClasses, runIdOf, runsOf, type RunTable, type TextColumn } from './run-table.ts';
import type { AnsweredStudy } from './answered-study.ts';
import { describedOutputs } from '../../domain/runs/described-outputs.ts';
import { plural } from '../../domain/plural.ts';
import type { Uuid } from '../../contract/types.ts';
import type { Warning } from '../warning.ts';

/** An extraction whose outputs are columns of the batch `of`, as `name.output`. `notes`: the limits of its values, as sentences. */
export interface ExtractedBatch {
  of: Uuid;
  batchId: Uuid;
  name: string;
  notes: readonly string[];
}

type Kept = Pick<AnsweredStudy, 'table' | 'submission'> & { bytes: number };

/** An extraction with the table of its runs. */
export interface ExtractedStudy extends Kept {
  name: string;
  notes: readonly string[];
}

/**
 * The study with the outputs of its extractions, where these have completed a run. An output of the study itself with such a name stays.
 * @throws SimbatchError `answer-too-large`
 */
export function withExtracted<T extends Kept>(study: T, extracted: readonly ExtractedStudy[]): T {
  if (extracted.length === 0) return study;
  requireJoinable([study, ...extracted]);
  const { table, submission } = study;
  const outputs = new Map(table.outputs);
  const texts = new Map(table.texts);
  const booleans = new Set(table.booleans);
  const described = { ...submission.outputs };
  const waiting: OutputsToCome[] = [];
  for (const { name, table: own, submission: asked } of extracted) {
    const places = placesIn(table, own);
    const rowOf = places.map((at) => (own.classes[at] === CLASS_CODES.ok ? at : -1));
    const isFree = (column: string): boolean => !table.outputs.has(column) && !table.texts.has(column);
    const isOpen = Uint8Array.from(places, (at) => (at >= 0 && isOpenAt(own, at) ? 1 : 0));
    if (isOpen.includes(1))
      waiting.push({ isOf: (output) => isFree(output) && isOf(name, own, asked, output), isOpen });
    for (const [output, values] of own.outputs) {
      const column = `${name}.${output}`;
      if (!isFree(column)) continue;
      outputs.set(column, numbersAt(values, rowOf));
      if (own.booleans.has(output)) booleans.add(column);
    }
    for (const [output, column] of own.texts)
      if (isFree(`${name}.${output}`)) texts.set(`${name}.${output}`, textsAt(column, rowOf));
    for (const [output, { units }] of Object.entries(describedOutputs(asked)))
      if (units) described[`${name}.${output}`] ??= { units };
  }
  const toCome = waiting.length === 0 ? {} : { toCome: waiting };
  return {
    ...study,
    table: { ...table, outputs, texts, booleans, ...toCome },
    submission: { ...submission, outputs: described },
  };
}

/** Whether an output of a study is one of the extraction. Those of a program are known when it has completed a run. */
function isOf(name: string, own: RunTable, asked: AnsweredStudy['submission'], output: string): boolean {
  if (!output.startsWith(`${name}.`)) return false;
  const column = output.slice(name.length + 1);
  const derived = asked.config?.derived ?? [];
  if (own.outputs.has(column) || derived.some((it) => it.name === column)) return true;
  return derived.length === 0 && !own.classes.includes(CLASS_CODES.ok);
}

/**
 * The table for a requirement on these outputs: a run whose value the extraction has not computed yet is open. It would be unknown otherwise, which
 * counts against every verdict.
 */
export function openUntilExtracted(table: RunTable, outputs: readonly string[]): RunTable {
  const waiting = (table.toCome ?? []).filter(({ isOf: has }) => outputs.some(has));
  if (waiting.length === 0) return table;
  const isOpen = (row: number): boolean => waiting.some((it) => it.isOpen[row] === 1);
  const classes = table.classes.map((code, row) => (code === CLASS_CODES.ok && isOpen(row) ? CLASS_CODES.open : code));
  return { ...table, classes };
}

/** The place of each run among the runs of an extraction, whose run ids ascend as those of the study do; -1 where it is not one of them. */
function placesIn(table: RunTable, own: RunTable): Int32Array {
  const places = new Int32Array(table.rows).fill(-1);
  const runs = runsOf(own);
  const idAt = (at: number): number => (at < own.rows ? runIdOf(own, at) : (own.absent?.runIdAt?.(at) ?? at));
  for (let row = 0, at = 0; row < table.rows && at < runs; row++) {
    const runId = runIdOf(table, row);
    while (at < runs && idAt(at) < runId) at++;
    if (at < runs && idAt(at) === runId) places[row] = at;
  }
  return places;
}

const isOpenAt = (own: RunTable, at: number): boolean =>
  at < own.rows ? own.classes[at] === CLASS_CODES.open : own.absent?.class === 'open';

const numbersAt = (values: Float64Array, rows: Int32Array): Float64Array =>
  Float64Array.from(rows, (row) => (row < 0 ? Number.NaN : values[row]!));

const textsAt = ({ codes, values }: TextColumn, rows: Int32Array): TextColumn => ({
  values,
  codes: Uint16Array.from(rows, (row) => (row < 0 ? 0 : codes[row]!)),
});

/** The limits of the values of the extractions that a text names, such as an answer as JSON. */
export function extractedWarnings(text: string, extracted: readonly ExtractedStudy[]): Warning[] {
  return extracted.filter(({ name }) => new RegExp(`(?:^|[^\\w-])${name}[.]`).test(text)).flatMap(warningsOf);
}

function warningsOf({ name, notes, table }: ExtractedStudy): Warning[] {
  const { open, ok } = countClasses(table);
  const without = runsOf(table) - open - ok;
  const said = [
    ...(without === 0 ? [] : [`no value of ${plural(without, 'run')}, of which nothing could be computed`]),
    ...(open === 0 ? [] : [`${plural(open, 'run')} of the extraction are not there yet`]),
    ...notes,
  ];
  return said.map((it) => ({ code: 'extracted', message: `${name}: ${it}` }));
}
