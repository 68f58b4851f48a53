/** Finds the outputs of studies and their types: reads every result once, and remembers the answer by the version of the study. */
import { OutputTypes } from '../../../../analysis/export/output-types.ts';
import type { Uuid } from '../../../../contract/types.ts';
import { visitOutputs } from '../../../../domain/runs/outputs.ts';
import { type NextRows, runBlocks } from '../runs.ts';
import type { Member } from './members.ts';

/** Studies whose types are remembered; each takes up to some 100 bytes an output. */
const MAX_KNOWN = 50;

interface Known {
  version: string;
  types: OutputTypes;
}

export class OutputScan {
  /** Scans that are known, the last used at the end. */
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
  const types = new OutputTypes();
  for await (const block of runBlocks(next, ['result']))
    for (const { result } of block) visitOutputs(result!.metadata, types.add);
  return types;
}
