/** The marks of a variable's plot: limits of its conditions and requirements, its units, and the moment of a hit. */
import { limitsOf } from '../../../src/domain/study/condition.ts';
import type { BatchSubmission, JobResult } from '../../../src/contract/types.ts';
import { figure } from '../parts/time.tsx';

export interface Limit {
  name: string;
  value: number;
  kind: 'condition' | 'requirement';
}

export interface Hit {
  /** Seconds since the zero of the telemetry. */
  secs: number;
  /** Null for an infinite one. */
  value: number | null;
  text: string;
}

export interface Marks {
  units: string | undefined;
  limits: Limit[];
  hit: Hit | undefined;
}

type Declared = NonNullable<BatchSubmission['outputs']>;

/** The outputs that report a variable: of its name, or declared as its extreme. */
const reports = (outputs: Declared, variable: string): string[] => [
  variable,
  ...Object.keys(outputs).filter((it) => outputs[it]!.censored === variable),
];

/** The marks of one variable. An output that is the variable's extreme has its units, and a requirement on it limits the variable. */
export function marksOf(
  variable: string,
  submission: BatchSubmission | undefined,
  result: JobResult | null,
  zeroSecs: number,
): Marks {
  const { outputs = {}, requirements = [] } = submission ?? {};
  const reporting = reports(outputs, variable);
  const units = reporting.map((it) => (Object.hasOwn(outputs, it) ? outputs[it]!.units : undefined)).find((it) => it);
  const early = submission?.config.early_termination;
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
  ].flatMap(({ condition, name, kind }) => limitsOf(condition).map((value): Limit => ({ name, value, kind })));
  return { units, limits, hit: hitOf(variable, units, result, zeroSecs) };
}

function hitOf(
  variable: string,
  units: string | undefined,
  result: JobResult | null,
  zeroSecs: number,
): Hit | undefined {
  const hit = result?.terminated_by ?? result?.would_terminate;
  if (hit === undefined || hit.variable !== variable) return undefined;
  const secs = hit.time_s - zeroSecs;
  const ended = result?.terminated_by === undefined ? 'was met' : 'was met and ended the run';
  return {
    secs,
    value: hit.value,
    text: `${hit.condition} ${ended} at ${figure(secs)} s, by ${hit.value === null ? 'an infinite value' : `${figure(hit.value)}${units === undefined ? '' : ` ${units}`}`}`,
  };
}
