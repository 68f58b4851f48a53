/** The answer of a study of rare events in words: both bounds always together. */
import type { RareEventAnswer, Requirement } from '../../../contract/types.ts';
import type { RareReplay } from './replay.ts';

type Answered = Omit<RareEventAnswer, 'sentence' | 'warnings'>;

interface Grounds {
  outputs: readonly string[];
  replay: RareReplay;
}

/** A probability with two digits. */
export const rareNumber = (value: number): string =>
  value === 0 ? '0' : value >= 0.01 ? String(Number(value.toPrecision(2))) : value.toExponential(1);

export const thousands = (value: number): string => value.toLocaleString('en-US');

/** A large count in words. */
function inWords(count: number): string {
  if (count >= 1e9) return `${Number((count / 1e9).toPrecision(2))} billion`;
  return count >= 1e6 ? `${Number((count / 1e6).toPrecision(2))} million` : thousands(count);
}

/** The violation of a requirement, such as `P(margin <= 0)`. */
function violation({ output = '', condition = '' }: Requirement): string {
  const opposite = condition.trim().startsWith('<') ? '>' : '<';
  const number = condition.replace(/[<>=\s]/g, '');
  return `P(${output} ${condition.includes('=') ? opposite : `${opposite}=`} ${number})`;
}

export function rareSentence(answer: Answered, requirement: Requirement, grounds: Grounds): string {
  const { reason, estimate } = answer;
  const what = violation(requirement);
  if (reason === null) return openSentence(answer, what);
  if (reason === 'cancelled' && estimate === null)
    return `cancelled in the phase ${grounds.replay.study.phase}. ${directPart(answer)}`;
  if (reason === 'confirmed' || reason === 'settled' || reason === 'cancelled') return confirmed(answer, what);
  return `${ended(answer, requirement, what, grounds)}. ${directPart(answer)}`;
}

function openSentence(answer: Answered, what: string): string {
  const { phase, estimate, runs, search } = answer;
  if (phase === 'confirm' && estimate !== null) return `so far: ${confirmed(answer, what)}`;
  const level = search === null ? '' : `, level ${search.levels.length}`;
  return `${phase}${level}: ${thousands(runs)} ${runs === 1 ? 'run' : 'runs'} so far, and no estimate of ${what} yet. ${directPart(answer)}`;
}

/** The bounds of the regions found, then what the nominal runs exclude. */
function confirmed(answer: Answered, what: string): string {
  const { estimate, lower, upper, confidence, runs, rounds, plain_monte_carlo_runs: plain } = answer;
  const percent = Number((100 * confidence!).toPrecision(6));
  const between =
    upper === null
      ? `at least ${rareNumber(lower!)} with ${percent} % confidence, and without an upper bound`
      : `between ${rareNumber(lower!)} and ${rareNumber(upper)} with ${percent} % confidence`;
  const needs = plain === null ? '' : ` (plain Monte Carlo would need ${inWords(plain)})`;
  return `${what} in the regions found is ${rareNumber(estimate!)}, ${between}, from ${thousands(runs)} runs in ${rounds} rounds${needs}. ${directPart(answer)}`;
}

const directPart = ({ direct }: Answered): string =>
  direct === null || direct.of === 0 ? 'No nominal run has ended yet' : beyondText(direct);

/** The bound of the nominal runs on violations anywhere. */
export const beyondText = ({ upper, of }: NonNullable<RareEventAnswer['direct']>): string =>
  `Violations in regions that were not found are excluded only above ${rareNumber(upper)} (${thousands(of)} nominal runs)`;

function ended(answer: Answered, { output = '' }: Requirement, what: string, { outputs, replay }: Grounds): string {
  const { study } = replay;
  const { nominal } = study;
  const known = nominal.of - nominal.unknown;
  switch (answer.reason) {
    case 'not-rare':
      return `not rare: ${Math.round((1000 * nominal.violations) / known) / 10} % of ${thousands(known)} runs violate; use sampling_method: monte_carlo`;
    case 'not-reached': {
      const level = answer.search?.levels.at(-1);
      const reached = level === undefined ? '' : levelText(answer, level.output, output);
      return `not reached: ${reached}no run violated; give a larger budget, or take it that ${what} is below what the search can see (which bounds nothing)`;
    }
    case 'plateau':
      return `no estimate: the output ${output} takes few values, and no run is between: report a margin instead of a flag`;
    case 'constant-output':
      return `no estimate: every run gave the same ${output}: is this the right output? Report a margin instead of a flag`;
    case 'no-output': {
      const named = outputs.length === 0 ? 'none' : outputs.slice(0, 10).join(', ');
      return `no estimate: no run reported the output ${output} (they reported: ${named})`;
    }
    case 'too-many-unknown':
      return `no estimate: ${thousands(nominal.unknown)} of ${thousands(nominal.of)} runs have no value of ${output}; mend the simulation (\`simbatch failures\`)`;
    default: {
      const searched = answer.search?.estimate ?? null;
      const estimate = searched === null ? '' : `; the search alone estimated ${rareNumber(searched)}`;
      return `no estimate: independent draws did not find again what the search found (the output may be noisy)${estimate}`;
    }
  }
}

function levelText({ search }: Answered, value: number, output: string): string {
  const reached = search!.levels.reduce((product, it) => product * (it.reached / it.n), 1);
  return `the level ${output} = ${Number(value.toPrecision(4))} was reached with probability about ${rareNumber(reached)}; `;
}
