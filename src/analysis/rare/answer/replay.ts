/**
 * A study of rare events, computed again from its stored rounds and the results of its runs. Stored rows are authoritative: rows that are computed
 * again and differ in their last digits, as by another version of Node, are noted and not used.
 */
import { rareSettings, type RareSource } from '../../../domain/study/rare-event/settings.ts';
import { randomNames } from '../../../domain/adaptive/given-rows.ts';
import type { RoundLookup } from '../../../domain/adaptive/rows.ts';
import { seedToDecimal } from '../../../domain/seed.ts';
import { RareDraws } from '../draws.ts';
import { RareStudy } from '../study.ts';

/** The greatest difference between stored rows and those that were computed again, relative from 1 on. */
export interface RowDifference {
  largest: number;
  /** The first number that differs by more than 1e-9. */
  first?: { round: number; run: number };
}

const TOLERANCE = 1e-9;

export class RareReplay {
  readonly study: RareStudy;
  readonly names: readonly string[];
  readonly difference: RowDifference = { largest: 0 };
  /** A stored round has other runs than the computed one: nothing after it can be computed. */
  isBroken = false;

  constructor({ submission, seed }: RareSource) {
    this.names = randomNames(submission.config.dispersions);
    this.study = new RareStudy(rareSettings(submission), new RareDraws(this.names, seedToDecimal(seed)));
  }

  /** Takes every round of which all runs have a score, and every extension. `scoreOf`: undefined for an open run. */
  advance(
    { rounds, extensions = [] }: Pick<RareSource, 'rounds' | 'extensions'>,
    scoreOf: (run: number) => number | undefined,
  ): void {
    for (;;) {
      this.#extend(extensions);
      const { rounds: number } = this.study.taken;
      const head = rounds.heads[number];
      if (head === undefined || this.isBroken) return;
      const scores = scoresOf(head.first_run_id, head.count, scoreOf);
      if (scores.length < head.count) return;
      const next = this.study.next();
      if (next === undefined || next.firstRun !== head.first_run_id || next.count !== head.count) {
        this.isBroken = true;
        return;
      }
      this.study.take(this.#storedRows(rounds, number), scores);
    }
  }

  /** Each extension belongs to an end: it was made when the study had ended so. */
  #extend(extensions: readonly number[]): void {
    while (this.study.phase === 'ended' && this.study.extensions < extensions.length) {
      const runs = extensions[this.study.extensions]!;
      this.isBroken ||= runs < (this.study.leastExtension ?? Infinity);
      if (this.isBroken) return;
      this.study.extend(runs);
    }
  }

  /** The rows of the open round and the scores of its complete prefix; undefined without an open round. */
  prefix(
    rounds: RoundLookup,
    scoreOf: (run: number) => number | undefined,
  ): { rows: Float64Array; scores: Float64Array } | undefined {
    const { rounds: number } = this.study.taken;
    const head = rounds.heads[number];
    if (head === undefined || this.isBroken || this.study.next() === undefined) return undefined;
    return { rows: this.#storedRows(rounds, number), scores: scoresOf(head.first_run_id, head.count, scoreOf) };
  }

  /** The rows of a round as stored; where damage has lost them, as they are computed again. */
  #storedRows(rounds: RoundLookup, number: number): Float64Array {
    const { first_run_id: first, count } = rounds.heads[number]!;
    const width = this.names.length;
    const computed = this.study.next()!.rows;
    const rows = Float64Array.from(computed);
    for (let at = 0; at < count; at++) {
      const row = rounds.rowOf(first + at);
      if (row === undefined) continue;
      for (let i = 0; i < width; i++) {
        const stored = row.values[row.offset + i]!;
        const size = Math.abs(stored - rows[at * width + i]!) / Math.max(1, Math.abs(stored));
        if (size > TOLERANCE) this.difference.first ??= { round: number, run: first + at };
        this.difference.largest = Math.max(this.difference.largest, size);
        rows[at * width + i] = stored;
      }
    }
    return rows;
  }
}

/** The scores of the first runs of a round that have ended. */
function scoresOf(first: number, count: number, scoreOf: (run: number) => number | undefined): Float64Array {
  const scores = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const score = scoreOf(first + at);
    if (score === undefined) return scores.slice(0, at);
    scores[at] = score;
  }
  return scores;
}

/** The studies as far as they were computed, for as long as their rounds are in memory. */
const replays = new WeakMap<RoundLookup, RareReplay>();

/** The study computed as far as its runs have ended; rounds that were computed before are kept. */
export function replayed(source: RareSource, scoreOf: (run: number) => number | undefined): RareReplay {
  let replay = replays.get(source.rounds);
  if (replay === undefined) replays.set(source.rounds, (replay = new RareReplay(source)));
  replay.advance(source, scoreOf);
  return replay;
}
