/** The answer of studies of the same question with different seeds: the hull of their bounds. */
import type { RareEventAnswer, Requirement } from '../../../contract/types.ts';
import { lowerBound, upperBound } from '../../special/exact-bounds.ts';
import { beyondText, rareNumber, thousands } from './sentence.ts';

/** Combines the answers, two or more. `requirement`: that of the first study. */
export function combinedRare(all: readonly RareEventAnswer[], { probability }: Requirement): RareEventAnswer {
  const first = all[0]!;
  const areOver = all.every((it) => it.phase === 'ended');
  const areConfirmed = areOver && all.every((it) => it.estimate !== null && it.reason !== 'not-rare');
  const direct = jointDirect(all);
  const lower = areConfirmed ? Math.min(...all.map((it) => it.lower!)) : null;
  const uppers = all.map((it) => it.upper);
  const upper = areConfirmed && !uppers.includes(null) ? Math.max(...uppers.map((it) => it!)) : null;
  const apart = areConfirmed ? areApart(all) : null;
  const sum = (member: 'runs' | 'rounds' | 'budget'): number => all.reduce((total, it) => total + it[member], 0);
  const answer: RareEventAnswer = {
    ...first,
    phase: all.find((it) => it.phase !== 'ended')?.phase ?? 'ended',
    reason: areOver ? [...new Set(all.map((it) => it.reason!))].join(' and ') : null,
    runs: sum('runs'),
    rounds: sum('rounds'),
    budget: sum('budget'),
    estimate: areConfirmed ? all.reduce((total, it) => total + it.estimate!, 0) / all.length : null,
    standard_error: null,
    plain_monte_carlo_runs: null,
    lower,
    upper,
    direct,
    studies: all.flatMap((it) => it.studies),
    parts: all.flatMap((it) => it.parts),
    apart,
    verdict: areOver ? verdictOf(all, direct, { apart, upper, most: 1 - probability }) : null,
    warnings: jointWarnings(all, apart),
  };
  return { ...answer, sentence: sentenceOf(answer, all) };
}

/** True where the intervals of two of the studies do not overlap. */
function areApart(all: readonly RareEventAnswer[]): boolean {
  const greatestLower = Math.max(...all.map((it) => it.lower!));
  const leastUpper = Math.min(...all.map((it) => it.upper ?? Infinity));
  return greatestLower > leastUpper;
}

function jointDirect(all: readonly RareEventAnswer[]): RareEventAnswer['direct'] {
  const known = all.flatMap((it) => (it.direct === null ? [] : [it.direct]));
  if (known.length === 0) return null;
  const sum = (member: 'violations' | 'unknown' | 'of'): number => known.reduce((total, it) => total + it[member], 0);
  const [violations, unknown, of] = [sum('violations'), sum('unknown'), sum('of')];
  const confidence = 1 - (1 - (all[0]!.confidence ?? 0.95)) / 2;
  return {
    violations,
    unknown,
    of,
    lower: of === 0 ? 0 : lowerBound(violations, of, confidence),
    upper: of === 0 ? 1 : upperBound(violations + unknown, of, confidence),
  };
}

function verdictOf(
  all: readonly RareEventAnswer[],
  direct: RareEventAnswer['direct'],
  { apart, upper, most }: { apart: boolean | null; upper: number | null; most: number },
): RareEventAnswer['verdict'] {
  if (all.some((it) => it.verdict?.verdict === 'violated')) return { verdict: 'violated', reason: null, given: null };
  if (direct !== null && direct.upper <= most) return { verdict: 'met', reason: null, given: null };
  const isMet = apart === false && upper !== null && upper <= most;
  const alone = all.every((it) => it.verdict?.reason === 'one-study' || it.verdict?.verdict === 'met');
  if (isMet && alone) return { verdict: 'met', reason: null, given: 'regions-found' };
  return { verdict: 'not-shown', reason: apart === true ? 'studies-apart' : 'bounds', given: null };
}

/** Each warning once, with the studies that have it where not all have. */
function jointWarnings(all: readonly RareEventAnswer[], apart: boolean | null): RareEventAnswer['warnings'] {
  const places = new Map<string, { code: string; message: string; of: number[] }>();
  for (const [at, { warnings }] of all.entries())
    for (const { code, message } of warnings) {
      if (code === 'rare-one-study') continue;
      const known = places.get(message) ?? { code, message, of: [] };
      places.set(message, { ...known, of: [...known.of, at + 1] });
    }
  const warnings = [...places.values()].map(({ code, message, of }) => ({
    code,
    message: of.length === all.length ? message : `study ${of.join(', ')}: ${message}`,
  }));
  if (apart !== true) return warnings;
  const message = 'the studies found different regions: do not use this number; raise population';
  return [{ code: 'rare-studies-apart', message }, ...warnings];
}

function sentenceOf(answer: RareEventAnswer, all: readonly RareEventAnswer[]): string {
  const beyond = answer.direct === null || answer.direct.of === 0 ? '' : ` ${beyondText(answer.direct)}`;
  if (answer.phase !== 'ended') {
    const parts = all.map((it, at) => `Study ${at + 1}: ${partText(it)}.`).join(' ');
    return `no joint estimate of ${all.length} studies yet. ${parts}${beyond}`;
  }
  const by = all.length === 2 ? 'both studies' : `${all.length} studies`;
  if (answer.estimate === null) {
    const ends = all.map(endText);
    if (new Set(ends).size === 1) return `by ${by}, ${ends[0]}.${beyond}`;
    return `no joint estimate of ${all.length} studies. ${ends.map((it, at) => `Study ${at + 1}: ${it}.`).join(' ')}${beyond}`;
  }
  const text = `by ${by}, the violations in the regions found have a probability of ${rareNumber(answer.estimate)}, ${rangeText(answer)}, from ${thousands(answer.runs)} runs.${beyond}`;
  return answer.apart === true
    ? `the studies found different regions: do not use this number. ${text.replace(/^by/, 'By')}`
    : text;
}

/** The sentence of a study without what its nominal runs exclude: the joint answer has this of all. */
function endText({ sentence, direct }: RareEventAnswer): string {
  const beyond = direct === null ? '' : `. ${beyondText(direct)}`;
  return sentence.endsWith(beyond) ? sentence.slice(0, sentence.length - beyond.length) : sentence;
}

/** How far a study is, in a few words. */
function partText(it: RareEventAnswer): string {
  const level = it.phase === 'search' && it.search !== null ? `, level ${it.search.levels.length}` : '';
  const far = `${it.phase === 'ended' ? `ended (${it.reason})` : it.phase}${level}, ${thousands(it.runs)} runs`;
  if (it.estimate === null) return far;
  return `${far}, ${rareNumber(it.estimate)} in the regions found, ${rangeText(it)}`;
}

function rangeText({ lower, upper, confidence }: RareEventAnswer): string {
  const level = `${Number((100 * confidence!).toPrecision(6))} % confidence`;
  if (upper === null) return `at least ${rareNumber(lower!)} with ${level}, and without an upper bound`;
  return `between ${rareNumber(lower!)} and ${rareNumber(upper)} with ${level}`;
}
