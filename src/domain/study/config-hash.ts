/** Fingerprint of a study's configuration: equal for equal configurations, independent of the order of members. */
import { createHash } from 'node:crypto';
import { orderedScenarios } from '../scenarios/cells.ts';
import type { BatchConfig } from '../../contract/types.ts';

/** The value with sorted members; a bigint (a large seed) as its digits, so that no digit is lost. */
export function canonical(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  // A list of numbers may have a million: written at once, as each alone would be.
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

/** Dispersions without the notes about where they come from, which decide no run: studies that differ in these alone are equal. */
export const withoutSources = (dispersions: BatchConfig['dispersions']): BatchConfig['dispersions'] =>
  Object.fromEntries(Object.entries(dispersions).map(([name, { source: _, ...rest }]) => [name, rest]));

/** SHA-256 (64 hex digits) of the canonical JSON of the configuration with the seed that is used. The order of levels counts, which numbers the cells. */
export function configHash(given: BatchConfig): string {
  const { scenarios } = (given as BatchConfig | null) ?? {};
  const config = scenarios === undefined ? given : { ...given, scenarios: orderedScenarios(scenarios) };
  return createHash('sha256').update(canonical(config)).digest('hex');
}
