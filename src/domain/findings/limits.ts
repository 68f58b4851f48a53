/**
 * Findings about limits: were the early-termination conditions of a study really checked? From the telemetry that its ended
 * runs reported. A study whose limit was never evaluated must not look like a success.
 */
import { conditionVariables } from '../study/condition.ts';
import { planOf } from '../histories/stream/plan.ts';
import { plural } from '../plural.ts';
import { listed, type Rule } from './finding.ts';

const quoted = (names: readonly string[]): string => listed(names.map((name) => `"${name}"`));

const NEVER_SEEN: Rule = {
  code: 'condition-never-seen',
  find({ earlyTermination, telemetry }) {
    if (telemetry === undefined || telemetry.reported_runs === 0) return undefined;
    const seen = new Set(telemetry.judged.map(({ variable }) => variable));
    const missing = conditionVariables(earlyTermination).filter((variable) => !seen.has(variable));
    if (missing.length === 0) return undefined;
    return {
      severity: 'doubtful',
      message: `the limit on ${quoted(missing)} was never checked: none of ${plural(telemetry.reported_runs, 'run')} sent a number of ${missing.length === 1 ? 'it' : 'them'}`,
      remedy: `send the variable under exactly this name, or correct \`early_termination.conditions\`; \`telemetry.seen\` of a run's result lists the names that came`,
      count: missing.length,
    };
  },
};

const ABSENT: Rule = {
  code: 'telemetry-absent',
  find({ earlyTermination, variables, telemetry }) {
    if (telemetry === undefined || conditionVariables(earlyTermination).length + variables.length === 0)
      return undefined;
    const { silent_runs: silent, reported_runs: runs } = telemetry;
    if (runs === 0 || silent < runs) return undefined;
    return {
      severity: 'doubtful',
      message: `no telemetry came from ${plural(runs, 'run')}`,
      remedy: 'call `run.telemetry(...)` in the simulation; its stderr.log says when telemetry could not be sent',
      count: silent,
    };
  },
};

const LOST: Rule = {
  code: 'telemetry-lost',
  find({ earlyTermination, telemetry, declared }) {
    const { lossy_runs: runs = 0, samples_lost: lost = 0 } = telemetry ?? {};
    if (runs === 0) return undefined;
    const readers = [
      ...(conditionVariables(earlyTermination).length === 0 ? [] : ['condition']),
      ...(planOf(declared).variables.length === 0 ? [] : ['history or derived output']),
    ];
    if (readers.length === 0) return undefined;
    return {
      severity: 'doubtful',
      message: `${plural(runs, 'run')} lost ${lost} samples before any ${readers.join(', ')} saw them`,
      remedy: 'see `telemetry.lost` of the results; send less, or give the runner more processor time or a faster disk',
      count: runs,
    };
  },
};

const UNREPORTED: Rule = {
  code: 'telemetry-unreported',
  find({ earlyTermination, telemetry, jobsByStatus }) {
    if (conditionVariables(earlyTermination).length === 0) return undefined;
    const ended = jobsByStatus.Completed + jobsByStatus.Failed + jobsByStatus.Timeout;
    const reported = telemetry?.reported_runs ?? 0;
    const runs = ended - reported;
    if (runs <= 0) return undefined;
    return {
      // Runs that their runner did not survive report nothing either: a few are usual, all of them are not.
      severity: reported === 0 ? 'doubtful' : 'fine',
      message: `${reported === 0 ? `none of ${ended} ended runs has` : `${runs} of ${ended} ended runs have not`} reported which variables came: whether their limits were checked is unknown`,
      remedy: 'use runners of this version, or report `result.telemetry` from your own',
      count: runs,
    };
  },
};

export const LIMIT_RULES: readonly Rule[] = [NEVER_SEEN, ABSENT, LOST, UNREPORTED];
