/** The marks of a variable's plot: limits of its conditions and requirements, its units, and the moment of a hit. */
import { variableLimits, type VariableLimit } from '../../../src/analysis/band/limits.ts';
import type { BatchSubmission, JobResult } from '../../../src/contract/types.ts';
import { figure } from '../parts/time.tsx';

export interface Hit {
  /** Seconds since the zero of the telemetry. */
  secs: number;
  /** Null for an infinite one. */
  value: number | null;
  text: string;
}

export interface Marks {
  units: string | undefined;
  limits: VariableLimit[];
  hit: Hit | undefined;
}

/** The marks of one variable. */
export function marksOf(
  variable: string,
  submission: BatchSubmission | undefined,
  result: JobResult | null,
  zeroSecs: number,
): Marks {
  const { units, limits } = variableLimits(variable, submission ?? {});
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
