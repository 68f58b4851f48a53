/**
 * Checks the records of the rounds of one study in their order: numbers and runs without gaps, rows that match their digest, and the chain of
 * hashes from the submission on. A loss that a repair has marked is reported as such, and the check continues after it.
 */
import type { RoundRecord, RowsRecord } from '../../../contract/types.ts';
import { decodeBlock, RoundHash, type RowShape } from '../../../domain/adaptive/rows.ts';
import { recordDigest, rowsOfBlocks } from './stored-rounds.ts';

/** Receives a fault; `isMarked`: a repair has marked the loss, which is not a fault of the directory. */
type ReportFault = (fault: string, isMarked?: true) => void;

export class RoundChain {
  readonly #shape: RowShape;
  readonly #report: ReportFault;
  /** The digest that the next record must name; undefined: any. */
  #previous: string | undefined;
  #head: string | undefined;
  #open:
    { record: RoundRecord; hash: RoundHash; size: number; blocks: number; rows: number; lostRows: number } | undefined;
  rounds = 0;
  runs = 0;

  /** `start`: the digest of the submission; undefined for a study that came of another one. */
  constructor(shape: RowShape, start: string | undefined, report: ReportFault) {
    this.#shape = shape;
    this.#previous = start;
    this.#report = report;
  }

  /** The digest of the last record; undefined before one. */
  get head(): string | undefined {
    return this.#head;
  }

  /** True while further blocks of the round follow. */
  get expectsBlock(): boolean {
    return this.#open !== undefined && this.#open.rows < this.#open.record.count;
  }

  /** Takes the record of the next round; its blocks follow. */
  round(text: string): void {
    this.#close();
    const record = JSON.parse(text) as RoundRecord;
    const { round, first_run_id: first, count, previous } = record;
    if (round !== this.rounds) this.#report(`round ${round} follows round ${this.rounds - 1}`);
    if (first !== this.runs)
      this.#report(`round ${round} begins with run ${first}, and the runs before end at ${this.runs - 1}`);
    const isLost = record.lost === true;
    if (isLost) this.#report(`the record of round ${round} was lost by damage, and a repair has made another`, true);
    else if (this.#previous !== undefined && previous !== this.#previous) {
      this.#report(`round ${round} names another record before it: the chain is broken`);
    }
    // The round after a lost record names that one.
    this.#previous = isLost ? undefined : recordDigest(text);
    this.#head = recordDigest(text);
    this.rounds = round + 1;
    this.runs = first + count;
    this.#open = { record, hash: new RoundHash(this.#shape), size: 0, blocks: 0, rows: 0, lostRows: 0 };
  }

  /** Takes the next block of the round; undefined where its record is missing. */
  block(text: string | undefined): void {
    const open = this.#open;
    if (open === undefined) {
      this.#report('a block of rows follows no round');
      return;
    }
    const { round } = open.record;
    if (open.blocks === 0) open.size = rowsOfBlocks(text, this.#shape.names.length);
    const size = Math.min(open.size, open.record.count - open.rows);
    open.blocks += 1;
    open.rows += size;
    if (text === undefined) {
      this.#report(`block ${open.blocks - 1} of round ${round} is missing`);
      return;
    }
    try {
      if ((JSON.parse(text) as RowsRecord).rows !== size) throw new RangeError(`it must have ${size} rows`);
      const block = decodeBlock(text, this.#shape.names.length);
      if (block.isLost === true) open.lostRows += size;
      else open.hash.add(block);
    } catch (error) {
      this.#report(`block ${open.blocks - 1} of round ${round} cannot be read: ${(error as Error).message}`);
    }
  }

  /** Ends the check of the last round. */
  finish(): void {
    this.#close();
  }

  #close(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { round, count, digest, first_run_id: first } = open.record;
    if (open.rows !== count) this.#report(`round ${round} has ${open.rows} of its ${count} rows`);
    else if (open.lostRows > 0) {
      this.#report(`${open.lostRows} of the ${count} rows of round ${round} were lost by damage`, true);
    } else if (open.hash.digest() !== digest) {
      this.#report(`the rows of round ${round} (runs ${first} to ${first + count - 1}) do not match their digest`);
    }
  }
}
