/**
 * The search of a study of rare events: subset simulation with adaptive conditional sampling (Au and Beck 2001; Papaioannou et al. 2015). Its
 * levels climb towards the violating region; its estimate is shown and is never the answer.
 */
import type { RareDraws } from './draws.ts';
import type { Point } from './component.ts';
import { type RareSettings, reserveOf, violates } from '../../domain/study/rare-event/settings.ts';

const MAX_LEVELS = 30;
const FIRST_LAMBDA = 0.6;
const LEAST_LAMBDA = 1e-3;
/** The rate of accepted candidates to which the steps adapt. */
const TARGET_RATE = 0.44;
const LEAST_SPREAD = 0.1;
/** Fewer seeds than this have no spread of their own. */
const FEW_SEEDS = 10;

/** A round of a level: accepted candidates, and the size of the steps that it was drawn with. */
export interface LevelRound {
  accepted: number;
  lambda: number;
}

/** A level: its threshold of the score, the states before it, those that reach it, and the rounds that were made in it. */
export interface Level {
  b: number;
  n: number;
  reached: number;
  rounds: LevelRound[];
}

/** States of the search: points with their scores, in order. */
interface Population {
  points: readonly Point[];
  scores: readonly number[];
}

export type SearchEnd = 'not-reached' | 'plateau';

export class Search {
  readonly #settings: RareSettings;
  readonly levels: Level[] = [];
  /** The points of the violating states, when the search has found them. */
  found: Point[] | undefined;
  #population: Population;
  #chains: Population = { points: [], scores: [] };
  #spread: Float64Array = new Float64Array(0);
  #collected: Population[] = [];
  #steps = 0;
  #logLambda = Math.log(FIRST_LAMBDA);

  /** `population`: the known runs of round 0, in their order. */
  constructor(settings: RareSettings, population: Population) {
    this.#settings = settings;
    this.#population = population;
  }

  /** The product of the shares of all levels; null before one. */
  get estimate(): number | null {
    return this.levels.length === 0 ? null : this.levels.reduce((product, it) => product * (it.reached / it.n), 1);
  }

  /** True when it has as many levels as a search may have. */
  get hasAllLevels(): boolean {
    return this.levels.length === MAX_LEVELS;
  }

  /** The size of the steps of the next round. */
  get lambda(): number {
    return Math.exp(this.#logLambda);
  }

  /** The points from which the chains move next, and the spread by which they do. */
  get chains(): { points: readonly Point[]; spread: Float64Array } {
    return { points: this.#chains.points, spread: this.#spread };
  }

  /** Begins the next level, or ends the search. `nextRun`: the number of runs so far. */
  begin(nextRun: number): SearchEnd | undefined {
    const { points, scores } = this.#population;
    const { levelProbability, population, budget, width, limit } = this.#settings;
    const n = scores.length;
    const need = Math.ceil(levelProbability * n);
    const found = points.filter((_, at) => violates(this.#settings, scores[at]!));
    if (found.length >= need) {
      this.levels.push({ b: limit, n, reached: found.length, rounds: [] });
      this.found = found;
      return undefined;
    }
    if (this.hasAllLevels || nextRun + population + reserveOf(this.#settings) > budget) return 'not-reached';
    const b = thresholdOf(scores, need);
    const before = this.levels.at(-1);
    if (b === undefined || (before !== undefined && b <= before.b)) return 'plateau';
    const seeds = scores.flatMap((score, at) => (score >= b ? [at] : []));
    this.levels.push({ b, n, reached: seeds.length, rounds: [] });
    const picked = Array.from({ length: width }, (_, j) => seeds[Math.floor((j * seeds.length) / width)]!);
    this.#chains = { points: picked.map((at) => points[at]!), scores: picked.map((at) => scores[at]!) };
    this.#spread = spreadOf(seeds.map((at) => points[at]!));
    this.#collected = [];
    this.#steps = 0;
    return undefined;
  }

  /** Writes the candidates of the next round, one for each chain, row after row. */
  propose(draws: RareDraws, firstRun: number, rows: Float64Array): void {
    const d = draws.dimensions;
    const { lambda } = this;
    const own = new Float64Array(d);
    for (const [chain, point] of this.#chains.points.entries()) {
      draws.ownInto(firstRun + chain, own);
      for (let i = 0; i < d; i++) {
        const sigma = Math.min(1, lambda * this.#spread[i]!);
        rows[chain * d + i] = Math.sqrt(1 - sigma * sigma) * point[i]! + sigma * own[i]!;
      }
    }
  }

  /** Takes the candidates of a round with their scores, NaN where unknown. Returns true when the level is complete. */
  take(points: readonly Point[], scores: ArrayLike<number>): boolean {
    const { width, population } = this.#settings;
    const level = this.levels.at(-1)!;
    const accepts = points.map((_, at) => scores[at]! >= level.b);
    this.#chains = {
      points: this.#chains.points.map((point, at) => (accepts[at]! ? points[at]! : point)),
      scores: this.#chains.scores.map((score, at) => (accepts[at]! ? scores[at]! : score)),
    };
    this.#collected.push(this.#chains);
    this.#steps += 1;
    const accepted = accepts.filter(Boolean).length;
    level.rounds.push({ accepted, lambda: this.lambda });
    const step = (accepted / width - TARGET_RATE) / Math.sqrt(this.#steps);
    this.#logLambda = Math.min(0, Math.max(Math.log(LEAST_LAMBDA), this.#logLambda + step));
    if (this.#collected.length < population / width) return false;
    this.#population = {
      points: this.#collected.flatMap((it) => it.points),
      scores: this.#collected.flatMap((it) => it.scores),
    };
    return true;
  }
}

/** The `need`-th largest score, or where more than half reach it, the least above it; undefined where there is none. */
function thresholdOf(scores: readonly number[], need: number): number | undefined {
  const descending = scores.toSorted((a, b) => b - a);
  const b = descending[need - 1]!;
  const count = scores.filter((it) => it >= b).length;
  if (count <= Math.floor(scores.length / 2)) return b;
  return descending.findLast((it) => it > b);
}

/** The standard deviation of each coordinate. */
function spreadOf(points: readonly Point[]): Float64Array {
  const d = points[0]!.length;
  const n = points.length;
  if (n < FEW_SEEDS) return new Float64Array(d).fill(1);
  return Float64Array.from({ length: d }, (_, i) => {
    const mean = points.reduce((sum, z) => sum + z[i]!, 0) / n;
    const squares = points.reduce((sum, z) => sum + (z[i]! - mean) ** 2, 0);
    return Math.max(LEAST_SPREAD, Math.sqrt(squares / (n - 1)));
  });
}
