/** Findings of a batch as a resource of the API. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, named, ref, text } from '../build.ts';
import { FINDING_SEVERITIES } from '../enums.ts';
import { int32, uuid } from '../scalars.ts';

export const Finding = named(
  'Finding',
  'A reason why a study does not run, or should not be trusted.',
  answered({
    code: text('Stable, kebab-case; docs/api.md lists them. Further ones may be added.'),
    severity: enumOf(
      FINDING_SEVERITIES,
      '`doubtful`: the results cannot be trusted as they are. `blocked`: no pending run starts until an operator or the submitter acts. `warning`: something is wrong and the study continues. `waiting`: pending runs start by themselves. `fine`: it runs.',
    ),
    message: text('What is found, in one sentence.'),
    remedy: text('An action that removes the cause.'),
    count: Type.Optional(int32('How many runs, attempts, runners or variables it is about.')),
    runners: Type.Optional(
      listOf(
        text('Id of a runner.'),
        'The runners to act on, at most 10: to resume where they are drained, to drain where they fail.',
      ),
    ),
    runs: Type.Optional(listOf(int32('Number of a run.'), 'Some of the runs it is about, at most 10.')),
    study: Type.Optional(uuid('Another study to look at: the canary study.')),
  }),
);
export type Finding = Static<typeof Finding>;

export const FindingList = named('FindingList', 'The findings of a batch; empty for none.', Type.Array(ref(Finding)));
export type FindingList = Static<typeof FindingList>;
