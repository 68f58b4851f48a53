/** A study in the form: access to its members, its initial value, and its faults with their positions. */
import type { Member } from '../../../src/base/distributions/members.ts';
import { DISTRIBUTIONS } from '../../../src/base/distributions/table.ts';
import { INT32_MAX, LIMITS } from '../../../src/contract/limits.ts';
import { seedFault } from '../../../src/domain/seed.ts';
import { isReadableEpistemic } from '../../../src/domain/scenarios/epistemic.ts';
import { isReadableScenarios } from '../../../src/domain/study/scenarios/faults.ts';
import { submissionFaults } from '../../../src/domain/study/submission.ts';
import type { BatchSubmission, DistributionType, Fault } from '../../../src/contract/types.ts';

/** Returns the initial value of a distribution: the examples of its required members. */
export function newDistribution(type: DistributionType['type']): DistributionType {
  const members = Object.entries<Member>(DISTRIBUTIONS[type].members).filter(([, { optional }]) => !optional);
  return { type, ...Object.fromEntries(members.map(([name, { example }]) => [name, example])) } as DistributionType;
}

export const NEW_STUDY: BatchSubmission = {
  name: '',
  config: {
    simulation: { name: '', version: '1.0', duration_minutes: 1 },
    monte_carlo: { runs: 100, sampling_method: 'latin_hypercube', seed: null },
    dispersions: {},
    compute: {
      container: { image: 'none', cpu_request: '1', memory_request: '0' },
      max_parallel_jobs: 0,
      job_timeout_seconds: 0,
    },
    early_termination: { enabled: false, check_frequency_hz: 10, conditions: [] },
    telemetry: {
      sampling_rate_hz: 10,
      variables: [],
      storage: { s3_bucket: '', s3_prefix: '', compression: 'snappy' },
      buffer_flush_interval_seconds: 5,
    },
  },
};

/** A member by its JSON Pointer (RFC 6901). */
export function memberAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const part of partsOf(pointer)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return at;
}

/** The value with one member changed; undefined removes it. */
export function withMember<T>(value: T, pointer: string, member: unknown): T {
  const [first, ...rest] = partsOf(pointer);
  if (first === undefined) return member as T;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
  const below =
    rest.length === 0 ? member : withMember(copy[first], rest.map((it) => `/${escaped(it)}`).join(''), member);
  if (below === undefined) delete copy[first];
  else Object.defineProperty(copy, first, { value: below, writable: true, enumerable: true, configurable: true });
  return copy as T;
}

/** True for a study whose runs are appended in rounds. */
export const isAdaptive = ({ config }: Pick<BatchSubmission, 'config'>): boolean =>
  config.monte_carlo.sampling_method === 'adaptive';

/** True for a study whose runs may be several replicates. */
export const takesReplicates = ({ config }: Pick<BatchSubmission, 'config'>): boolean =>
  ['latin_hypercube', 'quasi_monte_carlo'].includes(config.monte_carlo.sampling_method);

/** The study without the members that contradict its sampling method, and with the member `adaptive` where it needs it. */
export function withMethod(study: BatchSubmission): BatchSubmission {
  if (!isAdaptive(study)) {
    const drawn = withMember(study, '/config/adaptive', undefined);
    return takesReplicates(study) ? drawn : withMember(drawn, '/config/monte_carlo/replicates', undefined);
  }
  const { run_ids: _, replicate: __, replicates: ___, ...plan } = study.config.monte_carlo;
  return { ...study, config: { ...study.config, monte_carlo: plan, adaptive: { algorithm: 'external' } } };
}

const partsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((it) => it.replaceAll('~1', '/').replaceAll('~0', '~'));
export const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns faults that need no request; the coordinator validates everything again. */
export function faultsOf(study: BatchSubmission): Fault[] {
  const faults: Fault[] = [];
  const need = (pointer: string, isFine: (value: unknown) => boolean, detail: string): void => {
    if (!isFine(memberAt(study, pointer))) faults.push({ pointer, detail });
  };
  const isText = (it: unknown): boolean => typeof it === 'string' && it.trim() !== '';
  const isCount = (it: unknown): boolean => Number.isInteger(it) && (it as number) >= 0 && (it as number) <= INT32_MAX;
  need('/name', isText, 'a study needs a name');
  need('/config/simulation/name', isText, 'which simulation is to run?');
  need('/config/simulation/duration_minutes', isCount, 'must be a whole number, 0 or more');
  need('/config/monte_carlo/runs', isCount, 'must be a whole number, 0 or more');
  need('/config/compute/max_parallel_jobs', isCount, 'must be a whole number; 0 means no cap');
  need('/config/compute/job_timeout_seconds', isCount, 'must be a whole number; 0 means no limit');
  const { seed } = study.config.monte_carlo;
  const wrongSeed = seed === null || seed === undefined ? undefined : seedFault(seed);
  if (wrongSeed !== undefined) faults.push({ pointer: '/config/monte_carlo/seed', detail: wrongSeed });
  return [...faults, ...cellFaults(study), ...submissionFaults(study)];
}

/** True for faults because of which the cells of a study are not known. */
export const isOfCells = ({ pointer }: Fault): boolean =>
  pointer.startsWith('/config/scenarios') || pointer.startsWith('/config/epistemic');

/** The faults of scenarios and epistemic inputs whose shape is not the documented one: the others are found in readable ones. */
function cellFaults({ config: { scenarios, epistemic } }: BatchSubmission): Fault[] {
  const faults: Fault[] = [];
  if (scenarios !== undefined && !isReadableScenarios(scenarios))
    faults.push({
      pointer: '/config/scenarios',
      detail:
        'must have axes of levels, each with the numbers or distributions that it gives, such as {"wind": {"calm": {}}}',
    });
  if (epistemic === undefined || isReadableEpistemic(epistemic)) return faults;
  const detail = `must have an interval of two numbers, and levels, a whole number from 2 to ${LIMITS.epistemicCells}`;
  const unreadable = Object.entries(epistemic ?? {}).filter(([name, it]) => !isReadableEpistemic({ [name]: it }));
  if (unreadable.length === 0) faults.push({ pointer: '/config/epistemic', detail: `each input ${detail}` });
  for (const [name] of unreadable) faults.push({ pointer: `/config/epistemic/${escaped(name)}`, detail });
  return faults;
}
