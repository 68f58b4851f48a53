/** Words of the answer about a study: requirements as clauses, failed runs by class. Pure. */
import { scenarioText } from '../../domain/scenarios/cells.ts';
import type { ConditionOperator } from '../../base/expressions/comparison.ts';
import { parseRequirementCondition } from '../../domain/study/condition.ts';
import { formatDuration } from '../../base/text/number-text.ts';
import { plural } from '../../domain/plural.ts';
import type { ClassCounts } from '../table/run-table.ts';
import { shareInPercent } from '../wording.ts';
import type { RequirementEvidence, Retries } from './evidence.ts';

const PASSES: Readonly<Record<ConditionOperator | '..', (limit: string) => string>> = {
  '<': (limit) => `is below ${limit}`,
  '<=': (limit) => `is at most ${limit}`,
  '>': (limit) => `is above ${limit}`,
  '>=': (limit) => `is at least ${limit}`,
  '==': (limit) => `is ${limit}`,
  '!=': (limit) => `is not ${limit}`,
  '..': (limit) => `is within ${limit}`,
};

const FAILS: Readonly<Record<ConditionOperator | '..', (limit: string) => string>> = {
  '<': (limit) => `is ${limit} or more`,
  '<=': (limit) => `exceeds ${limit}`,
  '>': (limit) => `is ${limit} or less`,
  '>=': (limit) => `is below ${limit}`,
  '==': (limit) => `is not ${limit}`,
  '!=': (limit) => `is ${limit}`,
  '..': (limit) => `is outside ${limit}`,
};

/** `peak_load_g` in g is `peak load`; without units the name as it is, since its last part may be one: `range_m`. */
function subject(output: string, units: string | null): string {
  if (output === 'execution_secs') return 'execution time';
  if (units === null || units === '') return output;
  const named = output.endsWith(`_${units}`) ? output.slice(0, -units.length - 1) : output;
  return named.replaceAll('_', ' ');
}

/** The cost of repeated attempts; nothing where none was repeated. */
export function retriesClause(retries: Retries | null): string[] {
  if (retries === null || retries.attempts === 0) return [];
  const { attempts, secs, omitted } = retries;
  const rest =
    omitted === 0
      ? ''
      : `, at least: ${plural(omitted, 'earlier attempt')} ${omitted === 1 ? 'is' : 'are'} no longer recorded`;
  return [
    `retries: ${plural(attempts, 'attempt')} failed and ${attempts === 1 ? 'was' : 'were'} repeated, which cost ${formatDuration(secs)} of running${rest}`,
  ];
}

function clause({ output, condition, all = [], units }: RequirementEvidence, passes: boolean): string {
  if (output === null || condition === null)
    return `${all.slice(0, -1).join(', ')} and ${all.at(-1)} are ${passes ? '' : 'not '}passed together`;
  const parsed = parseRequirementCondition(condition);
  if (typeof parsed === 'string') return `${subject(output, units)} ${condition}`;
  const number = condition.replace(/^[\s<>=!]+/, '').trim();
  const unit = output === 'execution_secs' ? 's' : units;
  const words = (passes ? PASSES : FAILS)[parsed.operator];
  return `${subject(output, units)} ${words(unit === null || unit === '' ? number : `${number} ${unit}`)}`;
}

/** A share that was observed, with two digits of its distance from the nearer of 0 and 1; with more where it would equal `limit`. */
function observed(share: number, limit: number): string {
  const distance = 100 * Math.min(share, 1 - share);
  if (!(distance > 0)) return shareInPercent(share);
  const digits = Math.min(15, Math.max(0, 1 - Math.floor(Math.log10(distance))));
  const text = `${Number((100 * share).toFixed(digits))} %`;
  return text === shareInPercent(limit) && share !== limit ? shareInPercent(share) : text;
}

/** The runs that the estimate of a study with scenarios is of: those of the cell where it is least. */
const worstCell = ({ cells }: RequirementEvidence): string | undefined =>
  cells?.worst && `the runs of its worst cell, ${scenarioText(cells.worst)}`;

/** `peak load exceeds 14 g in 4.2 % of runs (allowed 0.3 %)`. */
export function failsClause(it: RequirementEvidence): string {
  const share =
    it.estimate === null ? '' : ` in ${observed(1 - it.estimate, 1 - it.probability)} of ${worstCell(it) ?? 'runs'}`;
  const rule = it.hasTerminated ? ' or a rule ends the run' : '';
  return `${clause(it, false)}${rule}${share} (allowed ${shareInPercent(1 - it.probability)})`;
}

/** `peak load is at most 14 g in 99.9 % of runs (required 99.7 %)`. */
export function passesClause(it: RequirementEvidence): string {
  if (it.estimate === null)
    return `no run has a value of ${it.output ?? it.name} (required ${shareInPercent(it.probability)})`;
  return `${clause(it, true)} in ${observed(it.estimate, it.probability)} of ${worstCell(it) ?? plural(it.passed + it.failed, 'run')} (required ${shareInPercent(it.probability)})`;
}

/** `the requirement is violated`, `1 of 3 requirements is violated`, `all 3 requirements are met`. */
export function requirementCount(count: number, of: number, state: string): string {
  if (of === 1) return `the requirement is ${state}`;
  if (count === of) return `${of === 2 ? 'both' : `all ${of}`} requirements are ${state}`;
  return `${count} of ${of} requirements ${count === 1 ? 'is' : 'are'} ${state}`;
}

/** `2 runs crashed`, `1 run was lost`; the classes of runs that have failed without an answer. */
export function troubleParts({ crashed, timeout, lost }: ClassCounts): string[] {
  return [
    ...(crashed > 0 ? [`${plural(crashed, 'run')} crashed`] : []),
    ...(timeout > 0 ? [`${plural(timeout, 'run')} timed out`] : []),
    ...(lost > 0 ? [`${plural(lost, 'run')} ${lost === 1 ? 'was' : 'were'} lost`] : []),
  ];
}

/** All runs that did not complete, by class. */
export const incompleteParts = (counts: ClassCounts): string[] => [
  ...troubleParts(counts),
  ...(counts.terminated > 0
    ? [`${plural(counts.terminated, 'run')} ${counts.terminated === 1 ? 'was' : 'were'} ended by a rule`]
    : []),
  ...(counts.cancelled > 0
    ? [`${plural(counts.cancelled, 'run')} ${counts.cancelled === 1 ? 'was' : 'were'} cancelled`]
    : []),
];
