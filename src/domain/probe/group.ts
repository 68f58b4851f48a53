/** The group of a study and its probes: equal for studies of one simulation that could have the same probe. Pure. */
import { createHash } from 'node:crypto';
import { sortedNames } from '../../base/text/sorted-names.ts';
import type { BatchConfig, BatchSubmission } from '../../contract/types.ts';
import { PROBE_LABEL } from './canary-design.ts';

/** Whether a study is a probe by its label and its form; only its rows say of which study. */
export const isProbe = ({ config, labels = {} }: Pick<BatchSubmission, 'config' | 'labels'>): boolean =>
  config.adaptive !== undefined && Object.hasOwn(labels, PROBE_LABEL);

/**
 * Returns the digest of the simulation, its environment, and the names of the inputs, with the values of those that are fixed: the members
 * that a study and its probe have in common. 64 hex digits.
 */
export function probeGroup({ simulation, compute, dispersions }: BatchConfig): string {
  const environment = compute.container.environment ?? {};
  const inputs = sortedNames(Object.keys(dispersions)).map((name) => {
    const { distribution } = dispersions[name]!;
    return distribution.type === 'fixed' ? [name, distribution.value] : [name];
  });
  const variables = sortedNames(Object.keys(environment)).map((name) => [name, environment[name]]);
  const members = ['simbatch-probe-group/1', simulation.name, simulation.version, variables, inputs];
  return createHash('sha256').update(JSON.stringify(members)).digest('hex');
}
