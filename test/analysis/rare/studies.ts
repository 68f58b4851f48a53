/** Whole studies of rare events as pure functions: rounds, results and answer without a coordinator. */
import { rareAnswer } from '../../../src/analysis/rare/answer/answer.ts';
import { replayed, type RareReplay } from '../../../src/analysis/rare/answer/replay.ts';
import { scoresUnder } from '../../../src/analysis/rare/answer/scores.ts';
import { CLASS_CODES, type RunClass } from '../../../src/analysis/table/run-class.ts';
import type { BatchSubmission, RareEventAnswer } from '../../../src/contract/types.ts';
import type { RoundHead, RoundLookup } from '../../../src/domain/adaptive/rows.ts';
import { NormalSpace } from '../../../src/domain/sampling/normal-space.ts';
import type { RareSource } from '../../../src/domain/study/rare-event/settings.ts';

/** The end of a run: its output, or its class where it has none. */
export type RunEnd = number | Exclude<RunClass, 'ok'> | 'no-output';
export type Simulate = (parameters: Readonly<Record<string, number>>, run: number) => RunEnd;

/** Rounds that grow as a study does. */
class Rounds implements RoundLookup {
  readonly heads: RoundHead[] = [];
  readonly #rows: Float64Array[] = [];
  readonly #width: number;

  constructor(width: number) {
    this.#width = width;
  }

  add(first: number, count: number, rows: Float64Array): void {
    const round = this.heads.length;
    this.heads.push({ round, first_run_id: first, count, key: null, digest: '', previous: '' });
    this.#rows.push(rows);
  }

  /** The rounds that begin with one of the first runs, or follow on them. */
  upTo(runs: number): Rounds {
    const first = new Rounds(this.#width);
    for (const [at, { first_run_id: run, count }] of this.heads.entries())
      if (run <= runs) first.add(run, count, this.#rows[at]!);
    return first;
  }

  roundOf(run: number): number {
    return this.heads.findLastIndex((it) => it.first_run_id <= run);
  }

  readonly rowOf: RoundLookup['rowOf'] = (run) => {
    const round = this.roundOf(run);
    return { values: this.#rows[round]!, offset: (run - this.heads[round]!.first_run_id) * this.#width, draw: run };
  };
}

export interface RareStudyMade {
  replay: RareReplay;
  /** The answer when the first runs have ended, or all of them. */
  answer(runs?: number): RareEventAnswer;
  /** The parameters of all runs. */
  parameters: Readonly<Record<string, number>>[];
}

/** Makes a study to its end. `extensions`: the runs by which it is extended after each of its first ends. */
export function madeRareStudy(
  submission: BatchSubmission,
  simulate: Simulate,
  extensions: readonly number[] = [],
): RareStudyMade {
  const { config, requirements } = submission;
  const space = new NormalSpace(config.dispersions, config.correlations ?? []);
  const width = space.names.length;
  const rounds = new Rounds(width);
  const source: RareSource = { submission, seed: BigInt(config.monte_carlo.seed ?? 0), rounds, extensions };
  const score = scoresUnder(requirements![0]!, config.adaptive!.unknown ?? 'unknown');
  const scores: number[] = [];
  const made: Readonly<Record<string, number>>[] = [];
  const replay = replayed(source, () => undefined);
  const values = new Float64Array(width);
  for (let next = replay.study.next(); next !== undefined; next = replay.study.next()) {
    for (let at = 0; at < next.count; at++) {
      space.parametersInto(next.rows, at * width, values);
      const parameters = Object.fromEntries(space.names.map((name, i) => [name, values[i]!]));
      made.push(parameters);
      const end = simulate(parameters, next.firstRun + at);
      const hasOutput = typeof end === 'number';
      const code = CLASS_CODES[hasOutput || end === 'no-output' ? 'ok' : end];
      scores.push(score(code, hasOutput ? end : Number.NaN, false)!);
    }
    if (scores.length > replay.study.settings.budget) throw new RangeError('the study is beyond its budget');
    rounds.add(next.firstRun, next.count, next.rows);
    replay.advance(source, (run) => scores[run]);
  }
  const answer = (runs = scores.length): RareEventAnswer => {
    const known = runs === scores.length ? rounds : rounds.upTo(runs);
    const scoreOf = (run: number): number | undefined => (run < runs ? scores[run] : undefined);
    return rareAnswer('batch', { ...source, rounds: known }, scoreOf, {
      isOver: false,
      runs,
      hasNoTimeLimit: false,
      outputs: ['y'],
    });
  };
  return { replay, answer, parameters: made };
}
