/** Finds the outputs of studies and their types: reads every result once, and remembers the answer by the version of the study. */
import { MAX_COLUMNS, OUTPUT_KINDS, OutputTypes } from '../../../../analysis/export/output-types.ts';
import type { Uuid } from '../../../../contract/types.ts';
import { ResultReader } from '../records/result.ts';
import { KIND } from '../records/scanner.ts';
import { type NextRows, runBlocks } from '../runs.ts';
import type { Member } from './members.ts';

/** Studies whose types are remembered; each takes up to some 100 bytes an output. */
const MAX_KNOWN = 50;

interface Known {
  version: string;
  types: OutputTypes;
}

export class OutputScan {
  /** In order of use. */
  readonly #known = new Map<Uuid, Known>();

  /**
   * The types of all outputs that the members' runs have reported. With `mayBeOlder`, those of an earlier version will do: results are
   * never changed, so the types of a later version only have more. `restart` begins a reading again.
   */
  async types(
    members: readonly Member[],
    { mayBeOlder, restart }: { mayBeOlder: boolean; restart: (reading: number) => Promise<void> },
  ): Promise<OutputTypes> {
    const all = new OutputTypes();
    for (const { head, next } of members) {
      let known = this.#known.get(head.batchId);
      if (known === undefined || (known.version !== head.version && !mayBeOlder)) {
        known = { version: head.version, types: await scanned(next) };
        await restart(head.reading);
      }
      this.#keep(head.batchId, known);
      all.addAll(known.types);
    }
    return all;
  }

  #keep(batchId: Uuid, known: Known): void {
    this.#known.delete(batchId);
    this.#known.set(batchId, known);
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value as Uuid);
  }
}

async function scanned(next: NextRows): Promise<OutputTypes> {
  const places = new Map<string, number>();
  const results = new ResultReader((output) => {
    // One more than a table may have: such a table is refused.
    if (!places.has(output) && places.size <= MAX_COLUMNS) places.set(output, places.size);
    return places.get(output) ?? -1;
  });
  for await (const block of runBlocks(next, ['result'])) for (const { result } of block) results.read(result!);
  const types = new OutputTypes();
  for (const [output, place] of places) {
    const seen = results.seen(place);
    // The reader asks for a place before it knows whether the member is an object, whose members are the outputs.
    if (seen !== 0) types.addKinds(output, kindsIn(seen));
  }
  return types;
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
