/** One study of rare events of a problem, with the default sizes: pure functions, without a coordinator. */
import { standardNormalQuantile } from '../../../src/base/distributions/normal.ts';
import { RareDraws } from '../../../src/analysis/rare/draws.ts';
import { RareStudy } from '../../../src/analysis/rare/study.ts';
import type { RareSettings } from '../../../src/domain/study/rare-event/settings.ts';
import { openUniform, philox } from '../../../src/domain/sampling/philox.ts';
import type { Problem } from './problem.ts';

const SETTINGS: RareSettings = {
  population: 1000,
  levelProbability: 0.1,
  width: 500,
  tuneRuns: 500,
  confirmRuns: 2000,
  confirmPart: 2000,
  confidence: 0.95,
  budget: 20_000,
  unknown: 'unknown',
  stopsWhenSettled: false,
  limit: 0,
  isStrict: false,
  required: { probability: 0.999, confidence: 0.95 },
};

/** The answer of one study, by this method or another one. */
export interface Found {
  /** Null without an estimate. */
  estimate: number | null;
  lower: number;
  /** Null without an upper bound. */
  upper: number | null;
  runs: number;
}

const block = new Int32Array(4);

/** The standard normal that run `run` of a study alone has. */
export function noiseOf(seed: number, run: number): number {
  philox(seed, 77, run, 0, 0, 77, block);
  return standardNormalQuantile(openUniform(block[0]!, block[1]!));
}

export function rareStudyOf({ d, score }: Problem, seed: number): Found {
  const names = Array.from({ length: d }, (_, at) => `x${String(at).padStart(3, '0')}`);
  const study = new RareStudy(SETTINGS, new RareDraws(names, String(seed)));
  for (let round = study.next(); round !== undefined; round = study.next()) {
    const { rows, count, firstRun } = round;
    const scores = Float64Array.from({ length: count }, (_, at) =>
      score(rows.subarray(at * d, (at + 1) * d), noiseOf(seed, firstRun + at)),
    );
    study.take(rows, scores);
  }
  const { runs } = study.taken;
  const bounds = study.attempts.at(-1)?.bounds() ?? null;
  if (bounds === null) return { estimate: null, lower: 0, upper: null, runs };
  const { estimate, lower, upper } = bounds;
  return { estimate, lower, upper, runs };
}
