/** Bands of the curves of a study over the time of the run: of its telemetry, and of one history. */
import { type Static } from 'typebox';
import { answered, enumOf, listOf, named, nullable, ref, text } from '../build.ts';
import { count, double } from '../scalars.ts';
import { headerMembers, probability, reason, sentence } from './header.ts';

const { batch_id, of, prefix, warnings } = headerMembers;
const unread = listOf(
  answered({ run_id: count('The run.'), reason: text('Why its telemetry could not be read.') }),
  'The others, in run order.',
);
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
    unread,
    seconds: listOf(
      double('Time.'),
      'Equal steps from the first sample of all runs to the last: by the clock of the simulation, or since the first sample of each run where that is the clock of the machine.',
    ),
    present: listOf(count('Runs.'), 'At each time: runs whose telemetry has begun and not ended.'),
    variables: listOf(ref(BandVariable), 'By name.'),
  }),
);
export type TelemetryBand = Static<typeof TelemetryBand>;

const values = (description: string) => listOf(nullable(double('In the units of the history.')), description);

const BandQuantile = named(
  'BandQuantile',
  'One quantile at each point.',
  answered({
    p: probability('The quantile, from 0 to 1.'),
    value: values('Type 7 of Hyndman and Fan, over the runs that have a value; null without one.'),
    lower: values('Lower end of its interval by order statistics; null where the runs do not bound that side.'),
    upper: values('Upper end, likewise.'),
  }),
);

const BandExtreme = named(
  'BandExtreme',
  'An extreme value at each point, with its run.',
  answered({
    value: values('The value; null without one.'),
    run_id: listOf(nullable(count('The run.')), 'The run, the earlier one of several; null without one.'),
  }),
);

const BandTolerance = named(
  'BandTolerance',
  'A band of whole curves: at the confidence, at least the share `coverage` of future runs stays inside at every point where they have a value and it is given.',
  answered({
    lower: values('Lower limit; null at points where fewer than 90 % of the completed even runs have a value.'),
    upper: values('Upper limit, likewise.'),
    runs: count('Runs with an odd id, failed ones among them; those with an even id give the shape of the band.'),
    rank: count('The rank of the score among those of these runs, from 1.'),
    score: double('The multiple of the half-widths of the even runs that the band has.', { minimum: 0 }),
  }),
);

const BandSample = named(
  'BandSample',
  'The runs whose telemetry gives a band.',
  answered({
    drawn_from: count('Runs of the complete prefix that were neither cancelled nor lost, of the selected ones.'),
    sampled: count('Runs that were drawn from them, at most 64; the same for the same runs.'),
    unread,
  }),
);

export const HistoryBand = named(
  'HistoryBand',
  'The band of one history over all runs, or of a telemetry variable over a drawn sample of them.',
  answered({
    ...headerMembers,
    history: text('The name of the history, or the variable.'),
    variable: text('The telemetry variable.'),
    units: nullable(text('Units of the values; null where none are known.')),
    source: enumOf(
      ['history', 'telemetry'],
      '`history`: all runs. `telemetry`: the study has no such history, and the telemetry files of the runs in `sample` were read.',
    ),
    sample: nullable(ref(BandSample)),
    unknown: count('Runs whose values may be any: those that failed, were cancelled or could not be read.'),
    seconds: listOf(double('Time.'), 'The points.'),
    n: listOf(count('Runs.'), 'At each point: completed runs that have a value.'),
    ended: listOf(count('Runs.'), 'At each point: completed runs that have none, since they had ended or not begun.'),
    quantiles: listOf(ref(BandQuantile), 'In the order asked for.'),
    mean: values('Mean of the runs that have a value.'),
    least: ref(BandExtreme),
    greatest: ref(BandExtreme),
    confidence: probability('Confidence of the intervals and of the tolerance band.'),
    coverage: probability('Share of future runs inside the tolerance band.'),
    tolerance: nullable(ref(BandTolerance)),
    tolerance_reason: nullable(text('Why there is no tolerance band; null where there is one.')),
    runs_needed: nullable(
      count('Runs in all with which there is a tolerance band; null where there is one, or where no number is known.'),
    ),
    outlying: listOf(
      answered({
        run_id: count('The run.'),
        score: nullable(
          double('Its greatest distance from the centre of the tolerance band, in half-widths; null: infinite.'),
        ),
        replay: text('The command that executes it again.'),
      }),
      'The completed runs farthest from the centre, at most five, the farthest first.',
    ),
    limits: listOf(
      answered({
        name: text('The limit in words.'),
        value: double('Its value, in the units of the variable.'),
        kind: enumOf(['condition', 'requirement'], 'Where it is stated.'),
      }),
      'Limits of conditions and requirements on the variable.',
    ),
    reason,
    sentence,
  }),
);
export type HistoryBand = Static<typeof HistoryBand>;
