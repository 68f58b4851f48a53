/**
 * Findings about limits: were the early-termination conditions of a study really checked? From what its ended runs reported.
 * Pure. A study whose limit was never evaluated must not look like a success.
 */
import type { BatchTelemetry, EarlyTerminationConfig, JobStatus } from '../contract/types.ts';
import type { Finding } from './diagnosis.ts';
import { plural } from './plural.ts';

export interface LimitSituation {
  earlyTermination: EarlyTerminationConfig;
  /** `telemetry.variables`: the variables that the study wants kept; empty: all that come. */
  variables: readonly string[];
  jobsByStatus: Readonly<Record<JobStatus, number>>;
  /** Undefined when no runner has reported any. */
  telemetry: BatchTelemetry | undefined;
}

/** The variables that the conditions name, each once and in order; none when early termination is off. */
export function conditionVariables({ enabled, conditions }: EarlyTerminationConfig): string[] {
  return enabled ? [...new Set(conditions.map(({ variable }) => variable))] : [];
}

/** Returns the findings, the gravest first; none when no limit is set and no telemetry is asked for. */
export function limitFindings(situation: LimitSituation): Finding[] {
  const { jobsByStatus, telemetry } = situation;
  const limits = conditionVariables(situation.earlyTermination);
  const ended = jobsByStatus.Completed + jobsByStatus.Failed + jobsByStatus.Timeout;
  const reported = telemetry?.reported_runs ?? 0;
  const found = [
    telemetry === undefined ? undefined : neverSeen(limits, telemetry),
    telemetry === undefined || limits.length + situation.variables.length === 0 ? undefined : absent(telemetry),
    telemetry === undefined || limits.length === 0 ? undefined : lossy(telemetry),
    limits.length === 0 ? undefined : unreported(ended, reported),
  ];
  return found.filter((finding) => finding !== undefined);
}

function neverSeen(limits: readonly string[], { judged, reported_runs: runs }: BatchTelemetry): Finding | undefined {
  const seen = new Set(judged.map(({ variable }) => variable));
  const missing = limits.filter((variable) => !seen.has(variable));
  if (missing.length === 0 || runs === 0) return undefined;
  return {
    code: 'condition-never-seen',
    severity: 'doubtful',
    reason: `the limit on ${listed(missing)} was never checked: none of ${plural(runs, 'run')} sent a number of ${missing.length === 1 ? 'it' : 'them'}`,
    remedy: `send the variable under exactly this name, or correct \`early_termination.conditions\`; \`telemetry.seen\` of a run's result lists the names that came`,
    count: missing.length,
  };
}

function absent({ silent_runs: silent, reported_runs: runs }: BatchTelemetry): Finding | undefined {
  if (runs === 0 || silent < runs) return undefined;
  return {
    code: 'telemetry-absent',
    severity: 'doubtful',
    reason: `no telemetry came from ${plural(runs, 'run')}`,
    remedy: 'call `run.telemetry(...)` in the simulation; its stderr.log says when telemetry could not be sent',
    count: silent,
  };
}

function lossy({ lossy_runs: runs, samples_lost: lost }: BatchTelemetry): Finding | undefined {
  if (runs === 0) return undefined;
  return {
    code: 'telemetry-lost',
    severity: 'doubtful',
    reason: `${plural(runs, 'run')} lost ${lost} samples before any condition saw them`,
    remedy: 'see `telemetry.lost` of the results; send less, or give the runner more processor time or a faster disk',
    count: runs,
  };
}

function unreported(ended: number, reported: number): Finding | undefined {
  const runs = ended - reported;
  if (runs <= 0) return undefined;
  return {
    code: 'telemetry-unreported',
    // Runs that their runner did not survive report nothing either: a few are usual, all of them are not.
    severity: reported === 0 ? 'doubtful' : 'fine',
    reason: `${reported === 0 ? `none of ${ended} ended runs has` : `${runs} of ${ended} ended runs have not`} reported which variables came: whether their limits were checked is unknown`,
    remedy: 'use runners of this version, or report `result.telemetry` from your own',
    count: runs,
  };
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => `"${name}"`);
  return names.length > 3 ? `${shown.join(', ')} and ${names.length - 3} more` : shown.join(', ');
}
