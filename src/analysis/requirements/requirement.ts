/** A requirement on one output, and the outcome of each run under it. */
import { type ParsedCondition, meets, parseCondition } from '../../domain/condition.ts';
import { LOOKS, TERMINATED_RULES } from '../../contract/enums.ts';
import type { Requirement } from '../../contract/types.ts';
import { shareFault } from '../request-checks.ts';
import { CLASS_CODES } from '../table/run-class.ts';
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

/** The outcome of a row. A run without the output, or one whose telemetry was lost under a rule, is unknown. */
export function outcomeReader(table: RunTable, requirement: ParsedRequirement): (row: number) => Outcome {
  const values = outputColumn(table, requirement.output);
  const { classes, telemetryLost } = table;
  const { parsed } = requirement;
  const terminated = requirement.terminated === 'exclude' ? 'excluded' : requirement.terminated;
  return (row) => {
    const code = classes[row];
    if (code === CLASS_CODES.open) return 'open';
    if (code === CLASS_CODES.terminated) return terminated;
    const value = values?.[row] ?? Number.NaN;
    if (code !== CLASS_CODES.ok || Number.isNaN(value) || telemetryLost?.[row] === 1) return 'unknown';
    return meets(parsed, value) ? 'pass' : 'fail';
  };
}
