/**
 * A study of rare events as a state machine without I/O: `next` gives the rows of the next round, `take` its rows and scores as they are stored.
 * All of it is a function of the settings, the seed and the results, so that a repeated computation makes the same rounds.
 */
import { ATTEMPT_SHARES, type Attempt, attemptOf } from './confirmation.ts';
import type { Point } from './component.ts';
import type { RareDraws } from './draws.ts';
import { fitProposal } from './fit.ts';
import { IndependentDraws, type WeightedViolations } from './independent.ts';
import { Proposal } from './proposal.ts';
import { Search } from './search.ts';
import { reserveOf, type RareSettings, TUNE_ROUNDS, violates } from '../../domain/study/rare-event/settings.ts';
import { RecentRuns } from './slope.ts';
import type { RareEnd, RarePhase } from '../../contract/enums.ts';

/** Fewer violating draws than this give no new proposal. */
const LEAST_VIOLATIONS = 10;
/** The effective number of violating draws from which on tuning may end. */
const TUNED_SIZE = 100;
/** The share of the search among the points of a later fit. */
const SEARCH_SHARE = 0.3;

/** A round to append: `count` runs from `firstRun` on, their coordinates row after row. */
export interface RareRound {
  firstRun: number;
  count: number;
  rows: Float64Array;
}

/** A tuning round: the estimate after it, the effective number of violating draws, and the components of the proposal fitted then. */
export interface TuningRound {
  estimate: number;
  ess: number;
  components: number;
}

/** Runs by outcome. */
export interface NominalCounts {
  violations: number;
  unknown: number;
  of: number;
}

/** The part that the phases have in common of a round: points, scores and outcomes. */
interface Results {
  points: readonly Point[];
  scores: Float64Array;
  isViolating: (at: number) => boolean;
  isUnknown: (at: number) => boolean;
}

export class RareStudy {
  /** An extension raises the confirming runs and the budget. */
  readonly settings: RareSettings;
  readonly #draws: RareDraws;
  readonly #independent = new IndependentDraws();
  readonly #recent: RecentRuns;
  #phase: RarePhase = 'search';
  #reason: RareEnd | undefined;
  #runs = 0;
  #rounds = 0;
  #extensions = 0;
  #search: Search | undefined;
  #proposal: Proposal | undefined;
  /** The guess of the probability for the axes of the next tuning round. */
  #guess = 0;
  #next: { round: RareRound; from: Proposal | undefined } | undefined;
  readonly nominal: NominalCounts = { violations: 0, unknown: 0, of: 0 };
  readonly tuning: TuningRound[] = [];
  readonly attempts: Attempt[] = [];
  /** The score that every run of round 0 has, where they have one; see `constant-output`. */
  constantScore: number | undefined;

  constructor(settings: RareSettings, draws: RareDraws) {
    this.settings = { ...settings };
    this.#recent = new RecentRuns(settings.population);
    this.#draws = draws;
  }

  get phase(): RarePhase {
    return this.#phase;
  }

  get reason(): RareEnd | undefined {
    return this.#reason;
  }

  /** How often it was extended. */
  get extensions(): number {
    return this.#extensions;
  }

  /** The least number of runs by which it can be extended now: by further draws of a confirmation, or a search up to its next level; undefined where it cannot. */
  get leastExtension(): number | undefined {
    if (this.#reason === 'confirmed') return 1;
    if (this.#reason !== 'not-reached' || this.#search!.hasAllLevels) return undefined;
    const { population, budget } = this.settings;
    return this.#runs + population + reserveOf(this.settings) - budget;
  }

  /**
   * Continues after an end: with so many more draws of the same attempt, whose bets and clip stay, or with a search that may take so many more
   * runs. The bounds of a confirmation hold at every number of draws, so that they may be looked at before.
   * @throws RangeError for fewer than `leastExtension`, and at another end
   */
  extend(runs: number): void {
    if (!(runs >= (this.leastExtension ?? Infinity))) throw new RangeError(`the study is not extended by ${runs} runs`);
    const isConfirmed = this.#reason === 'confirmed';
    this.#extensions += 1;
    this.#reason = undefined;
    this.#phase = isConfirmed ? 'confirm' : 'search';
    this.settings.budget += runs;
    if (isConfirmed) this.settings.confirmRuns += runs;
    else this.#nextLevel();
  }

  /** Runs and rounds that it has taken. */
  get taken(): { runs: number; rounds: number } {
    return { runs: this.#runs, rounds: this.#rounds };
  }

  get search(): Search | undefined {
    return this.#search;
  }

  get proposal(): Proposal | undefined {
    return this.#proposal;
  }

  /** The points of the violating states of the search; empty before its end. */
  get found(): readonly Point[] {
    return this.#search?.found ?? [];
  }

  /** The next round; undefined when the study has ended. The same until it is taken. */
  next(): RareRound | undefined {
    if (this.#phase === 'ended') return undefined;
    this.#next ??= this.#propose();
    return this.#next.round;
  }

  #propose(): { round: RareRound; from: Proposal | undefined } {
    const { population, width, tuneRuns, confirmRuns, confirmPart } = this.settings;
    const d = this.#draws.dimensions;
    const firstRun = this.#runs;
    const isFirst = firstRun === 0;
    const left = confirmRuns - (this.attempts.at(-1)?.draws.length ?? 0);
    const inLevels = this.#phase === 'search' && !isFirst;
    const count = isFirst
      ? population
      : inLevels
        ? width
        : this.#phase === 'tune'
          ? tuneRuns
          : Math.min(confirmPart, left);
    const rows = new Float64Array(count * d);
    const round = { firstRun, count, rows };
    if (inLevels) {
      this.#search!.propose(this.#draws, firstRun, rows);
      return { round, from: undefined };
    }
    const from = this.#source(isFirst);
    for (let at = 0; at < count; at++) from.drawInto(this.#draws, firstRun + at, rows.subarray(at * d, (at + 1) * d));
    return { round, from };
  }

  /** The proposal of the next independent draws. */
  #source(isFirst: boolean): Proposal {
    if (isFirst) return new Proposal([], this.#draws.dimensions);
    return this.#phase === 'tune' ? this.#proposal!.withAxes(this.#guess) : this.attempts.at(-1)!.proposal;
  }

  /**
   * Takes the round that `next` has given: its rows as they are stored, and the score of each run, NaN where unknown. Larger scores are nearer
   * to a violation.
   */
  take(rows: Float64Array, scores: Float64Array): void {
    const round = this.next();
    if (round === undefined) throw new RangeError('the study has ended: it takes no further round');
    const { from } = this.#next!;
    const results = this.#resultsOf(rows, scores);
    this.#next = undefined;
    const { firstRun } = round;
    this.#runs = firstRun + round.count;
    this.#rounds += 1;
    this.#recent.keep(results);
    if (firstRun === 0) this.#takeNominal(from!, results);
    else if (this.#phase === 'search') {
      if (this.#search!.take(results.points, scores)) this.#nextLevel();
    } else if (this.#phase === 'tune') this.#takeTuning(from!, results);
    else this.#takeConfirming(from!, results, firstRun);
  }

  #resultsOf(rows: Float64Array, scores: Float64Array): Results {
    const d = this.#draws.dimensions;
    const points = Array.from(scores, (_, at) => rows.subarray(at * d, (at + 1) * d));
    const isUnknown = (at: number): boolean => Number.isNaN(scores[at]!);
    return { points, scores, isUnknown, isViolating: (at) => violates(this.settings, scores[at]!) };
  }

  #takeNominal(from: Proposal, { points, scores, isViolating }: Results): void {
    this.#independent.add(from, points, isViolating);
    const known = points.flatMap((_, at) => (Number.isNaN(scores[at]!) ? [] : [at]));
    const violations = known.filter(isViolating).length;
    Object.assign(this.nominal, { violations, unknown: points.length - known.length, of: points.length });
    if (known.length === 0) return this.#end('no-output');
    if (this.nominal.unknown > Math.floor(points.length / 2)) return this.#end('too-many-unknown');
    if (violations >= Math.ceil(this.settings.levelProbability * known.length)) return this.#end('not-rare');
    const first = scores[known[0]!]!;
    if (known.every((at) => scores[at] === first)) {
      this.constantScore = first;
      return this.#end('constant-output');
    }
    this.#search = new Search(this.settings, {
      points: known.map((at) => points[at]!),
      scores: known.map((at) => scores[at]!),
    });
    this.#nextLevel();
  }

  #nextLevel(): void {
    const search = this.#search!;
    const end = search.begin(this.#runs);
    if (end !== undefined) return this.#end(end);
    const { found } = search;
    if (found === undefined) return;
    this.#proposal = fitProposal({ points: found, weights: found.map(() => 1 / found.length) }, this.#recent.slope());
    if (this.#proposal === undefined) return this.#end('too-few-violations');
    this.#guess = search.estimate!;
    this.#phase = 'tune';
  }

  #takeTuning(from: Proposal, { points, isViolating }: Results): void {
    const { tuneRuns, confirmRuns, budget } = this.settings;
    this.#independent.add(from, points, isViolating);
    const known = this.#refit();
    this.tuning.push({
      estimate: known.estimate,
      ess: known.effectiveSize,
      components: this.#proposal!.components.length,
    });
    const made = this.tuning.length;
    const isEnough = made >= TUNE_ROUNDS.least && known.effectiveSize >= TUNED_SIZE;
    const isLast = made === TUNE_ROUNDS.most || this.#runs + tuneRuns + confirmRuns > budget;
    if (isLast && known.points.length < LEAST_VIOLATIONS) return this.#end('too-few-violations');
    if (isEnough || isLast) this.#beginAttempt(known);
  }

  /** Fits the proposal anew to the search and all independent draws. */
  #refit(): WeightedViolations {
    const known = this.#independent.weighted();
    if (known.estimate > 0) this.#guess = known.estimate;
    if (known.points.length < LEAST_VIOLATIONS) return known;
    const { found } = this;
    const points = [...found, ...known.points];
    const weights = [
      ...found.map(() => SEARCH_SHARE / found.length),
      ...known.weights.map((v) => ((1 - SEARCH_SHARE) * v) / known.estimate),
    ];
    this.#proposal = fitProposal({ points, weights }, this.#recent.slope()) ?? this.#proposal;
    return known;
  }

  #beginAttempt(known: WeightedViolations): void {
    this.attempts.push(attemptOf(this.attempts.length, this.#proposal!, known, this.found, this.settings));
    this.#phase = 'confirm';
  }

  #takeConfirming(from: Proposal, results: Results, firstRun: number): void {
    const attempt = this.attempts.at(-1)!;
    this.#independent.add(from, results.points, results.isViolating);
    const before = attempt.counts().outside;
    this.#addDraws(attempt, results, firstRun);
    const isOutside = attempt.counts().outside > before;
    const { confirmRuns, budget } = this.settings;
    if (isOutside && this.attempts.length < ATTEMPT_SHARES.length && this.#runs + confirmRuns <= budget)
      return this.#beginAttempt(this.#refit());
    if (attempt.draws.length >= confirmRuns) this.#end('confirmed');
    else if (attempt.isSettled) this.#end('settled');
  }

  #addDraws(attempt: Attempt, { points, isViolating, isUnknown }: Results, firstRun: number): void {
    for (const [at, z] of points.entries()) {
      attempt.draws.push({
        weight: attempt.proposal.weight(z),
        isViolating: isViolating(at),
        isUnknown: isUnknown(at),
        isNominal: attempt.proposal.componentOf(this.#draws.choices(firstRun + at)[0]) < 0,
      });
    }
  }

  #end(reason: RareEnd): void {
    this.#reason = reason;
    this.#phase = 'ended';
  }

  /**
   * The attempt as it is with the complete prefix of the open round, for an answer; the study stays as it is. `scores`: of the first runs of the
   * round. Undefined outside of a confirmation.
   */
  attemptWith(rows: Float64Array, scores: Float64Array): Attempt | undefined {
    const attempt = this.attempts.at(-1);
    if (attempt === undefined || this.#phase !== 'confirm') return attempt;
    const copy = attempt.copy();
    this.#addDraws(copy, this.#resultsOf(rows, scores), this.#runs);
    return copy;
  }
}
