/** The band of the telemetry of a study over the time of the run. */
import { type Static } from 'typebox';
import { answered, listOf, named, nullable, ref, text } from '../build.ts';
import { count, double } from '../scalars.ts';
import { headerMembers, sentence } from './header.ts';

const { batch_id, of, prefix, warnings } = headerMembers;
const perTime = (description: string) =>
  listOf(nullable(double('In the units of the variable; null without a run.')), description);

const BandVariable = named(
  'BandVariable',
  'The band of one variable.',
  answered({
    name: text('The variable.'),
    runs: count('Runs that have it.'),
    present: listOf(
      count('Runs.'),
      'At each time: runs that have a value there; the others have ended, or not begun to send it.',
    ),
    p5: perTime('5 % quantile over these runs.'),
    median: perTime('Their median.'),
    p95: perTime('95 % quantile over these runs.'),
  }),
);

export const TelemetryBand = named(
  'TelemetryBand',
  'Quantiles of telemetry over a drawn sample of the runs that have ended.',
  answered({
    batch_id,
    of,
    prefix,
    warnings,
    sentence,
    drawn_from: count(
      'Runs that the sample is drawn from: those of the complete prefix that were neither cancelled nor lost.',
    ),
    sampled: count('Runs of the sample, at most 64; the same for the same runs.'),
    read: count('Of these, the runs whose telemetry could be read.'),
    unread: listOf(
      answered({ run_id: count('The run.'), reason: text('Why its telemetry could not be read.') }),
      'The others, in run order.',
    ),
    seconds: listOf(
      double('Time.'),
      'Equal steps from the first sample of all runs to the last: by the clock of the simulation, or since the first sample of each run where that is the clock of the machine.',
    ),
    present: listOf(count('Runs.'), 'At each time: runs whose telemetry has begun and not ended.'),
    variables: listOf(ref(BandVariable), 'By name.'),
  }),
);
export type TelemetryBand = Static<typeof TelemetryBand>;
