/** Compares two batches: paired where their runs have common random numbers, else as two samples. */
import { type NumericColumn, takeRows } from '../numeric/columns.ts';
import { holm } from '../numeric/holm.ts';
import type { TextColumn } from '../table/run-table.ts';
import type { Warning } from '../warning.ts';
import { listed } from '../wording.ts';
import type { Comparison, PairedComparison, UnpairedComparison } from './answer.ts';
import { configurationChanges } from './configuration-changes.ts';
import { flips, pairedOutput } from './paired.ts';
import { type PairedSide, type Pairing, pairingOf } from './pairing.ts';
import { type DifferingText, differingTexts, textsDifferWarning } from './texts.ts';
import { pairedSentence, unpairedSentence } from './sentence.ts';
import { passingDifference, unpairedOutput } from './unpaired.ts';

/** One batch as columns over its runs in ascending run id. */
export interface ComparedBatch {
  runIds: Uint32Array;
  /** 1 where the run is terminal. */
  terminal: Uint8Array;
  /** 1 failing, 0 passing, -1 neither (cancelled, lost, open). */
  groups: Int8Array;
  parameters: readonly NumericColumn[];
  outputs: readonly NumericColumn[];
  /** Outputs that are text, by name; of runs that are not completed they do not count. */
  texts?: ReadonlyMap<string, TextColumn>;
  /** How the runs were drawn, where it is known. */
  drawn?: Pick<PairedSide, 'design' | 'fixed'>;
  /** The configuration as JSON. */
  configuration: unknown;
}

/**
 * Compares `after` with `before`; differences are after minus before, p-values are adjusted over outputs by Holm.
 * `pairing.ts` decides whether they are paired, on the runs that are terminal in both.
 */
export function compare(before: ComparedBatch, after: ComparedBatch, confidence = 0.95): Comparison {
  const { changes, omitted } = configurationChanges(before.configuration, after.configuration);
  const configuration = { configuration_changes: changes, configuration_changes_omitted: omitted };
  const common = commonRows(before, after);
  const { outputs, warnings } = commonOutputs(before, after);
  const [sideBefore, sideAfter] = [sideOf(before, common.before), sideOf(after, common.after)];
  const pairing = pairingOf(sideBefore, sideAfter);
  const answer =
    pairing.reason === null
      ? comparePairs(before, after, { common, outputs, pairing }, confidence)
      : compareSamples(before, after, { outputs, pairing }, confidence);
  return { ...configuration, ...answer, warnings: [...warnings, ...answer.warnings] };
}

/** Rows of the runs that are terminal in both batches: the parameters of an open run are not known. */
interface CommonRows {
  before: Uint32Array;
  after: Uint32Array;
}

/** A merge of two ascending lists of run ids. */
function commonRows(before: ComparedBatch, after: ComparedBatch): CommonRows {
  const most = Math.min(before.runIds.length, after.runIds.length);
  const rows = { before: new Uint32Array(most), after: new Uint32Array(most) };
  let count = 0;
  for (let i = 0, j = 0; i < before.runIds.length && j < after.runIds.length;) {
    const [left, right] = [before.runIds[i]!, after.runIds[j]!];
    if (left === right && before.terminal[i] === 1 && after.terminal[j] === 1) {
      rows.before[count] = i;
      rows.after[count++] = j;
    }
    if (left <= right) i++;
    if (right <= left) j++;
  }
  return { before: rows.before.slice(0, count), after: rows.after.slice(0, count) };
}

type ColumnsByName = ReadonlyMap<string, Float64Array>;
const byName = (columns: readonly NumericColumn[]): ColumnsByName => new Map(columns.map((it) => [it.name, it.values]));

const sideOf = ({ parameters, drawn }: ComparedBatch, rows: Uint32Array): PairedSide => ({
  ...drawn,
  inputs: parameters,
  rows,
});

/** An output that both batches have. */
interface CommonOutput {
  name: string;
  before: Float64Array;
  after: Float64Array;
}

function commonOutputs(before: ComparedBatch, after: ComparedBatch): { outputs: CommonOutput[]; warnings: Warning[] } {
  const [first, second] = [byName(before.outputs), byName(after.outputs)];
  const outputs = before.outputs.flatMap(({ name, values }) => {
    const other = second.get(name);
    return other === undefined ? [] : [{ name, before: values, after: other }];
  });
  const gone = [...first.keys()].filter((name) => !second.has(name));
  const added = [...second.keys()].filter((name) => !first.has(name));
  const parts = [
    ...(gone.length > 0 ? [`only in the first study: ${listed(gone)}`] : []),
    ...(added.length > 0 ? [`only in the second study: ${listed(added)}`] : []),
  ];
  const message = `outputs not compared, ${parts.join('; ')}`;
  return { outputs, warnings: parts.length === 0 ? [] : [{ code: 'outputs-differ', message }] };
}

type Answer<T> = Omit<T, 'configuration_changes' | 'configuration_changes_omitted'>;

/** The figures of pairs. `common`: the rows of each pair on both sides. */
export function comparePairs(
  before: ComparedBatch,
  after: ComparedBatch,
  { common, outputs: shared, pairing }: { common: CommonRows; outputs: readonly CommonOutput[]; pairing: Pairing },
  confidence: number,
): Answer<PairedComparison> {
  const runIds = Uint32Array.from(common.before, (row) => before.runIds[row]!);
  const columns = shared.map((it) => ({
    name: it.name,
    before: takeRows(it.before, common.before),
    after: takeRows(it.after, common.after),
  }));
  const figures = columns.map((it) => pairedOutput(it.name, runIds, it.before, it.after, confidence));
  const adjusted = holm(figures.map((it) => it.wilcoxon_p));
  const outputs = figures.map((it, i) => ({ ...it, p_holm: adjusted[i]! }));
  const texts = differingTexts(before.texts, after.texts, common);
  const answer = {
    paired: true as const,
    pairing,
    pairs: runIds.length,
    identical_runs: countIdentical(columns, runIds.length, texts),
    flips: flips(runIds, groupsOf(before, common.before), groupsOf(after, common.after)),
    outputs,
    warnings: [
      ...textsDifferWarning(texts),
      ...fewDifferences(figures.filter((it) => it.wilcoxon_p !== null && it.pairs - it.identical < FEW)),
    ],
  };
  return { ...answer, sentence: pairedSentence(answer) };
}

const groupsOf = (batch: ComparedBatch, rows: Uint32Array): Int8Array =>
  Int8Array.from(rows, (row) => batch.groups[row]!);

/** Pairs that have an output and in which no output differs in a bit, nor is missing on one side only. */
function countIdentical(
  columns: readonly { before: Float64Array; after: Float64Array }[],
  pairs: number,
  texts: readonly DifferingText[],
): number {
  let identical = 0;
  for (let pair = 0; pair < pairs; pair++) {
    const hasOutput = columns.some((it) => !Number.isNaN(it.before[pair]));
    const isSameText = texts.every((it) => it.differs[pair] === 0);
    if (hasOutput && isSameText && columns.every((it) => Object.is(it.before[pair], it.after[pair]))) identical++;
  }
  return identical;
}

/** With fewer differences than this, the normal approximation of the signed ranks is rough. */
const FEW = 10;

function fewDifferences(outputs: readonly { name: string }[]): Warning[] {
  if (outputs.length === 0) return [];
  const message = `fewer than ${FEW} pairs differ, so wilcoxon_p is rough: ${listed(outputs.map((it) => it.name))}`;
  return [{ code: 'few-differences', message }];
}

function compareSamples(
  before: ComparedBatch,
  after: ComparedBatch,
  { outputs: shared, pairing }: { outputs: readonly CommonOutput[]; pairing: Pairing },
  confidence: number,
): Answer<UnpairedComparison> {
  const figures = shared.map((it) => unpairedOutput(it.name, it.before, it.after, confidence));
  const adjusted = holm(figures.map((it) => it.mann_whitney_p));
  const answer = {
    paired: false as const,
    pairing,
    passing: passingDifference(before.groups, after.groups, confidence),
    outputs: figures.map((it, i) => ({ ...it, p_holm: adjusted[i]! })),
    warnings: [],
  };
  return { ...answer, sentence: unpairedSentence(answer, confidence) };
}
