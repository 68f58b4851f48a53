/** Outputs that are text, compared run by run: equal or not. */
import { OTHER_VALUES } from '../table/table-builder.ts';
import type { TextColumn } from '../table/run-table.ts';
import type { Warning } from '../warning.ts';
import { listed } from '../wording.ts';

/** A text output and the pairs in which it differs, as 1; values that the table does not keep apart count as different. */
export interface DifferingText {
  name: string;
  differs: Uint8Array;
  count: number;
}

type Texts = ReadonlyMap<string, TextColumn> | undefined;

/** The text outputs of both batches that differ in at least one pair; `rows` holds the row of each pair. */
export function differingTexts(
  before: Texts,
  after: Texts,
  rows: { before: Uint32Array; after: Uint32Array },
): DifferingText[] {
  const found: DifferingText[] = [];
  for (const [name, earlier] of before ?? []) {
    const later = after?.get(name);
    if (later === undefined) continue;
    /** The code in `earlier` of each code in `later`; -1 for a text that only `later` has. */
    const codes = Int32Array.from(later.values, (text) => earlier.values.indexOf(text));
    const other = earlier.values.indexOf(OTHER_VALUES);
    const differs = Uint8Array.from(rows.before, (row, pair) => {
      const code = earlier.codes[row]!;
      return Number(code !== codes[later.codes[rows.after[pair]!]!]! || code === other);
    });
    const count = differs.reduce((sum, it) => sum + it, 0);
    if (count > 0) found.push({ name, differs, count });
  }
  return found;
}

/** Says which texts differ, since they have no row among the outputs of numbers. */
export function textsDifferWarning(texts: readonly DifferingText[]): Warning[] {
  if (texts.length === 0) return [];
  const message = `outputs of text differ: ${listed(texts.map((it) => `${it.name} in ${it.count} pairs`))}`;
  return [{ code: 'texts-differ', message }];
}
