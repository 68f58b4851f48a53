/**
 * The rows of adaptive studies whose points are evaluated, by their hash. The index of a study is made from its stored rounds when it is
 * first asked for, and again when it was dropped; it is brought up to the present in small steps.
 */
import type { Uuid } from '../../contract/types.ts';
import { HASH_WORDS, hashRows, PointIndex } from '../../domain/adaptive/point-index.ts';
import type { RowBlock } from '../../domain/adaptive/rows.ts';
import { missingRecord } from '../kernel/actors/actor-kinds.ts';
import type { RecordSource } from '../kernel/actors/directory.ts';
import { readBlocks, readRound } from '../kernel/records/stored-rounds.ts';

/** Rows that are hashed in one step: about a millisecond. */
const STEP_ROWS = 256;
/** Numbers of a block whose reading ends a step. */
const STEP_NUMBERS = 8_192;
/** Different rows of all studies together that stay in memory; a study that needs more has them alone. */
const MAX_POINTS = 4_000_000;

/** The rows of one study, up to a place in one of its rounds. */
export class StudyPoints {
  readonly index = new PointIndex();
  readonly #source: RecordSource;
  readonly #batchId: Uuid;
  readonly #width: number;
  /** Rounds that are in the index. */
  #rounds = 0;
  #nextRun = 0;
  /** The blocks of the round after these, the one whose rows are being added, and the next of them. */
  #blocks: Iterator<RowBlock> | undefined;
  #block: RowBlock | undefined;
  #row = 0;

  constructor(source: RecordSource, batchId: Uuid, width: number) {
    this.#source = source;
    this.#batchId = batchId;
    this.#width = width;
  }

  /** Adds up to `STEP_ROWS` rows. Returns true when the first `rounds` rounds of the study are in the index. */
  advance(rounds: number): boolean {
    for (let left = STEP_ROWS; left > 0 && this.#rounds < rounds;) {
      const block = this.#nextBlock();
      if (block === undefined) {
        this.#blocks = undefined;
        this.#rounds += 1;
        continue;
      }
      const end = Math.min(block.rows, this.#row + left);
      if (block.isLost === true) this.#nextRun += end - this.#row;
      else {
        const words = hashRows(block, this.#row, end);
        for (let at = 0; at < words.length; at += HASH_WORDS) this.index.add(words, at, this.#nextRun++);
      }
      left -= end - this.#row;
      this.#row = end;
      if (end < block.rows) return false;
      this.#row = 0;
      this.#block = undefined;
      // Reading a wide block takes as long as a step.
      if (block.values.length > STEP_NUMBERS) left = 0;
    }
    return this.#rounds >= rounds;
  }

  /** The block whose rows are added next; undefined after the last one of the round. */
  #nextBlock(): RowBlock | undefined {
    if (this.#blocks === undefined) {
      const record = readRound(this.#source, this.#batchId, this.#rounds);
      if (record === undefined) throw missingRecord(`round ${this.#rounds} of study ${this.#batchId}`);
      this.#blocks = readBlocks(this.#source, this.#batchId, record, this.#width);
    }
    this.#block ??= (this.#blocks.next() as IteratorResult<RowBlock, undefined>).value;
    return this.#block;
  }
}

/** The points of the studies that were asked for last. */
export class KnownPoints {
  readonly #source: RecordSource;
  readonly #studies = new Map<Uuid, StudyPoints>();

  constructor(source: RecordSource) {
    this.#source = source;
  }

  /** The points of a study whose rows have `width` numbers. */
  of(batchId: Uuid, width: number): StudyPoints {
    const points = this.#studies.get(batchId) ?? new StudyPoints(this.#source, batchId, width);
    // A Map is in insertion order: the first entry is the least recently used.
    this.#studies.delete(batchId);
    this.#studies.set(batchId, points);
    this.#drop();
    return points;
  }

  #drop(): void {
    let size = 0;
    for (const { index } of this.#studies.values()) size += index.size;
    for (const [batchId, { index }] of this.#studies) {
      if (this.#studies.size === 1 || size <= MAX_POINTS) return;
      size -= index.size;
      this.#studies.delete(batchId);
    }
  }
}
