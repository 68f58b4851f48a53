/** A requirement on one output, and the outcome of each run under it. */
import { type ParsedCondition, meets, parseCondition } from '../../domain/study/condition.ts';
import { LOOKS, TERMINATED_RULES } from '../../contract/enums.ts';
import type { BatchSubmission, Requirement } from '../../contract/types.ts';
import { shareFault } from '../request-checks.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { EXECUTION_SECS } from '../../domain/runs/outputs.ts';
import { type RunTable, outputColumn } from '../table/run-table.ts';

export const DEFAULT_CONFIDENCE = 0.95;

/** A requirement with its defaults and its condition read. */
export interface ParsedRequirement extends Required<Requirement> {
  parsed: ParsedCondition;
}

/** Fills in the defaults. Returns the fault as a sentence that begins with the member's name when the requirement is not usable. */
export function parseRequirement(requirement: Requirement): ParsedRequirement | string {
  const { confidence = DEFAULT_CONFIDENCE, terminated = 'fail', look = 'once', probability } = requirement;
  const parsed = parseCondition(requirement.condition);
  if (typeof parsed === 'string') return `condition ${parsed}`;
  const fault = shareFault('probability', probability) ?? shareFault('confidence', confidence);
  if (fault !== undefined) return fault;
  if (!TERMINATED_RULES.includes(terminated))
    return `terminated is ${JSON.stringify(terminated)}: expected one of ${TERMINATED_RULES.join(', ')}`;
  if (!LOOKS.includes(look)) return `look is ${JSON.stringify(look)}: expected one of ${LOOKS.join(', ')}`;
  return { ...requirement, confidence, terminated, look, parsed };
}

/** `unknown` counts against either verdict; `excluded` runs are not counted; `open` ones are not terminal. */
export const OUTCOMES = ['open', 'pass', 'fail', 'unknown', 'excluded'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * The requirements that a study declares. In a study that stops when they are settled each is looked at continuously: the stop is
 * decided run by run.
 */
export function requirementsOf({
  requirements = [],
  policy,
}: Pick<BatchSubmission, 'requirements' | 'policy'>): Requirement[] {
  if (policy?.stop_when === undefined) return requirements;
  return requirements.map((it) => ({ ...it, look: it.look ?? 'continuous' }));
}

/**
 * The outcome of a run under a requirement. `code`: its class, a place in `RUN_CLASSES`. `value`: of the output, NaN without one.
 * A run without the output, or one whose telemetry was lost under a termination rule, is unknown.
 */
export function outcomeOf(
  { parsed, terminated }: ParsedRequirement,
  code: number,
  value: number,
  isTelemetryLost: boolean,
): Outcome {
  if (code === CLASS_CODES.open) return 'open';
  if (code === CLASS_CODES.terminated) return terminated === 'exclude' ? 'excluded' : terminated;
  if (code !== CLASS_CODES.ok || Number.isNaN(value) || isTelemetryLost) return 'unknown';
  return meets(parsed, value) ? 'pass' : 'fail';
}

/** The outcome of a row of a table. */
export function outcomeReader(table: RunTable, requirement: ParsedRequirement): (row: number) => Outcome {
  const values = outputColumn(table, requirement.output);
  const { classes, telemetryLost, executionSecs } = table;
  const isExecutionSecs = requirement.output === EXECUTION_SECS;
  return (row) => {
    let value = values?.[row] ?? Number.NaN;
    // A simulation may report the member in some runs only: each run is judged on its own, not on the others.
    if (isExecutionSecs && Number.isNaN(value)) value = executionSecs[row]!;
    return outcomeOf(requirement, classes[row]!, value, telemetryLost?.[row] === 1);
  };
}
