/** The rounds of adaptive studies in the analysis worker: their rows in memory, since samplers ask for them run by run. */
import { RecentMap } from '../../../base/recent-map.ts';
import type { RoundRecord, Uuid } from '../../../contract/types.ts';
import { rowDesign } from '../../../domain/adaptive/given-rows.ts';
import {
  decodeBlock,
  type RoundLookup,
  type RowBlock,
  rowAt,
  type RoundHead,
  type RunRow,
} from '../../../domain/adaptive/rows.ts';
import { decodeSubmission } from '../../kernel/records/study-cache.ts';
import type { ReadingHead, StoredRound } from '../row-readings.ts';

/** Studies whose rounds stay in memory. */
const MAX_STUDIES = 8;

/** The rounds of one study, in their order. Rounds never change, so that only new ones are read. */
export class RoundRows implements RoundLookup {
  readonly #width: number;
  readonly heads: RoundHead[] = [];
  /** By round. */
  readonly #blocks: RowBlock[][] = [];

  /** `width`: numbers of a row. */
  constructor(width: number) {
    this.#width = width;
  }

  get count(): number {
    return this.heads.length;
  }

  add({ record, blocks }: StoredRound): void {
    const { round, first_run_id, count, key, digest, previous } = JSON.parse(record) as RoundRecord;
    this.heads.push({ round, first_run_id, count, key, digest, previous });
    this.#blocks.push(blocks.map((it) => decodeBlock(it, this.#width)));
  }

  /** @throws RangeError for a run of no round */
  roundOf(run: number): number {
    let [least, greatest] = [0, this.heads.length - 1];
    while (least < greatest) {
      const middle = (least + greatest + 1) >> 1;
      if (this.heads[middle]!.first_run_id <= run) least = middle;
      else greatest = middle - 1;
    }
    const it = this.heads[least];
    if (it !== undefined && run >= it.first_run_id && run < it.first_run_id + it.count) return least;
    throw new RangeError(`run ${run} is in no round of the study`);
  }

  readonly rowOf = (run: number): RunRow | undefined => {
    const round = this.roundOf(run);
    const row = run - this.heads[round]!.first_run_id;
    const blocks = this.#blocks[round]!;
    const { rows } = blocks[0]!;
    return rowAt(blocks[Math.floor(row / rows)]!, row % rows, this.#width, run);
  };
}

/** The rounds of the studies that were asked about last. */
export class RoundCache {
  readonly #read: (request: { reading: number; from: number }) => Promise<StoredRound[]>;
  readonly #studies = new RecentMap<Uuid, RoundRows>(MAX_STUDIES);

  /** `read`: the rounds of a reading from a number on; none after the last one. */
  constructor(read: (request: { reading: number; from: number }) => Promise<StoredRound[]>) {
    this.#read = read;
  }

  /** The head of a reading with the rounds of its study, where it is adaptive. */
  async withRounds<H extends ReadingHead>(head: H): Promise<H> {
    // Decoding the submission of every study for this would cost more than the search.
    if (!head.submission.includes('"adaptive"')) return head;
    const { config } = decodeSubmission(head.submission).submission;
    if (config.adaptive === undefined) return head;
    let rounds = this.#studies.get(head.batchId);
    if (rounds === undefined) {
      rounds = new RoundRows(rowDesign(config).names.length);
      this.#studies.set(head.batchId, rounds);
    }
    for (;;) {
      const from = rounds.count;
      const read = await this.#read({ reading: head.reading, from });
      if (read.length === 0) return { ...head, rounds };
      // Another reading may have added some of them meanwhile.
      for (const round of read.slice(rounds.count - from)) rounds.add(round);
    }
  }
}
