/** The canary study of a study: its nominal run, or also the runs with all inputs low and all inputs high, which have to complete first. */
import { member } from '../../base/json/member.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { BatchSubmission, Fault } from '../../contract/types.ts';
import { asProbe, probeDesign, valueOf, type ProbeRole } from './plan.ts';

/** Why a presumed submission cannot have the canary study that it asks for. */
export function canaryFaults(submission: unknown): Fault[] {
  const policy = member(submission, 'policy');
  if (member(policy, 'canary') === undefined) return [];
  const at = (detail: string): Fault[] => [{ pointer: '/policy/canary', detail }];
  if (member(submission, 'config', 'adaptive') !== undefined)
    return at(
      'is for studies whose inputs have distributions; append the nominal point of an adaptive study as its first round',
    );
  if (member(policy, 'canary_runs') !== undefined)
    return at(
      'and `canary_runs` exclude each other: runs wait for a canary study, or for the first runs; leave one of them out',
    );
  return [];
}

/** The name of a canary study: lists show it beside its study. */
const nameOf = (study: string): string => {
  const end = ' (canary)';
  return `${study.slice(0, LIMITS.nameLength - end.length)}${end}`;
};

/** Returns the canary study that a valid submission asks for; undefined: none. */
export function canarySubmission(submission: BatchSubmission): BatchSubmission | undefined {
  const { config, policy } = submission;
  if (policy?.canary === undefined) return undefined;
  const { inputs, roles } = probeDesign(config, policy.canary === 'corners');
  const runs = roles.filter(({ kind }: ProbeRole) => kind !== 'input');
  const values = new Map(inputs.map((it) => [it.name, runs.map((role) => valueOf(it, role))]));
  const dispersions = Object.entries(config.dispersions).map(([name, it]) => {
    const given = values.get(name);
    return [name, given === undefined ? it : { ...it, distribution: { type: 'table' as const, values: given } }];
  });
  const canary = asProbe(submission, {
    monte_carlo: { runs: runs.length, sampling_method: 'monte_carlo', seed: config.monte_carlo.seed ?? null },
    dispersions: Object.fromEntries(dispersions) as typeof config.dispersions,
  });
  return { ...canary, name: nameOf(submission.name) };
}
