/** The members of a result that the runner measures: execution time, telemetry counts, the condition that was met. */
import type { ReportedResult } from '../../../contract/types.ts';
import { terminationOf } from '../../telemetry/early-termination.ts';
import type { TelemetrySummary } from '../../telemetry/server.ts';

type Measured = Pick<ReportedResult, 'execution_secs' | 'telemetry' | 'terminated_by' | 'would_terminate'>;

const MS_PER_S = 1000;

/** @param terminated whether the run was ended for the condition that was met. */
export function measuredMembers(elapsedMs: number, telemetry: TelemetrySummary, terminated: boolean): Measured {
  const { seen, accepted, lost, refused, refusedValues, hit, shadow } = telemetry;
  return {
    execution_secs: elapsedMs / MS_PER_S,
    telemetry: { seen, samples: accepted, lost, refused: refused + refusedValues },
    ...(hit !== null && terminated ? { terminated_by: terminationOf(hit) } : {}),
    ...(hit !== null && shadow ? { would_terminate: terminationOf(hit) } : {}),
  };
}

/** Sentences about telemetry that is incomplete, for the readers of the result. */
export function telemetryNotes({ problem, refused, refusedValues, lost, detail }: TelemetrySummary): string[] {
  const notes = problem === null ? [] : [`telemetry was not stored completely: ${problem}`];
  if (refused + refusedValues > 0) {
    notes.push(`${String(refused)} telemetry samples and ${String(refusedValues)} values were refused: ${detail}`);
  }
  if (lost > 0) {
    notes.push(
      `${String(lost)} telemetry samples were lost before they reached the runner: no condition, history or derived output saw them`,
    );
  }
  return notes;
}
