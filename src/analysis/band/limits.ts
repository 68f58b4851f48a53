/** The limits that a study sets to a telemetry variable, by its conditions and its requirements, and the units of the variable. */
import type { BatchSubmission } from '../../contract/types.ts';
import { describedOutputs } from '../../domain/runs/described-outputs.ts';
import { limitsOf } from '../../domain/study/condition.ts';

export interface VariableLimit {
  /** The limit in words: `> 9 ends the run`. */
  name: string;
  /** In the units of the variable. */
  value: number;
  kind: 'condition' | 'requirement';
}

type Limiting = Partial<Pick<BatchSubmission, 'config' | 'outputs' | 'requirements'>>;

/** The outputs that report a variable: of its name, declared as its extreme, or derived as its extreme over the whole run. */
const reports = (variable: string, { config, outputs = {} }: Limiting): string[] => [
  variable,
  ...Object.keys(outputs).filter((it) => outputs[it]!.censored === variable),
  ...(config?.derived ?? [])
    .filter((it) => it.telemetry === variable && (it.take === 'max' || it.take === 'min') && it.while === undefined)
    .map((it) => it.name),
];

/** An output that is the variable's extreme has its units, and a requirement on it limits the variable. */
export function variableLimits(
  variable: string,
  submission: Limiting,
): { units: string | undefined; limits: VariableLimit[] } {
  const { config, requirements = [] } = submission;
  const outputs = describedOutputs(submission);
  const reporting = reports(variable, submission);
  const units = reporting.map((it) => (Object.hasOwn(outputs, it) ? outputs[it]!.units : undefined)).find((it) => it);
  const early = config?.early_termination;
  const conditions = early?.enabled === true ? early.conditions : [];
  const ends = early?.shadow === true ? 'would end the run' : 'ends the run';
  const limits = [
    ...conditions
      .filter((it) => it.variable === variable)
      .map((it) => ({ condition: it.condition, name: `${it.condition} ${ends}`, kind: 'condition' as const })),
    ...requirements
      .filter((it) => it.output !== undefined && reporting.includes(it.output))
      .map((it) => ({
        condition: it.condition,
        name: `${it.condition} required: ${it.name}`,
        kind: 'requirement' as const,
      })),
  ].flatMap(({ condition, name, kind }) => limitsOf(condition).map((value): VariableLimit => ({ name, value, kind })));
  return { units, limits };
}

/** A limit farther from the values than this many times their range would squeeze them into a line. */
const FAR = 4;

/** Whether a limit is drawn beside these values. */
export function isNear(values: readonly (number | null)[], limit: number): boolean {
  const known = values.filter((it) => it !== null);
  if (known.length === 0) return false;
  const least = known.reduce((a, b) => Math.min(a, b));
  const most = known.reduce((a, b) => Math.max(a, b));
  const range = most - least || Math.abs(most) || 1;
  return limit >= least - FAR * range && limit <= most + FAR * range;
}
