/** Histories of runs as resources of the API. */
import { Type, type Static } from 'typebox';
import { answered, listOf, named, nullable, ref, text } from '../build.ts';
import { double, int32, uuid } from '../scalars.ts';

export const RunHistory = named(
  'RunHistory',
  'A history of one run.',
  answered({
    name: text('Its name.'),
    variable: text('The telemetry variable.'),
    units: Type.Optional(text('As declared.')),
    times: listOf(double('A time.'), 'The times in seconds, as declared.'),
    values: nullable(
      listOf(
        Type.Unsafe<number | 'Infinity' | '-Infinity' | null>({
          type: ['number', 'string', 'null'],
          description: 'A value: null where missing, `"Infinity"` or `"-Infinity"` for an infinite one.',
        }),
        'One value for each time; null: the run left none, as after a crash.',
      ),
    ),
  }),
);
export type RunHistory = Static<typeof RunHistory>;

export const JobHistories = named(
  'JobHistories',
  'The histories of one run.',
  answered({
    job_id: uuid('The job.'),
    run_id: int32('Index of the run within its design, from 0.'),
    histories: listOf(ref(RunHistory), 'All histories of the study, in its order.'),
  }),
);
export type JobHistories = Static<typeof JobHistories>;
