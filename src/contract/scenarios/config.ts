/** Scenarios of a study: axes whose levels replace inputs, so that every cell of the axes has the same number of runs. */
import { Type, type Static } from 'typebox';
import { listOf, mapOf, named, ref, submitted } from '../build.ts';
import { DistributionType } from '../dispersions.ts';
import { LIMITS } from '../limits.ts';
import { double, int32, name } from '../scalars.ts';

const names = { type: 'string', minLength: 1, maxLength: LIMITS.nameLength };

/** The value of a parameter in the cells of a level: a number that is the same in every run of the cell, or a distribution. */
export type Override = number | DistributionType;
const override = Type.Unsafe<Override>({ anyOf: [double('The value in every run.'), ref(DistributionType)] });

export const ScenarioAxis = named(
  'ScenarioAxis',
  'Level -> the inputs that it replaces: parameter name -> a number, the same in every run, or a distribution. A level without any is as the study declares.',
  mapOf(
    mapOf(override, {
      description: 'Parameter name -> a number or a distribution.',
      maxProperties: LIMITS.dispersions,
      propertyNames: names,
    }),
    { description: 'Levels, in their order.', maxProperties: LIMITS.cells, propertyNames: names },
  ),
);
export type ScenarioAxis = Record<string, Record<string, Override>>;

/** Axis -> level; a cell has a level of every axis. */
export type Scenario = Record<string, string>;

const skip = listOf(
  mapOf(name('The name of a level.'), {
    description: 'Axis -> level.',
    maxProperties: LIMITS.axes,
    propertyNames: names,
  }),
  'Cells that are left out: those with all the levels of any entry.',
  LIMITS.cells,
);

export const Scenarios = named(
  'Scenarios',
  'Axes of scenarios: a study has `monte_carlo.runs` runs in each cell, a level of every axis, with the same random numbers in all cells. All members but `skip` are axes.',
  Type.Unsafe<Record<string, ScenarioAxis | Scenario[]>>({
    type: 'object',
    properties: { skip },
    additionalProperties: ref(ScenarioAxis),
    propertyNames: names,
  }),
);
export type Scenarios = Record<string, ScenarioAxis | Scenario[]>;

export const EpistemicInput = named(
  'EpistemicInput',
  'An input that is unknown and not random: numbers of an interval, each in cells of its own. They are the ends, and between them numbers at equal distances.',
  submitted({
    interval: Type.Unsafe<[number, number]>({
      type: 'array',
      items: double('An end.'),
      minItems: 2,
      maxItems: 2,
      description: 'The least and the greatest value.',
    }),
    levels: int32('How many numbers of the interval, the ends among them.', {
      minimum: 2,
      maximum: LIMITS.epistemicCells,
    }),
  }),
);
export type EpistemicInput = Static<typeof EpistemicInput>;

export const Epistemic = mapOf(ref(EpistemicInput), {
  description:
    'Parameter name -> its interval. Each is an axis of scenarios with that name, whose levels are the numbers; the axes of `scenarios` are beside it.',
  maxProperties: LIMITS.axes,
  propertyNames: names,
});
export type Epistemic = Record<string, EpistemicInput>;
