/** Places of outputs for a reader of results, given in the order in which results have them. */
import { MAX_COLUMNS, OUTPUT_KINDS, type OutputTypes } from '../../../../analysis/export/output-types.ts';
import type { ResultReader } from '../records/result.ts';
import { KIND } from '../records/scanner.ts';

/** Gives each output that is not in `places` the next place. */
export function growingPlaces(places: Map<string, number>): (output: string) => number {
  return (output) => {
    // One more than a table may have: such a table is refused.
    if (!places.has(output) && places.size <= MAX_COLUMNS) places.set(output, places.size);
    return places.get(output) ?? -1;
  };
}

/** Adds the outputs that results so far have, and the kinds of their values. */
export function addOutputs(types: OutputTypes, places: ReadonlyMap<string, number>, results: ResultReader): void {
  for (const [output, place] of places) types.addKinds(output, kindsIn(results.seen(place)));
}

const OF_KIND = [
  [KIND.number, OUTPUT_KINDS.number],
  [KIND.true, OUTPUT_KINDS.boolean],
  [KIND.false, OUTPUT_KINDS.boolean],
  [KIND.text, OUTPUT_KINDS.text],
  [KIND.escaped, OUTPUT_KINDS.text],
  [KIND.other, OUTPUT_KINDS.other],
] as const;

const kindsIn = (seen: number): number =>
  OF_KIND.reduce((kinds, [kind, added]) => ((seen & (1 << kind)) === 0 ? kinds : kinds | added), 0);
