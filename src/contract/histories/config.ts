/** Histories and derived outputs of a study, as a submission declares them. */
import { Type, type Static } from 'typebox';
import { enumOf, listOf, named, ref, submitted, text } from '../build.ts';
import { INTERPOLATIONS, TAKES } from '../enums.ts';
import { LIMITS } from '../limits.ts';
import { double, name, plainName } from '../scalars.ts';

const units = Type.Optional(text('Units of the values, for display.', { maxLength: LIMITS.nameLength }));
const expression = (description: string) =>
  Type.String({ minLength: 1, maxLength: LIMITS.expressionLength, description });

export const HistoryTimes = named(
  'HistoryTimes',
  'The times of a history, in seconds: either `from`, `to` and `step`, or `points`.',
  submitted({
    from: Type.Optional(double('The first time.')),
    to: Type.Optional(double('The greatest time; the last one is the last step that does not exceed it.')),
    step: Type.Optional(double('The distance of neighbouring times, above 0.')),
    points: Type.Optional(
      listOf(double('A time.'), 'The times themselves, strictly increasing.', LIMITS.historyPoints),
    ),
  }),
);
export type HistoryTimes = Static<typeof HistoryTimes>;

export const HistoryConfig = named(
  'HistoryConfig',
  'A telemetry variable that every run keeps at the same times. A time before the first or after the last sample of a run has no value.',
  submitted({
    name: Type.Optional(plainName('Its name, unique in the study; by default the variable.')),
    variable: name('The telemetry variable.'),
    at: ref(HistoryTimes),
    interpolation: Type.Optional(
      enumOf(
        INTERPOLATIONS,
        '`linear`, the default: between the two neighbouring samples. `previous`: the last value at or before the time.',
      ),
    ),
    origin: Type.Optional(
      expression(
        'The event that is at time 0: `first(COND)`, `last(COND)`, `first_max(V)`, `first_min(V)`, `start` or `end`. A run without the event has no values. Absent: telemetry time as it is.',
      ),
    ),
    units,
  }),
);
export type HistoryConfig = Static<typeof HistoryConfig>;

export const DerivedConfig = named(
  'DerivedConfig',
  'An output that the runner computes at the end of a run, from all its samples or from other outputs. Either `take`, with the members that it needs, or `expression`.',
  submitted({
    name: plainName('Name of the output, unique in the study.'),
    units,
    take: Type.Optional(
      enumOf(
        TAKES,
        '`max`, `min`, `mean`, `first`, `last`, `integral`, `range` (greatest minus least) of `telemetry`, over all samples or those `while` a condition holds; mean and integral by the trapezoid. `value`: of `telemetry` at the event `at`. `time`: of the event `at`. `duration`: how long the condition `while` holds. `count`: how often the condition of `at: each(COND)` begins to hold. `last_time_outside`: when `telemetry` is outside `band` for the last time, 0 when never. Times in seconds.',
      ),
    ),
    telemetry: Type.Optional(name('A telemetry variable.')),
    while: Type.Optional(expression('A condition on telemetry, e.g. `alt_m > 100 and not speed_mps < 3`.')),
    at: Type.Optional(
      expression(
        'An event: `first(COND)`, `last(COND)`, `first_max(V)`, `first_min(V)`, `start`, `end`; with `count`: `each(COND)`.',
      ),
    ),
    band: Type.Optional(
      Type.Unsafe<[number, number]>({
        type: 'array',
        minItems: 2,
        maxItems: 2,
        items: double('An end of the band.'),
        description: 'The two ends of the band of `last_time_outside`, the lower one first; both are inside.',
      }),
    ),
    expression: Type.Optional(
      expression(
        'A formula of numbers, `outputs.NAME` (also derived ones before this one) and `parameters.NAME`, e.g. `hypot(outputs.x_m, outputs.y_m) - parameters.r`.',
      ),
    ),
  }),
);
export type DerivedConfig = Static<typeof DerivedConfig>;

/** The members of the configuration of a study. */
export const historyMembers = {
  histories: listOf(
    ref(HistoryConfig),
    'Telemetry variables that every run keeps at the same times, with its result. Null or absent: none.',
    LIMITS.histories,
  ),
  derived: listOf(
    ref(DerivedConfig),
    'Outputs that runners compute at the end of each run, in this order. Null or absent: none.',
    LIMITS.derived,
  ),
};
