/** The sizes and the rules of a study of rare events: its members with all defaults filled in. Pure. */
import type { RareEnd, UnknownRule } from '../../../contract/enums.ts';
import type { AdaptiveConfig, BatchConfig, BatchSubmission, Requirement, Seed } from '../../../contract/types.ts';
import type { RoundLookup } from '../../adaptive/rows.ts';
import { parseRequirementCondition } from '../condition.ts';

/** The settings of one study. */
export interface RareSettings {
  /** Runs of a level, and of round 0. */
  population: number;
  /** The share of a level that the next one begins with. */
  levelProbability: number;
  /** Chains, and so the runs of a round of a level; divides `population`. */
  width: number;
  tuneRuns: number;
  confirmRuns: number;
  /** Runs of a confirming round. */
  confirmPart: number;
  confidence: number;
  /** The most runs of the study. */
  budget: number;
  unknown: UnknownRule;
  /** The confirmation ends when half the width of the interval is at most this share of the estimate. */
  relativeHalfWidth?: number | undefined;
  /** The confirmation ends when the verdict is settled. */
  stopsWhenSettled: boolean;
  /** Scores from this limit on violate; with `isStrict`, those above it. */
  limit: number;
  isStrict: boolean;
  /** The probability of passing that is required, and the confidence of the verdict. */
  required: { probability: number; confidence: number };
}

/** A study with its rounds, as it was submitted: later amendments of its requirements do not change its rounds. */
export interface RareSource {
  submission: Pick<BatchSubmission, 'config' | 'requirements'>;
  seed: Seed;
  rounds: RoundLookup;
  /** The runs by which it was extended after each of its first ends. */
  extensions?: readonly number[] | undefined;
}

/** Tuning rounds that there are at least and at most. */
export const TUNE_ROUNDS = { least: 2, most: 6 };

const DEFAULTS = {
  studies: 2,
  population: 1000,
  level_probability: 0.1,
  tune_runs: 500,
  confirm_runs: 2000,
  confidence: 0.95,
  unknown: 'unknown',
} as const;
/** The default budget has this many levels beyond round 0, and two attempts. */
const BUDGET_LEVELS = 12;
type Sizes = Pick<
  RareSettings,
  'population' | 'width' | 'levelProbability' | 'tuneRuns' | 'confirmRuns' | 'confirmPart'
>;

/** The studies of a submission: those with different seeds that are answered together; 1 of any other study. */
export const studiesOf = ({ adaptive }: Pick<BatchConfig, 'adaptive'>): number =>
  adaptive?.algorithm === 'rare_event' ? (adaptive.studies ?? DEFAULTS.studies) : 1;

/** The sizes with their defaults. */
export function sizesOf(adaptive: Partial<AdaptiveConfig>): Sizes {
  const given = { ...DEFAULTS, ...adaptive };
  return {
    population: given.population,
    levelProbability: given.level_probability,
    width: adaptive.width ?? Math.ceil(given.population / 2),
    tuneRuns: given.tune_runs,
    confirmRuns: given.confirm_runs,
    confirmPart: adaptive.confirm_part ?? given.confirm_runs,
  };
}

/** The runs that must be left for tuning and confirming before a level may begin. */
export const reserveOf = ({ tuneRuns, confirmRuns }: Pick<RareSettings, 'tuneRuns' | 'confirmRuns'>): number =>
  TUNE_ROUNDS.least * tuneRuns + confirmRuns;

/** The most confirming rounds: the bounds are computed of all draws after each. */
export const MAX_CONFIRMING_ROUNDS = 100;

/** The most runs by which a study is extended after an end. */
export const mostFurtherRuns = (
  { confirmRuns, confirmPart }: Pick<RareSettings, 'confirmRuns' | 'confirmPart'>,
  reason: RareEnd | undefined,
): number => (reason === 'confirmed' ? MAX_CONFIRMING_ROUNDS * confirmPart - confirmRuns : Infinity);

/** The budget of a study of rare events: its `runs`, or where these are 0, enough for 12 levels and two attempts. */
export function rareBudget({ monte_carlo: { runs }, adaptive }: Pick<BatchConfig, 'monte_carlo' | 'adaptive'>): number {
  if (runs > 0) return runs;
  const { population, tuneRuns, confirmRuns } = sizesOf(adaptive ?? {});
  return (1 + BUDGET_LEVELS) * population + TUNE_ROUNDS.most * tuneRuns + 2 * confirmRuns;
}

/** The submission with the budget of a study of rare events that gives none; others as they are. */
export function withRareBudget(submission: BatchSubmission): BatchSubmission {
  const { config } = submission;
  if (config.adaptive?.algorithm !== 'rare_event' || config.monte_carlo.runs > 0) return submission;
  return { ...submission, config: { ...config, monte_carlo: { ...config.monte_carlo, runs: rareBudget(config) } } };
}

/** The requirement that a study of rare events is about: the named one, or the only one. Undefined where that is not clear. */
export function rareRequirement(
  { requirement }: Partial<AdaptiveConfig>,
  requirements: readonly Requirement[],
): Requirement | undefined {
  if (requirement === undefined) return requirements.length === 1 ? requirements[0] : undefined;
  return requirements.find(({ name }) => name === requirement);
}

/** The limit of the scores that violate: larger scores are nearer to a violation. Undefined for a condition that has no such limit. */
export function limitOf({ condition = '' }: Requirement): Pick<RareSettings, 'limit' | 'isStrict'> | undefined {
  const parsed = parseRequirementCondition(condition);
  if (typeof parsed === 'string' || parsed.operator === '..') return undefined;
  const { operator, threshold } = parsed;
  if (operator === '==' || operator === '!=') return undefined;
  return { limit: operator.startsWith('<') ? threshold : -threshold, isStrict: operator.endsWith('=') };
}

/** +1 where larger values of the output are nearer to a violation, -1 where smaller ones are. */
export const scoreSign = ({ condition = '' }: Requirement): 1 | -1 => (condition.trim().startsWith('<') ? 1 : -1);

export const violates = ({ limit, isStrict }: Pick<RareSettings, 'limit' | 'isStrict'>, score: number): boolean =>
  isStrict ? score > limit : score >= limit;

/** The settings of a valid study of rare events. */
export function rareSettings({
  config,
  requirements = [],
}: Pick<BatchSubmission, 'config' | 'requirements'>): RareSettings {
  const adaptive = config.adaptive!;
  const requirement = rareRequirement(adaptive, requirements)!;
  const confidence = adaptive.confidence ?? DEFAULTS.confidence;
  return {
    ...sizesOf(adaptive),
    ...limitOf(requirement)!,
    confidence,
    budget: rareBudget(config),
    unknown: adaptive.unknown ?? DEFAULTS.unknown,
    relativeHalfWidth: adaptive.relative_half_width,
    stopsWhenSettled: adaptive.stop_when_settled ?? false,
    required: { probability: requirement.probability, confidence: requirement.confidence ?? DEFAULTS.confidence },
  };
}

/** The relative error of an estimate with the default sizes, as measured on smooth problems of up to 100 parameters. */
const RELATIVE_ERROR = 0.05;

/** About the runs that a study takes for a probability, and those of plain Monte Carlo with the same relative error. */
export function rareCost(
  { population, levelProbability, tuneRuns, confirmRuns }: RareSettings,
  probability: number,
): { about: number; plain: number; relativeError: number } {
  const levels = Math.max(0, Math.ceil(Math.log(probability) / Math.log(levelProbability)) - 1);
  const about = population * (1 + levels) + (TUNE_ROUNDS.least + 1) * tuneRuns + confirmRuns;
  const plain = Math.ceil((1 - probability) / (probability * RELATIVE_ERROR ** 2));
  return { about, plain, relativeError: RELATIVE_ERROR };
}
