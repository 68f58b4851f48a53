/** The faults of a study of rare events. */
import { pointerToken } from '../../../base/json/json-pointer.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { AdaptiveConfig, BatchConfig, BatchSubmission, Fault, Requirement } from '../../../contract/types.ts';
import { randomNames } from '../../adaptive/given-rows.ts';
import { limitOf, MAX_CONFIRMING_ROUNDS, rareBudget, rareRequirement, reserveOf, sizesOf } from './settings.ts';

/** The most coordinates of the space. */
const MAX_DIMENSIONS = 1_000;
const AT = '/config/adaptive';

/** The faults of a study of rare events whose members have their documented shapes. */
export function rareFaults({ config, requirements = [] }: Pick<BatchSubmission, 'config' | 'requirements'>): Fault[] {
  const adaptive = config.adaptive!;
  return [...requirementFaults(adaptive, requirements), ...sizeFaults(config, adaptive), ...dispersionFaults(config)];
}

function requirementFaults(adaptive: AdaptiveConfig, requirements: readonly Requirement[]): Fault[] {
  const pointer = `${AT}/requirement`;
  const named = rareRequirement(adaptive, requirements);
  if (named === undefined) {
    const known = requirements.map(({ name }) => name).join(', ') || 'none';
    const detail =
      adaptive.requirement === undefined
        ? `is missing; a study of rare events is about one requirement, and this one has ${requirements.length}: name it`
        : `is ${JSON.stringify(adaptive.requirement)}, which is not a requirement of the study (${known}); name one of "requirements"`;
    return [{ pointer, detail }];
  }
  if (named.all !== undefined)
    return [{ pointer, detail: 'names a requirement of several others; name one with an output and a condition' }];
  if (limitOf(named) === undefined)
    return [
      {
        pointer,
        detail: `names a requirement with the condition ${JSON.stringify(named.condition ?? '')}; a study of rare events needs <, <=, > or >= and a number`,
      },
    ];
  if (named.terminated === 'exclude')
    return [
      {
        pointer,
        detail: 'names a requirement that leaves terminated runs out ("exclude"); say "fail" or "unknown"',
      },
    ];
  return [];
}

function sizeFaults(config: BatchConfig, adaptive: AdaptiveConfig): Fault[] {
  const { population, width, levelProbability, tuneRuns, confirmRuns, confirmPart } = sizesOf(adaptive);
  const faults: Fault[] = [];
  const add = (member: string, detail: string): void => void faults.push({ pointer: `${AT}/${member}`, detail });
  if (population % width !== 0)
    add('width', `is ${width}, which does not divide the population of ${population}; give a divisor of it`);
  else if (population * levelProbability > width)
    add('width', `is ${width}; at least population x level_probability = ${population * levelProbability} is needed`);
  if (confirmPart > confirmRuns) add('confirm_part', `is ${confirmPart}, more than confirm_runs (${confirmRuns})`);
  const leastPart = Math.ceil(confirmRuns / MAX_CONFIRMING_ROUNDS);
  if (confirmPart < leastPart)
    add(
      'confirm_part',
      `is ${confirmPart}; a confirmation has at most ${MAX_CONFIRMING_ROUNDS} rounds, so that confirm_runs = ${confirmRuns} need at least ${leastPart}`,
    );
  const { runs } = config.monte_carlo;
  const least = population + reserveOf({ tuneRuns, confirmRuns });
  if (runs !== 0 && runs < least) {
    const detail = `is ${runs}; a study of rare events needs at least population + 2 tune_runs + confirm_runs = ${least}; give more, or 0 for ${rareBudget({ ...config, monte_carlo: { ...config.monte_carlo, runs: 0 } })}`;
    faults.push({ pointer: '/config/monte_carlo/runs', detail });
  }
  const numbers = LIMITS.roundBytes / 8;
  const most = Math.floor(numbers / Math.max(1, randomNames(config.dispersions).length));
  for (const [member, size] of [
    ['population', population],
    ['tune_runs', tuneRuns],
    ['confirm_part', confirmPart],
  ] as const)
    if (size > most)
      add(member, `is ${size}; a round of this study takes up to ${most} runs (${numbers} numbers); give less`);
  return faults;
}

function dispersionFaults({ dispersions }: BatchConfig): Fault[] {
  const faults = Object.entries(dispersions).flatMap(([name, { distribution }]) =>
    distribution.type === 'chosen' || distribution.type === 'table'
      ? [
          {
            pointer: `/config/dispersions${pointerToken(name)}/distribution/type`,
            detail: `is "${distribution.type}", which a study of rare events cannot draw; give it a distribution, or "fixed"`,
          },
        ]
      : [],
  );
  const dimensions = randomNames(dispersions).length;
  if (faults.length > 0 || (dimensions > 0 && dimensions <= MAX_DIMENSIONS)) return faults;
  const detail =
    dimensions === 0
      ? 'has no random parameter; a study of rare events needs at least one'
      : `has ${dimensions} random parameters; a study of rare events takes up to ${MAX_DIMENSIONS}`;
  return [{ pointer: '/config/dispersions', detail }];
}
