/** The rules of adaptive studies, whose runs are appended in rounds: what such a study must and must not say. Accepts incomplete input. */
import { member } from '../../base/json/member.ts';
import { rareFaults } from './rare-event/faults.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';
import type { BatchSubmission, Fault } from '../../contract/types.ts';

/** Members that fix the runs of a study in advance, or stop it: they contradict rounds. */
const EXCLUDED: readonly (readonly string[])[] = [
  ['config', 'monte_carlo', 'run_ids'],
  ['config', 'monte_carlo', 'replicate'],
  ['runs_override'],
  ['policy', 'stop_when'],
];

/** Returns these faults of a presumed BatchSubmission. */
export function adaptiveFaults(submission: unknown): Fault[] {
  const config = member(submission, 'config');
  const isAdaptive = member(config, 'monte_carlo', 'sampling_method') === 'adaptive';
  const adaptive = member(config, 'adaptive');
  if (!isAdaptive) {
    const method = String(member(config, 'monte_carlo', 'sampling_method'));
    const detail = `is for studies with the sampling method adaptive, and this one has ${method}; leave it out`;
    return [...(adaptive === undefined ? [] : [{ pointer: '/config/adaptive', detail }]), ...chosenFaults(config)];
  }
  const missing = {
    pointer: '/config/adaptive',
    detail: 'is missing; an adaptive study says {"algorithm": "external"}, or {"algorithm": "rare_event"}',
  };
  return [
    ...(adaptive === undefined ? [missing] : []),
    ...(isReadable(submission) ? rareFaults(submission) : []),
    ...EXCLUDED.filter((path) => (member(submission, ...path) ?? null) !== null).map((path) => ({
      pointer: path.map((name) => pointerToken(name)).join(''),
      detail: 'does not go with the sampling method adaptive, whose runs are appended in rounds; leave it out',
    })),
  ];
}

/** True for a study of rare events whose members are of their types, so that they can be checked further. */
function isReadable(submission: unknown): submission is BatchSubmission {
  const config = member(submission, 'config');
  const adaptive = member(config, 'adaptive');
  if (member(adaptive, 'algorithm') !== 'rare_event') return false;
  const requirements = member(submission, 'requirements') ?? [];
  const dispersions = member(config, 'dispersions');
  const sizes = ['population', 'level_probability', 'width', 'tune_runs', 'confirm_runs', 'confirm_part'];
  return (
    sizes.every((name) => ['undefined', 'number'].includes(typeof member(adaptive, name))) &&
    typeof member(config, 'monte_carlo', 'runs') === 'number' &&
    Array.isArray(requirements) &&
    requirements.every((it) => typeof it === 'object' && it !== null) &&
    typeof dispersions === 'object' &&
    dispersions !== null &&
    Object.values(dispersions).every((it) => typeof member(it, 'distribution', 'type') === 'string')
  );
}

/** Only the rows of an adaptive study give the numbers of chosen parameters. */
function chosenFaults(config: unknown): Fault[] {
  const dispersions = member(config, 'dispersions');
  if (typeof dispersions !== 'object' || dispersions === null) return [];
  return Object.entries(dispersions)
    .filter(([, dispersion]) => member(dispersion, 'distribution', 'type') === 'chosen')
    .map(([name]) => ({
      pointer: `/config/dispersions${pointerToken(name)}/distribution/type`,
      detail: 'is "chosen", which only an adaptive study has (sampling_method: adaptive); give it a distribution',
    }));
}
