/**
 * Which designs can be sampled: every fault of a submission's dispersions and correlations. Nothing is sampled for keeping here,
 * nothing thrown.
 */
import type { Distribution } from '../../base/distributions/entry.ts';
import { DISTRIBUTION_KINDS, distributionEntry } from '../../base/distributions/table.ts';
import { closestMatch } from '../../base/text/closest-match.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';
import type { BatchConfig, Correlation, DispersionConfig, Fault } from '../../contract/types.ts';
import { MAX_GROUP, connectedGroups, factorOf } from './correlation.ts';
import { SOBOL_DIMENSIONS } from './designs/sobol.ts';

/** Where every distribution is tried for overflow: the least and greatest uniform there are, and the middle. */
const PROBES = [2 ** -53, 0.5, 1 - 2 ** -53];

/**
 * All faults of the dispersions of a study, with pointers into the submission (`/config/dispersions/...`); empty when they can be
 * sampled. Expects the documented shape and names what is missing of it.
 */
export function dispersionFaults(config: Pick<BatchConfig, 'dispersions' | 'monte_carlo'>): Fault[] {
  const pointer = '/config/dispersions';
  const faults: Fault[] = [];
  const entries = Object.entries(config.dispersions);
  if (config.monte_carlo.sampling_method === 'quasi_monte_carlo' && entries.length > SOBOL_DIMENSIONS) {
    const detail = `quasi_monte_carlo takes at most ${SOBOL_DIMENSIONS} dispersions, not ${entries.length}; use latin_hypercube`;
    faults.push({ pointer, detail });
  }
  for (const [name, dispersion] of entries) {
    const here = pointer + pointerToken(name);
    if (name === '') faults.push({ pointer: here, detail: 'the name of a dispersion must not be empty' });
    if (!name.isWellFormed()) {
      faults.push({ pointer: here, detail: 'the name of a dispersion must be valid Unicode, without lone surrogates' });
    }
    faults.push(...distributionFaults(dispersion.distribution, config.monte_carlo.runs, `${here}/distribution`));
  }
  return faults;
}

/** All faults of one distribution. `runs`: of the design. `pointer`: of the distribution. */
export function distributionFaults(distribution: { type: string }, runs: number, pointer: string): Fault[] {
  const { type } = distribution;
  const entry = distributionEntry(type);
  if (entry === undefined) {
    const detail = `must be one of ${DISTRIBUTION_KINDS.join(', ')}, not ${JSON.stringify(type)}`;
    return [{ pointer: `${pointer}/type`, detail }];
  }
  const faults: Fault[] = [];
  const given = new Map<string, unknown>(Object.entries(distribution));
  for (const [name, member] of Object.entries(entry.members)) {
    const value = given.get(name);
    if (member.optional && (value === undefined || value === null)) continue;
    member.check(value, (path, detail) => faults.push({ pointer: `${pointer}/${name}${path}`, detail }));
  }
  if (faults.length > 0) return faults;
  const [name, detail] = entry.relation?.(distribution, runs) ?? [];
  if (name !== undefined && detail !== undefined) return [{ pointer: `${pointer}/${name}`, detail }];
  return overflows(entry, distribution) ? [{ pointer, detail: overflowDetail(entry, type, given) }] : [];
}

function overflows(entry: Distribution, distribution: unknown): boolean {
  if (entry.argument !== 'uniform' || entry.alwaysFinite === true) return false;
  const values = entry.values(distribution);
  return !PROBES.every((u) => Number.isFinite(values(u)));
}

function overflowDetail(entry: Distribution, type: string, given: ReadonlyMap<string, unknown>): string {
  const members = Object.keys(entry.members)
    .filter((name) => typeof given.get(name) === 'number')
    .map((name) => `${name} ${given.get(name) as number}`);
  return `as ${type} with ${members.join(' and ')} has extreme samples that overflow a double; use a narrower one`;
}

/** All faults of `config.correlations`, whose entries have the documented shape. Costs the cube of the greatest group. */
export function correlationFaults(
  correlations: readonly Correlation[],
  dispersions: Readonly<Record<string, DispersionConfig>>,
): Fault[] {
  const pointer = '/config/correlations';
  const faults: Fault[] = [];
  const seen = new Map<string, number>();
  for (const [index, { parameters, rank }] of correlations.entries()) {
    const here = `${pointer}/${index}`;
    for (const [side, name] of parameters.entries()) {
      const detail = parameterFault(name, dispersions);
      if (detail !== undefined) faults.push({ pointer: `${here}/parameters/${side}`, detail });
    }
    if (parameters[0] === parameters[1]) {
      faults.push({ pointer: `${here}/parameters/1`, detail: 'must be another dispersion than the first' });
    }
    if (!(rank > -1 && rank < 1)) {
      faults.push({ pointer: `${here}/rank`, detail: `must be above -1 and below 1, not ${rank}` });
    }
    const pair = JSON.stringify([...parameters].sort());
    const earlier = seen.get(pair);
    if (earlier === undefined) seen.set(pair, index);
    else faults.push({ pointer: here, detail: `repeats the pair of item ${earlier}; give each pair once` });
  }
  return faults.length > 0 ? faults : groupFaults(correlations, pointer);
}

function parameterFault(name: string, dispersions: Readonly<Record<string, DispersionConfig>>): string | undefined {
  if (!Object.hasOwn(dispersions, name)) {
    const near = closestMatch(name, Object.keys(dispersions));
    return `is not a dispersion of this study${near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`}`;
  }
  const type = dispersions[name]!.distribution.type;
  if (distributionEntry(type)?.argument === 'uniform') return undefined;
  return `has the distribution ${type}, which uses no random number and cannot be correlated`;
}

function groupFaults(correlations: readonly Correlation[], pointer: string): Fault[] {
  for (const names of connectedGroups(correlations)) {
    const listed = names.length > 10 ? `${names.slice(0, 10).join(', ')}, ...` : names.join(', ');
    if (names.length > MAX_GROUP) {
      const detail = `joins ${names.length} dispersions into one group (${listed}); a group may have at most ${MAX_GROUP}`;
      return [{ pointer, detail }];
    }
    const group = factorOf(names, correlations);
    if (!('shrinkBy' in group)) continue;
    const detail =
      `contradict each other for ${listed}: no joint distribution has these ranks; ` +
      `multiply the ranks of this group by ${group.shrinkBy} or less`;
    // One group at a time: finding the factor is what costs.
    return [{ pointer, detail }];
  }
  return [];
}
