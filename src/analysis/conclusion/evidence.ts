/** The evidence about the runs of a study from which the answer is concluded. */
import { noSampleOf } from '../../domain/study/design-method.ts';
import type { ConditionOperator } from '../../base/expressions/comparison.ts';
import type { PrecisionReached, RareEventAnswer, Requirement } from '../../contract/types.ts';
import { studyAttribution } from '../attribution/study-attribution.ts';
import { type FailurePattern, failurePatterns } from '../failure-patterns.ts';
import type { RequirementAnswer } from '../requirements/answer.ts';
import { precisionsReached } from '../precision/judge.ts';
import type { ParsedPrecision } from '../precision/precision.ts';
import { judgeRequirement } from '../requirements/judge.ts';
import { type ParsedRequirement, outcomeReader, parseRequirement } from '../requirements/requirement.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import type { Moves } from '../table/answered-study.ts';
import { type ClassCounts, type RunTable, countClasses, countReused, runsOf } from '../table/run-table.ts';

export interface RequirementEvidence extends RequirementAnswer {
  units: string | null;
  /** All runs that fail it, also those after the complete prefix. */
  violating: number;
  /** True where a rule ended some of them: these have no value. */
  hasTerminated: boolean;
  /** The condition in the table of runs that selects them. */
  where: string;
}

/** The parameter that sets the failing runs apart the most. */
export interface Cause {
  /** The failing runs, as the attribution takes them. */
  failing: string;
  parameter: string;
  /** The condition, such as `wind_speed >= 22`. */
  condition: string;
  first: number | null;
  last: number | null;
}

export interface StudyEvidence {
  batch_id: string;
  total: number;
  counts: ClassCounts;
  /** Runs that have the result of another run and were not executed. */
  reused: number;
  requirements: RequirementEvidence[];
  /** How near the runs are to the precisions at which the study stops; empty without any. */
  precision: PrecisionReached[];
  /** The most frequent patterns. */
  failures: Pick<FailurePattern, 'class' | 'pattern' | 'count' | 'example_run_id'>[];
  patterns: number;
  /** Null while runs are open, and where nothing sets the failing runs apart. */
  cause: Cause | null;
  /** The answer of a study of rare events, of all its repeats together; absent for another study. */
  rare?: Pick<RareEventAnswer, 'phase' | 'requirement' | 'verdict' | 'sentence'>;
  /** Attempts that failed and were repeated; null where the records of the runs are not at hand. */
  retries: Retries | null;
}

export interface Retries {
  attempts: number;
  /** The time for which they were running. */
  secs: number;
  /** Attempts that the records no longer have. */
  omitted: number;
}

/** Patterns that the answer names. */
const MOST_PATTERNS = 5;
/** Fewer failing runs have no cause that can be decided apart. */
const LEAST_FAILING = 5;

/** @throws RangeError when a requirement is not usable. */
export function studyEvidence(
  table: RunTable,
  requirements: readonly Requirement[],
  units: ReadonlyMap<string, string>,
  moves?: Moves,
  precisions: readonly ParsedPrecision[] = [],
): StudyEvidence {
  // Runs that are not a sample have no verdict to conclude from.
  const decided = noSampleOf(table.method) === undefined || table.cells !== undefined ? requirements : [];
  const judged = decided.map((it) => requirementEvidence(table, it, requirements, units.get(it.output ?? '') ?? null));
  const patterns = failurePatterns(table);
  const counts = countClasses(table);
  return {
    batch_id: table.batchId,
    total: runsOf(table),
    counts,
    reused: countReused(table),
    requirements: judged,
    precision: precisionsReached(table, precisions, units),
    failures: patterns.slice(0, MOST_PATTERNS).map(({ class: name, pattern, count, example_run_id }) => ({
      class: name,
      pattern,
      count,
      example_run_id,
    })),
    patterns: patterns.length,
    cause: counts.open > 0 || counts.ok === 0 ? null : causeOf(table, requirements, judged, counts),
    retries: moves === undefined ? null : retriesOf(moves),
  };
}

const retriesOf = ({ repeated: { attempts, totalMs }, omittedAttempts }: Moves): Retries => ({
  attempts,
  secs: totalMs / 1000,
  omitted: omittedAttempts,
});

function requirementEvidence(
  table: RunTable,
  requirement: Requirement,
  requirements: readonly Requirement[],
  units: string | null,
): RequirementEvidence {
  const answer = judgeRequirement(table, requirement, requirements);
  const parsed = parseRequirement(requirement, requirements);
  if (typeof parsed === 'string') throw new RangeError(`requirement "${requirement.name}" is not usable: ${parsed}`);
  const outcomeOf = outcomeReader(table, parsed);
  let violating = 0;
  let terminated = 0;
  for (let row = 0; row < table.rows; row++) {
    if (outcomeOf(row) !== 'fail') continue;
    violating++;
    if (table.classes[row] === CLASS_CODES.terminated) terminated++;
  }
  return { ...answer, units, violating, hasTerminated: terminated > 0, where: whereFails(parsed, terminated > 0) };
}

const NEGATED: Readonly<Record<ConditionOperator, ConditionOperator>> = {
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
  '==': '!=',
  '!=': '==',
};

/** `outputs.miss_m > 50 and class = ok`. */
function whereFails({ parts }: ParsedRequirement, hasTerminated: boolean): string {
  const missed = parts.flatMap(missesPart);
  const fails = `${missed.length === 1 ? missed[0] : `(${missed.join(' or ')})`} and class = ok`;
  return hasTerminated ? `(${fails}) or class = terminated` : fails;
}

function missesPart({ output, condition }: ParsedRequirement['parts'][number]): string[] {
  const column = output === 'execution_secs' ? output : `outputs.${output}`;
  const name = /^[A-Za-z_][\w.]*$/.test(column) ? column : `'${column.replaceAll("'", "''")}'`;
  if (condition.operator === '..') return [`${name} < ${condition.low}`, `${name} > ${condition.high}`];
  // The language of tables writes equality with one sign.
  return [`${name} ${NEGATED[condition.operator].replace('==', '=')} ${condition.threshold}`];
}

function causeOf(
  table: RunTable,
  requirements: readonly Requirement[],
  judged: readonly RequirementEvidence[],
  counts: ClassCounts,
): Cause | null {
  const violated = judged.find((it) => it.verdict === 'violated');
  const crashed = counts.crashed + counts.timeout;
  if (violated === undefined ? crashed < LEAST_FAILING : violated.violating < LEAST_FAILING) return null;
  const failing = violated?.name ?? (counts.timeout > counts.crashed ? 'timeout' : 'crashed');
  const [found] = studyAttribution(table, { failing, requirements }).parameters.filter((it) => it.told_apart);
  if (found === undefined) return null;
  const { first, last, sentence } = found.best_interval;
  return { failing, parameter: found.name, condition: sentence.replace(/: \d+ of \d+ failures.*$/s, ''), first, last };
}
