/** The live telemetry of a running run: as its runner sends it, and as the coordinator answers. */
import { Type, type Static } from 'typebox';
import { answered, flag, listOf, named, ref, text } from '../build.ts';
import { LIMITS } from '../limits.ts';
import { count, double, int32, uuid } from '../scalars.ts';
import { Termination } from './jobs.ts';

const variable = {
  name: text('The variable.', { maxLength: LIMITS.variableNameLength }),
  samples: count('Values that came so far.'),
  not_finite: count('Values that are NaN or infinite; no point shows them.'),
  reversals: count('How often its time ran backwards; the points are in the order of time all the same.'),
  time_s: listOf(double('Seconds.'), 'Telemetry time of each point, ascending.', LIMITS.livePoints),
  values: listOf(
    double('A value.'),
    'Value of each point. Every point is a value that came; the first, the latest, the least and the greatest are among them.',
    LIMITS.livePoints,
  ),
};

const counts = {
  samples: count('Samples that the runner has taken so far.'),
  refused: count('Samples that it has refused.'),
  lost: count('Samples that the simulation gave up before it sent them.'),
  omitted: count('Variables that came and have no place in the view.'),
  hit: Type.Optional(ref(Termination)),
};

export const LiveVariable = named('LiveVariable', 'A variable of a running run, down-sampled.', answered(variable));
export type LiveVariable = Static<typeof LiveVariable>;

export const LiveCondition = named(
  'LiveCondition',
  'A condition of early termination.',
  answered({
    variable: text('The variable that it judges.'),
    condition: text('As submitted.'),
    threshold: double('Its number.'),
  }),
);
export type LiveCondition = Static<typeof LiveCondition>;

export const LiveTelemetry = named(
  'LiveTelemetry',
  'The telemetry of a running run so far, down-sampled.',
  answered({
    job_id: uuid('The job.'),
    attempt: int32('Number of the attempt.', { minimum: 1 }),
    runner_id: text('The runner that executes it.'),
    ...counts,
    variables: listOf(ref(LiveVariable), `At most ${String(LIMITS.liveVariables)}, those of conditions first of all.`),
    conditions: listOf(ref(LiveCondition), 'The conditions that are evaluated; empty when early termination is off.'),
    shadow: flag('Whether a condition that is met is recorded alone, and ends no run.'),
  }),
);
export type LiveTelemetry = Static<typeof LiveTelemetry>;

/** The first line of the answer of a runner. */
export const RunnerLiveHead = Type.Object(counts, { additionalProperties: false });
export type RunnerLiveHead = Static<typeof RunnerLiveHead>;

/** A further line of the answer of a runner. */
export const RunnerLiveVariable = Type.Object(variable, { additionalProperties: false });
export type RunnerLiveVariable = Static<typeof RunnerLiveVariable>;
