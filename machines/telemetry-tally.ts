/**
 * Counts of a batch about the telemetry of its ended runs: whether early-termination limits were really checked. The size
 * grows with the number of conditions, not with that of runs. Pure.
 */
import type { ReportedResult, TelemetryTally } from '../src/contract/types.ts';

/** The telemetry of one run, as far as its batch counts it. */
export interface RunTelemetry {
  /** Samples that reached the runner. */
  samples: number;
  /** Samples that the simulation gave up. */
  lost: number;
  /** The conditions' variables of which a number came, each once. */
  judged: readonly string[];
  /** A condition in shadow was met. */
  wouldTerminate: boolean;
}

const NOTHING: TelemetryTally = { reported: 0, silent: 0, lossy: 0, lost: 0, wouldTerminate: 0, judged: [] };

type Measured = Pick<ReportedResult, 'telemetry' | 'would_terminate'>;

/** The telemetry of a run, from its result and the variables of its study's conditions; undefined when not reported. */
export function runTelemetry(result: Measured | undefined, limits: readonly string[]): RunTelemetry | undefined {
  if (result?.telemetry === undefined) return undefined;
  const { seen, samples, lost } = result.telemetry;
  const names = new Set(seen);
  const judged = limits.filter((variable) => names.has(variable));
  return { samples, lost, judged, wouldTerminate: result.would_terminate !== undefined };
}

/** The tally with one more run. */
export function addRun(tally: TelemetryTally | undefined, run: RunTelemetry): TelemetryTally {
  const { reported, silent, lossy, lost, wouldTerminate, judged } = tally ?? NOTHING;
  return {
    reported: reported + 1,
    silent: silent + (run.samples === 0 ? 1 : 0),
    lossy: lossy + (run.lost > 0 ? 1 : 0),
    lost: Math.min(lost + run.lost, Number.MAX_SAFE_INTEGER),
    wouldTerminate: wouldTerminate + (run.wouldTerminate ? 1 : 0),
    judged: run.judged.length === 0 ? judged : addJudged(judged, run.judged),
  };
}

function addJudged(counts: TelemetryTally['judged'], variables: readonly string[]): TelemetryTally['judged'] {
  const judged = new Set(variables);
  const next = counts.map((it) => (judged.delete(it.variable) ? { variable: it.variable, runs: it.runs + 1 } : it));
  for (const variable of judged) next.push({ variable, runs: 1 });
  return next;
}
