/** The rounds of an adaptive study in a manifest: each line of a round is followed by those of its runs, whose rows have the digest of the round. */
import { rowDesign } from '../../domain/adaptive/given-rows.ts';
import { BLOCK_ROWS, RoundHash, type RowShape } from '../../domain/adaptive/rows.ts';
import type { BatchConfig } from '../../contract/types.ts';
import type { ManifestHeader, ManifestRound, ManifestRun } from './lines.ts';

/** The shape of the rows of the study; undefined where the header has none. */
function shapeOf({ configuration }: ManifestHeader): RowShape | undefined {
  const { adaptive, dispersions } = (configuration ?? {}) as Partial<BatchConfig>;
  return adaptive === undefined || dispersions === undefined ? undefined : rowDesign({ dispersions, adaptive });
}

/** Checks the rounds of a manifest, line by line. Each method returns the fault, undefined for none. */
export class RoundLines {
  readonly #shape: RowShape | undefined;
  #open: { round: ManifestRound; rows: Rows } | undefined;
  #rounds = 0;
  #end = 0;

  constructor(header: ManifestHeader) {
    this.#shape = shapeOf(header);
  }

  round(round: ManifestRound): string | undefined {
    if (this.#shape === undefined) return `the study of the header has no rounds`;
    const fault = this.close();
    if (fault !== undefined) return fault;
    if (round.round !== this.#rounds) return `round ${round.round} is where round ${this.#rounds} must be`;
    if (round.first_run_id !== this.#end)
      return `round ${round.round} begins with run ${round.first_run_id}, and the rounds before have ${this.#end} runs`;
    this.#rounds += 1;
    this.#end += round.count;
    this.#open = { round, rows: new Rows(this.#shape) };
    return undefined;
  }

  run(run: ManifestRun): string | undefined {
    if (this.#shape === undefined) return undefined;
    if (this.#open === undefined) {
      return `run ${run.run_id} is before the line of any round: this manifest is of a version that wrote no lines of rounds, or they were left out; write the manifest again from the study`;
    }
    const { round, rows } = this.#open;
    if (run.run_id < round.first_run_id || run.run_id >= this.#end)
      return `run ${run.run_id} is not in round ${round.round}, which has the runs ${round.first_run_id} to ${this.#end - 1}`;
    rows.add(run);
    return undefined;
  }

  /** Ends the last round. A batch that holds a part of the runs of a round cannot show its digest, nor can lost rows. */
  close(): string | undefined {
    if (this.#open === undefined) return undefined;
    const { round, rows } = this.#open;
    // A line of a run has its parameters, of which the normals of its row do not follow to the bit.
    if (this.#shape?.space === 'normal') return undefined;
    if (rows.count < round.count || rows.isLost || rows.digests().includes(round.digest)) return undefined;
    return `the rows of round ${round.round} before this line do not have its digest ${round.digest}`;
  }
}

/** The rows of one round, hashed block by block. */
class Rows {
  readonly #shape: RowShape;
  readonly #plain;
  /** With the draws of the runs: a round has them where any of its rows gives one. */
  readonly #withDraws;
  #values: number[] = [];
  #draws: number[] = [];
  count = 0;
  isLost = false;

  constructor(shape: RowShape) {
    this.#shape = shape;
    this.#plain = new RoundHash(shape);
    this.#withDraws = new RoundHash(shape);
  }

  add({ parameters, draw, minus_zero: minusZero }: ManifestRun): void {
    this.count += 1;
    this.isLost ||= draw === undefined;
    for (const name of this.#shape.names)
      this.#values.push(minusZero?.includes(name) === true ? -0 : (parameters[name] ?? 0));
    this.#draws.push(draw ?? 0);
    if (this.#draws.length === BLOCK_ROWS) this.#flush();
  }

  digests(): string[] {
    this.#flush();
    return [this.#plain.digest(), this.#withDraws.digest()];
  }

  #flush(): void {
    const rows = this.#draws.length;
    const values = new Float64Array(this.#values);
    this.#plain.add({ rows, values });
    this.#withDraws.add({ rows, values, draws: new Int32Array(this.#draws) });
    this.#values = [];
    this.#draws = [];
  }
}
