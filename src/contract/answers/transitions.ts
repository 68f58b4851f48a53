/** The transitions that the runs of a study have taken, and the times that they were in each state. */
import type { Static } from 'typebox';
import { answered, enumOf, listOf, named, nullable, text } from '../build.ts';
import { JOB_STATUSES } from '../enums.ts';
import { count, double, timestamp } from '../scalars.ts';
import { headerMembers, sentence } from './header.ts';

const state = enumOf(JOB_STATUSES, 'A state of a job.');

export const StudyTransitions = named(
  'StudyTransitions',
  'Transitions of the ended runs of a study.',
  answered({
    ...headerMembers,
    from: nullable(timestamp('The first transition; null where none is recorded.')),
    to: nullable(timestamp('The last one.')),
    transitions: listOf(
      answered({
        from: { ...state, description: 'The state before.' },
        event: text('The event, as in the statechart.'),
        to: { ...state, description: 'The state after.' },
        count: count('How often it was taken.'),
      }),
      'Each transition that was taken, in the order of the states.',
    ),
    states: listOf(
      answered({
        state,
        stays: count('Stays whose beginning and end are recorded.'),
        mean_secs: double('Their mean.', { minimum: 0 }),
        longest_secs: double('The longest one.', { minimum: 0 }),
      }),
      'States that runs have left.',
    ),
    omitted_attempts: count('Attempts that the histories of the runs no longer have, and that no figure counts.'),
    sentence,
  }),
);
export type StudyTransitions = Static<typeof StudyTransitions>;
