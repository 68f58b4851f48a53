/** The answer of one study of rare events, from its rounds and the results so far. */
import type { RareEventAnswer, Requirement } from '../../../contract/types.ts';
import { rareRequirement, type RareSource, scoreSign, violates } from '../../../domain/study/rare-event/settings.ts';
import { lowerBound, upperBound } from '../../special/exact-bounds.ts';
import type { AttemptBounds, Attempt } from '../confirmation.ts';
import type { Point } from '../component.ts';
import { MEASURED } from './measured.ts';
import { type RareReplay, replayed } from './replay.ts';
import { rareSentence } from './sentence.ts';
import { rareWarnings } from './warnings.ts';

/** The state of a study besides its rounds. */
export interface RareState {
  /** The study takes no further round: it was closed or cancelled, or has ended. */
  isOver: boolean;
  /** The runs that it has so far. */
  runs: number;
  /** No run of it has a time limit. */
  hasNoTimeLimit: boolean;
  /** The outputs that runs have reported. */
  outputs: readonly string[];
}

/** Places of the course of the bounds. */
const COURSE = 20;
const MOST_POINTS = 500;
const MOST_NAMES = 20;

type Answer = Omit<RareEventAnswer, 'sentence' | 'warnings'>;
export type Direct = NonNullable<RareEventAnswer['direct']>;

/** An answer without numbers, and why. */
export function noRareAnswer(batchId: string, reason: string, sentence: string): RareEventAnswer {
  return {
    ...EMPTY,
    batch_id: batchId,
    reason,
    studies: [batchId],
    parts: [],
    sentence,
    warnings: [],
  };
}

const EMPTY = {
  experimental: true,
  requirement: null,
  phase: null,
  runs: 0,
  rounds: 0,
  budget: 0,
  estimate: null,
  standard_error: null,
  lower: null,
  upper: null,
  confidence: null,
  direct: null,
  search: null,
  tuning: [],
  attempts: [],
  course: [],
  names: [],
  importance: [],
  points: [],
  nominal_points: [],
  proposal: [],
  found_outside: null,
  largest_share: null,
  verdict: null,
  plain_monte_carlo_runs: null,
  apart: null,
  measured: [],
} satisfies Partial<RareEventAnswer>;

/** The answer. `scoreOf`: the score of a run, undefined for an open one. */
export function rareAnswer(
  batchId: string,
  source: RareSource,
  scoreOf: (run: number) => number | undefined,
  state: RareState,
): RareEventAnswer {
  const replay = replayed(source, scoreOf);
  if (replay.isBroken)
    return noRareAnswer(
      batchId,
      'rows-differ',
      'The rounds of the study do not follow from its results by this version of the program; their runs are as they are stored. Submit the study anew.',
    );
  const { study, names } = replay;
  const { settings, search, nominal } = study;
  const requirement = rareRequirement(source.submission.config.adaptive!, source.submission.requirements ?? [])!;
  const prefix = replay.prefix(source.rounds, scoreOf);
  const attempt = prefix === undefined ? study.attempts.at(-1) : study.attemptWith(prefix.rows, prefix.scores);
  const first = study.taken.rounds === 0 ? countsOf(prefix?.scores, study) : nominal;
  const direct = directOf(first, attempt, replay);
  const isOver = study.phase === 'ended' || state.isOver;
  const reason = study.reason ?? (isOver ? 'cancelled' : null);
  const bounds = attempt?.bounds() ?? null;
  const { estimate, standard_error, lower, upper } = numbersOf(reason, bounds, direct, nominal);
  const plain = plainRuns(estimate, standard_error);
  const sign = scoreSign(requirement);
  const importance = importanceOf(study.found, names);
  const shown = importance.slice(0, 2).map(({ place }) => place);
  const answer: Answer = {
    ...EMPTY,
    batch_id: batchId,
    requirement: requirement.name,
    phase: isOver ? 'ended' : study.phase,
    reason,
    runs: state.runs,
    rounds: study.taken.rounds,
    budget: settings.budget,
    estimate,
    standard_error,
    lower,
    upper,
    confidence: settings.confidence,
    direct,
    search:
      search === undefined
        ? null
        : {
            estimate: study.found.length > 0 ? search.estimate : null,
            levels: search.levels.map(({ b, n, reached, rounds }) => ({ b, output: sign * b, n, reached, rounds })),
          },
    tuning: study.tuning,
    attempts: study.attempts.map((it, at) => attemptAnswer(at === study.attempts.length - 1 ? attempt! : it)),
    course: attempt === undefined ? [] : courseOf(attempt),
    names: [...names],
    importance: importance.slice(0, MOST_NAMES).map(({ name, share, mean }) => ({ name, share, mean })),
    points: pointsOf(study.found, shown),
    nominal_points: pointsOf(
      shown.length === 0 ? [] : passingPoints(source, study.nominal.of, settings, scoreOf),
      shown,
    ),
    proposal: (study.proposal?.components ?? []).map(({ direction, ...it }) => ({ ...it, direction: [...direction] })),
    found_outside: attempt?.foundOutside ?? null,
    largest_share: attempt?.largestShare ?? null,
    verdict: isOver ? verdictOf(requirement, attempt, direct, reason) : null,
    plain_monte_carlo_runs: plain,
    studies: [batchId],
    parts: [],
    measured: [...MEASURED],
  };
  const { phase, runs } = answer;
  answer.parts = [{ batch_id: batchId, phase, reason, runs, estimate, lower, upper }];
  const { unknown, confirmRuns } = settings;
  const warnings = rareWarnings(answer, { attempt, unknown, confirmRuns, hasNoTimeLimit: state.hasNoTimeLimit });
  return { ...answer, warnings, sentence: rareSentence(answer, requirement, { outputs: state.outputs, replay }) };
}

/** Round 0 as far as its runs have ended. */
function countsOf(scores: Float64Array | undefined, { settings }: RareReplay['study']): RareReplay['study']['nominal'] {
  const known = [...(scores ?? [])];
  const isViolating = (it: number): boolean => violates(settings, it);
  return {
    violations: known.filter(isViolating).length,
    unknown: known.filter(Number.isNaN).length,
    of: known.length,
  };
}

/** The bounds of all nominal draws: those of round 0, and the nominal part of the attempt. */
function directOf(
  first: RareReplay['study']['nominal'],
  attempt: Attempt | undefined,
  { study: { settings } }: RareReplay,
): Direct {
  const drawn = (attempt?.draws ?? []).filter((it) => it.isNominal);
  const isUnrelated = settings.unknown === 'unrelated';
  const violations = first.violations + drawn.filter((it) => it.isViolating).length;
  const allUnknown = first.unknown + drawn.filter((it) => it.isUnknown).length;
  const unknown = isUnrelated ? 0 : allUnknown;
  const of = first.of + drawn.length - (isUnrelated ? allUnknown : 0);
  const confidence = 1 - (1 - settings.confidence) / 2;
  return {
    violations,
    unknown,
    of,
    lower: of === 0 ? 0 : lowerBound(violations, of, confidence),
    upper: of === 0 ? 1 : upperBound(violations + unknown, of, confidence),
  };
}

type Numbers = Pick<Answer, 'estimate' | 'standard_error' | 'lower' | 'upper'>;

function numbersOf(
  reason: string | null,
  bounds: AttemptBounds | null,
  direct: Direct,
  nominal: RareReplay['study']['nominal'],
): Numbers {
  if (bounds !== null) {
    const { estimate, standardError, lower, upper } = bounds;
    return { estimate, standard_error: standardError, lower, upper };
  }
  const { lower, upper } = direct;
  if (reason === 'no-output') return { estimate: null, standard_error: null, lower: 0, upper: 1 };
  const known = nominal.of - nominal.unknown;
  const estimate = reason === 'not-rare' ? nominal.violations / known : null;
  return { estimate, standard_error: null, lower, upper };
}

/** The plain Monte Carlo runs with the same relative standard error. */
function plainRuns(estimate: number | null, standardError: number | null): number | null {
  if (estimate === null || estimate === 0 || standardError === null || standardError === 0) return null;
  return Math.ceil((1 - estimate) / (estimate * (standardError / estimate) ** 2));
}

function attemptAnswer(attempt: Attempt): RareEventAnswer['attempts'][number] {
  const { runs, hits, unknown, outside } = attempt.counts();
  return { alpha: attempt.alpha, clip: attempt.clip, runs, hits, unknown, outside };
}

function courseOf(attempt: Attempt): RareEventAnswer['course'] {
  const { length } = attempt.draws;
  const places = [...new Set(Array.from({ length: COURSE }, (_, at) => Math.ceil(((at + 1) * length) / COURSE)))];
  return places
    .filter((runs) => runs > 0)
    .flatMap((runs) => {
      const bounds = attempt.copy(runs).bounds();
      return bounds === null ? [] : [{ runs, estimate: bounds.estimate, lower: bounds.lower, upper: bounds.upper }];
    });
}

/** The parameters by their share of the squared distance of the centre of the violations, the greatest first. */
function importanceOf(
  found: readonly Point[],
  names: readonly string[],
): { name: string; place: number; share: number; mean: number }[] {
  if (found.length === 0) return [];
  const means = names.map((_, i) => found.reduce((sum, z) => sum + z[i]!, 0) / found.length);
  const squares = names.map((_, i) => found.reduce((sum, z) => sum + Math.abs(z[i]!), 0) / found.length);
  const total = means.reduce((sum, it) => sum + it * it, 0);
  return names
    .map((name, place) => ({
      name,
      place,
      share: total > 0 ? means[place]! ** 2 / total : 0,
      mean: means[place]!,
      size: squares[place]!,
    }))
    .sort((a, b) => b.share - a.share || b.size - a.size);
}

/** The points of the runs of round 0 that did not violate. */
function passingPoints(
  { rounds }: RareSource,
  count: number,
  settings: RareReplay['study']['settings'],
  scoreOf: (run: number) => number | undefined,
): Point[] {
  const points: Point[] = [];
  for (let run = 0; run < count; run++) {
    const [row, score] = [rounds.rowOf(run), scoreOf(run)];
    if (row === undefined || score === undefined || Number.isNaN(score) || violates(settings, score)) continue;
    points.push(row.values.subarray(row.offset));
  }
  return points;
}

/** The coordinates at these places of points, evenly chosen among all. */
function pointsOf(found: readonly Point[], places: readonly number[]): number[][] {
  const count = Math.min(MOST_POINTS, found.length);
  return Array.from({ length: count }, (_, at) => {
    const z = found[Math.floor((at * found.length) / count)]!;
    return places.map((place) => z[place]!);
  });
}

/** The verdict of one study: `met` needs two, unless the nominal runs alone show it. */
function verdictOf(
  { probability }: Requirement,
  attempt: Attempt | undefined,
  direct: Direct,
  reason: string | null,
): Answer['verdict'] {
  const most = 1 - probability;
  const bounds = attempt?.verdictBounds() ?? null;
  if ((bounds !== null && bounds.lower > most) || (bounds === null && direct.lower > most))
    return { verdict: 'violated', reason: null, given: null };
  if (direct.upper <= most && reason !== 'no-output') return { verdict: 'met', reason: null, given: null };
  const isMetAlone = bounds !== null && bounds.upper !== null && bounds.upper <= most;
  return { verdict: 'not-shown', reason: isMetAlone ? 'one-study' : 'bounds', given: null };
}
