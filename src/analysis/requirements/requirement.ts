/** A requirement on one output, and the outcome of each run under it. */
import {
  type ParsedCondition,
  type ParsedRange,
  meets,
  parseRequirementCondition,
} from '../../domain/study/condition.ts';
import { contentFaults } from '../../domain/study/requirement-content.ts';
import { LOOKS, TERMINATED_RULES } from '../../contract/enums.ts';
import type { JudgedSubmission, StatedRequirement } from '../../domain/identity/judgement.ts';
import type { Requirement, StatedAt } from '../../contract/types.ts';
import { shareFault } from '../request-checks.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { EXECUTION_SECS } from '../../domain/runs/outputs.ts';
import { type RunTable, outputColumn } from '../table/run-table.ts';

export const DEFAULT_CONFIDENCE = 0.95;

/** One output of a requirement with its condition. */
interface RequirementPart {
  output: string;
  condition: ParsedCondition | ParsedRange;
}

/** A requirement with its defaults and its conditions read. */
export interface ParsedRequirement extends Required<
  Pick<Requirement, 'name' | 'probability' | 'confidence' | 'terminated' | 'look'>
> {
  /** Null where it is of several requirements, whose names are in `all`. */
  output: string | null;
  condition: string | null;
  all?: string[];
  /** When it was stated; absent: before the first run. */
  stated_at?: StatedAt;
  /** A run passes when all of them hold. */
  parts: readonly RequirementPart[];
}

/**
 * Fills in the defaults. Returns the fault as a sentence that begins with the member's name when the requirement is not usable.
 * `study`: the requirements of the study, among which are those that it names.
 */
export function parseRequirement(
  requirement: StatedRequirement,
  study: readonly Requirement[] = [],
): ParsedRequirement | string {
  const { name, confidence = DEFAULT_CONFIDENCE, terminated = 'fail', look = 'once', probability } = requirement;
  const fault = requirementFault(requirement, study) ?? shareFault('probability', probability);
  const other = fault ?? shareFault('confidence', confidence);
  if (other !== undefined) return other;
  if (!TERMINATED_RULES.includes(terminated))
    return `terminated is ${JSON.stringify(terminated)}: expected one of ${TERMINATED_RULES.join(', ')}`;
  if (!LOOKS.includes(look)) return `look is ${JSON.stringify(look)}: expected one of ${LOOKS.join(', ')}`;
  const { output = null, condition = null, all, stated_at: stated } = requirement;
  const parts = (all ?? [name]).map((it): RequirementPart => {
    const of = all === undefined ? requirement : study.find((one) => one.name === it)!;
    return {
      output: of.output!,
      condition: parseRequirementCondition(of.condition!) as RequirementPart['condition'],
    };
  });
  return {
    name,
    probability,
    confidence,
    terminated,
    look,
    output,
    condition,
    ...(all === undefined ? {} : { all }),
    ...(stated === undefined ? {} : { stated_at: stated }),
    parts,
  };
}

/** The fault of the members that say what passes, those of the named requirements included. */
function requirementFault(requirement: Requirement, study: readonly Requirement[]): string | undefined {
  const [first] = contentFaults(requirement, study);
  if (first !== undefined) return `${first.member} ${first.detail}`;
  for (const name of requirement.all ?? []) {
    const [fault] = contentFaults(
      study.find((it) => it.name === name)!,
      study,
    );
    if (fault !== undefined) return `all names ${JSON.stringify(name)}, whose ${fault.member} ${fault.detail}`;
  }
  return undefined;
}

/** `unknown` counts against either verdict; `excluded` runs are not counted; `open` ones are not terminal. */
export const OUTCOMES = ['open', 'pass', 'fail', 'unknown', 'excluded'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * The requirements that a study declares. In a study that stops by itself each is looked at continuously: the stop is decided run
 * by run.
 */
export function requirementsOf({
  requirements = [],
  policy,
}: Pick<JudgedSubmission, 'requirements' | 'policy'>): StatedRequirement[] {
  if (policy?.stop_when === undefined) return requirements;
  return requirements.map((it) => ({ ...it, look: it.look ?? 'continuous' }));
}

/**
 * The outcome of a run under a requirement. `code`: its class, a place in `RUN_CLASSES`. `valueOf`: the value of an output, NaN without one.
 * A run without an output, or one whose telemetry was lost under a termination rule, is unknown; a run that misses a condition fails.
 */
export function outcomeOf(
  { parts, terminated }: Pick<ParsedRequirement, 'parts' | 'terminated'>,
  code: number,
  valueOf: (output: string) => number,
  isTelemetryLost: boolean,
): Outcome {
  if (code === CLASS_CODES.open) return 'open';
  if (code === CLASS_CODES.terminated) return terminated === 'exclude' ? 'excluded' : terminated;
  if (code !== CLASS_CODES.ok || isTelemetryLost) return 'unknown';
  let outcome: Outcome = 'pass';
  for (const { output, condition } of parts) {
    const value = valueOf(output);
    if (Number.isNaN(value)) outcome = 'unknown';
    else if (!meets(condition, value)) return 'fail';
  }
  return outcome;
}

/** The outcome of a row of a table. */
export function outcomeReader(table: RunTable, requirement: ParsedRequirement): (row: number) => Outcome {
  const { classes, telemetryLost, executionSecs } = table;
  const columns = new Map(requirement.parts.map(({ output }) => [output, outputColumn(table, output)]));
  let at = 0;
  const valueOf = (output: string): number => {
    const value = columns.get(output)?.[at] ?? Number.NaN;
    // A simulation may report the member in some runs only: each run is judged on its own, not on the others.
    return output === EXECUTION_SECS && Number.isNaN(value) ? executionSecs[at]! : value;
  };
  return (row) => {
    at = row;
    return outcomeOf(requirement, classes[row]!, valueOf, telemetryLost?.[row] === 1);
  };
}
