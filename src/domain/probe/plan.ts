/**
 * The probe of a study: a nominal run with every input at its median, and each dispersed input alone at a low and a high quantile of its
 * distribution. All runs have one random draw (common random numbers), so that a run differs from the nominal one by its input alone. Pure.
 */
import { pointerToken } from '../../base/json/json-pointer.ts';
import { sortedNames } from '../../base/text/sorted-names.ts';
import { quantileFunction } from '../../base/distributions/table.ts';
import { PROBE_LABEL } from './canary-design.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { BatchConfig, BatchSubmission, DispersionConfig, Fault } from '../../contract/types.ts';
import { scenariosOf } from '../scenarios/epistemic.ts';

/** The quantiles of an input that is probed. */
export const PROBED = { low: 0.01, nominal: 0.5, high: 0.99 } as const;
const CLIENT_LABELS = 'simbatch.';

/** A dispersed input, and its values in the runs of a probe. */
export interface ProbedInput {
  name: string;
  units: string;
  low: number;
  nominal: number;
  high: number;
}

/** The place of a run in a probe: the nominal run, an input at one of its ends, or all inputs at the same end. */
export type ProbeRole =
  { kind: 'nominal' } | { kind: 'input'; name: string; end: 'low' | 'high' } | { kind: 'corner'; end: 'low' | 'high' };

/** The inputs of a probe, and the role of each of its runs. */
export interface ProbeDesign {
  inputs: readonly ProbedInput[];
  roles: readonly ProbeRole[];
}

export interface ProbePlan extends ProbeDesign {
  /** An adaptive study, whose only round has the rows. */
  submission: BatchSubmission;
  /** One for each role. */
  rows: readonly Readonly<Record<string, number>>[];
}

/** The value of a dispersion at a probability; of a table that of its sorted values. */
function quantile({ distribution }: DispersionConfig): (probability: number) => number {
  if (distribution.type !== 'table') return quantileFunction(distribution);
  const sorted = Float64Array.from(distribution.values).sort();
  return (probability) => sorted[Math.max(0, Math.ceil(probability * sorted.length) - 1)]!;
}

/** Returns why a study cannot be probed; `pointer` is into its submission. Undefined: it can. */
export function probeFault({ config }: BatchSubmission): Fault | undefined {
  if (scenariosOf(config) !== undefined) {
    const detail =
      'does not go with a probe, which is of one scenario; leave it out to probe the inputs as they are declared';
    return { pointer: `/config/${config.scenarios === undefined ? 'epistemic' : 'scenarios'}`, detail };
  }
  const inputs = Object.entries(config.dispersions).filter(([, it]) => it.distribution.type !== 'fixed');
  const [name] = inputs.find(([, it]) => it.distribution.type === 'chosen') ?? [];
  if (name !== undefined) {
    const pointer = `/config/dispersions${pointerToken(name)}/distribution/type`;
    return { pointer, detail: 'is "chosen", which has no quantiles; give the input a distribution to probe it' };
  }
  const pointer = '/config/dispersions';
  if (inputs.length === 0) return { pointer, detail: 'has no dispersed input; a probe varies each of them' };
  const rows = 2 * inputs.length + 3;
  if (rows <= LIMITS.roundRows && rows * inputs.length * Float64Array.BYTES_PER_ELEMENT <= LIMITS.roundBytes)
    return undefined;
  return {
    pointer,
    detail: `has ${inputs.length} dispersed inputs, more than the rows of one round can hold; probe a part of them, the others fixed`,
  };
}

/**
 * Returns the design of the probe of a study for which `probeFault` finds nothing.
 * @param corners whether there is also a run with all inputs low, and one with all inputs high.
 */
export function probeDesign({ dispersions }: BatchConfig, corners = false): ProbeDesign {
  const inputs = sortedNames(Object.keys(dispersions)).flatMap((input): ProbedInput[] => {
    const dispersion = dispersions[input]!;
    if (dispersion.distribution.type === 'fixed') return [];
    const at = quantile(dispersion);
    const { low, nominal, high } = PROBED;
    return [{ name: input, units: dispersion.units, low: at(low), nominal: at(nominal), high: at(high) }];
  });
  return { inputs, roles: rolesOf(inputs, corners) };
}

/** The roles of the runs of a probe, in their order. */
export function rolesOf(inputs: readonly ProbedInput[], corners: boolean): ProbeRole[] {
  const ends = ['low', 'high'] as const;
  return [
    { kind: 'nominal' },
    ...inputs.flatMap(({ name }) => ends.map((end): ProbeRole => ({ kind: 'input', name, end }))),
    ...(corners ? ends.map((end): ProbeRole => ({ kind: 'corner', end })) : []),
  ];
}

/** Returns the probe of a study, as `probeDesign` does, with its submission and its rows. */
export function probePlan(submission: BatchSubmission, corners = false): ProbePlan {
  const design = probeDesign(submission.config, corners);
  const { inputs, roles } = design;
  return {
    ...design,
    submission: probeSubmission(submission, roles.length),
    rows: roles.map((role) => Object.fromEntries(inputs.map((it) => [it.name, valueOf(it, role)]))),
  };
}

/** The value of an input in the run of a role. */
export function valueOf(it: ProbedInput, role: ProbeRole): number {
  if (role.kind === 'nominal' || (role.kind === 'input' && role.name !== it.name)) return it.nominal;
  return it[role.end];
}

/** The rows of a probe as the round of an adaptive study. */
function probeSubmission(submission: BatchSubmission, runs: number): BatchSubmission {
  const { config } = submission;
  const chosen = { type: 'chosen' as const, lower: null, upper: null };
  const dispersions = Object.entries(config.dispersions).map(([input, it]) => [
    input,
    it.distribution.type === 'fixed' ? it : { ...it, distribution: chosen },
  ]);
  return asProbe(submission, {
    monte_carlo: { runs, sampling_method: 'adaptive', seed: config.monte_carlo.seed ?? null },
    adaptive: { algorithm: 'external' },
    dispersions: Object.fromEntries(dispersions) as typeof config.dispersions,
  });
}

/** The study with another design, without everything that makes runs a sample or judges them, and with the label of a probe. */
export function asProbe(
  { config, ...rest }: BatchSubmission,
  design: Pick<BatchConfig, 'monte_carlo' | 'dispersions' | 'adaptive'>,
): BatchSubmission {
  const { correlations: _, ...kept } = config;
  const { priority, code } = rest.policy ?? {};
  const { requirements: _r, runs_override: _o, policy: _p, ...members } = rest;
  const policy = { ...(priority === undefined ? {} : { priority }), ...(code === undefined ? {} : { code }) };
  // The Python client finds a study of its own by such a label, and the probe is another one.
  const labels = Object.entries(rest.labels ?? {}).filter(([key]) => !key.startsWith(CLIENT_LABELS));
  return {
    ...members,
    labels: { ...Object.fromEntries(labels), [PROBE_LABEL]: rest.name.slice(0, LIMITS.labelValueLength) },
    ...(Object.keys(policy).length === 0 ? {} : { policy }),
    config: { ...kept, ...design },
  };
}
