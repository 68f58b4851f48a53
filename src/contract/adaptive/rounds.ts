/** The rounds of an adaptive study: the request that appends one, and what is read of them. */
import { Type, type Static } from 'typebox';
import {
  answered,
  enumOf,
  flag,
  listOf,
  mapOf,
  named,
  nullable,
  optionalNullable,
  ref,
  submitted,
  text,
} from '../build.ts';
import { RARE_PHASES, ROUND_SOURCES } from '../enums.ts';
import { LIMITS } from '../limits.ts';
import { double, int32, timestamp, uuid } from '../scalars.ts';
import { columns, counts, label, note, outputs, rows } from './members.ts';

const key = text("The client's own name for the round, such as `generation-3`; unique in the study.", {
  minLength: 1,
  maxLength: LIMITS.roundNameLength,
});

export const RoundRequest = named(
  'RoundRequest',
  'A round of runs to append: `key` or `round` or both, and `rows` or `columns`.',
  submitted({
    key: optionalNullable(key),
    round: optionalNullable(int32('The number that the round must have: that of the next one.')),
    rows: Type.Optional(rows),
    columns: Type.Optional(columns),
    draws: optionalNullable(
      listOf(
        nullable(int32('The run whose random draw the run has.')),
        'One entry a row, null where a row gives none: the run then has its own draw. Equal draws are common random numbers.',
        LIMITS.roundRows,
      ),
    ),
    label: optionalNullable(label),
    note: optionalNullable(note),
  }),
);
export type RoundRequest = Static<typeof RoundRequest>;

const place = {
  round: int32('Its number, from 0.'),
  first_run_id: int32('Its first run.'),
  count: int32('Its number of runs.'),
  run_ids: text('Its runs, such as `12-15`.'),
  digest: text('SHA-256 of its rows.'),
};

export const AppendedRound = named(
  'AppendedRound',
  'A round as it is stored.',
  answered({ ...place, repeated: flag('True when the round was there already, and nothing was changed.') }),
);
export type AppendedRound = Static<typeof AppendedRound>;

export const RareDecision = named(
  'RareDecision',
  'Why a round of a study of rare events is as it is.',
  answered({
    phase: enumOf(RARE_PHASES, 'The phase of the round.'),
    level: nullable(int32('The level of the search, from 1; null otherwise.')),
    b: nullable(double('The threshold of that level; null otherwise.')),
    lambda: nullable(double('The size of the steps of that level; null otherwise.')),
    attempt: nullable(int32('The attempt to confirm, from 1; null otherwise.')),
    components: nullable(int32('Components of the proposal from which it was drawn; null in the search.')),
    estimate: nullable(double('The probability as far as it was known then; null before one.')),
  }),
);
export type RareDecision = Static<typeof RareDecision>;

const members = {
  ...place,
  key: nullable(key),
  label: nullable(label),
  note: nullable(note),
  source: enumOf(ROUND_SOURCES, 'Who appended it: `external` for a client.'),
  previous: text('SHA-256 of the record of the round before, or of the submission.'),
  appended_at: timestamp('When it was appended.'),
  complete: flag('True when every run of it has ended.'),
  decision: nullable(ref(RareDecision)),
};

export const Round = named('Round', 'A round of an adaptive study.', answered(members));
export type Round = Static<typeof Round>;
export const RoundList = named('RoundList', 'The rounds of a study in their order.', Type.Array(ref(Round)));
export type RoundList = Static<typeof RoundList>;

export const RoundDetail = named('RoundDetail', 'A round, with its runs by class.', answered({ ...members, counts }));
export type RoundDetail = Static<typeof RoundDetail>;

export const RoundRow = named(
  'RoundRow',
  'A run of a round.',
  answered({
    run_id: int32('Number of the run.'),
    job_id: uuid('Its job.'),
    class: text('The class of its end, or `open`.'),
    parameters: mapOf(double('The value.'), { description: 'By name; empty where its row was lost by damage.' }),
    draw: Type.Optional(int32('The run whose random draw it has; absent where its row was lost by damage.')),
    outputs,
    error: Type.Optional(text('Why it did not complete.')),
  }),
);
export type RoundRow = Static<typeof RoundRow>;

const progress = { round: place.round, first_run_id: place.first_run_id, count: place.count, counts };
export const RoundResults = named(
  'RoundResults',
  'The runs of a round that has ended, ascending.',
  answered({ ...progress, complete: flag('True.'), results: listOf(ref(RoundRow), 'One for each run, ascending.') }),
);
export type RoundResults = Static<typeof RoundResults>;

export const RoundProgress = named(
  'RoundProgress',
  'A round of which runs have not ended.',
  answered({ ...progress, complete: flag('False.') }),
);
export type RoundProgress = Static<typeof RoundProgress>;

export const RoundsCheck = named(
  'RoundsCheck',
  'Whether the rounds of a study are as they were appended.',
  answered({
    rounds: int32('Rounds that were checked.'),
    runs: int32('Their runs.'),
    verdict: enumOf(['identical', 'differs'], '`identical`: every digest and the chain of records agree.'),
    head: nullable(text('SHA-256 of the last record; null without rounds.')),
    faults: listOf(text('What differs, and where.'), 'At most 100; empty where nothing differs.'),
    computed: nullable(
      answered(
        {
          rounds: int32('Rounds that were computed again from the results before them.'),
          verdict: enumOf(
            ['identical', 'within-1e-9', 'differs'],
            '`identical`: to the bit. `within-1e-9`: in the last digits, as by another version of Node.',
          ),
          largest_difference: double('The greatest difference of a number, relative from 1 on.'),
          first: nullable(
            answered({ round: int32('The round.'), run: int32('The run.') }, 'The first number that differs by more.'),
          ),
        },
        'Rounds of an algorithm of the coordinator, computed again; null for those of clients.',
      ),
    ),
  }),
);
export type RoundsCheck = Static<typeof RoundsCheck>;
