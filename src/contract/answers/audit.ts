/** The answer about an audit: the comparison of the repeated runs with the original ones. */
import { Type, type Static } from 'typebox';
import { answered, listOf, named, nullable, ref, text } from '../build.ts';
import { double, int32, uuid } from '../scalars.ts';
import { sentence } from './header.ts';

const digest = nullable(
  text('SHA-256 over class and outputs, 64 hex digits; equal where both are. Null where there is no such run.'),
);

const side = answered({
  class: text('How the run ended: `ok`, `terminated`, `crashed` or `timeout`.'),
  runner_id: text('The runner that executed it.'),
  digest,
});

const jsonValue = (description: string) => Type.Unsafe<unknown>({ description });

const DifferingRun = named(
  'DifferingRun',
  'A run whose repetition had another end.',
  answered({
    run_id: int32('Number of the run.'),
    before: { ...side, description: 'The original run.' },
    after: { ...side, description: 'The repetition.' },
    outputs: listOf(
      answered({
        name: text('Flat name.'),
        before: Type.Optional(jsonValue('The value; absent without one.')),
        after: Type.Optional(jsonValue('The value; absent without one.')),
      }),
      'The outputs that differ; at most 20.',
    ),
  }),
);

export const AuditAnswer = named(
  'AuditAnswer',
  'The repeated runs of an audit beside the original ones.',
  answered({
    batch_id: uuid('The audit.'),
    audited: uuid('The batch whose runs it repeats.'),
    runs: int32('Number of runs drawn.'),
    compared: int32('Of these, the runs that both batches have executed to an end of their own.'),
    open: int32('Runs that have not ended yet.'),
    not_compared: int32(
      'Ended runs that cannot be compared: cancelled, lost with a runner, or without their original.',
    ),
    identical: int32('Compared runs with the same class and the same outputs, to the bit.'),
    differing: int32('Compared runs with another class or other outputs.'),
    same_runner: int32(
      'Compared runs that the runner of the original has executed again: no other one was there in time.',
    ),
    differing_runs: listOf(ref(DifferingRun), 'In order of run; at most 1,000.'),
    runners: listOf(
      answered({
        before: text('The runner of the original runs.'),
        after: text('The runner of the repetitions.'),
        compared: int32('Runs of this pair.'),
        differing: int32('Of these, the runs that differ.'),
        capabilities: listOf(
          answered({
            name: text('A member of the capabilities.'),
            before: Type.Optional(jsonValue('The value; absent without one.')),
            after: Type.Optional(jsonValue('The value; absent without one.')),
          }),
          'The capabilities that the two state now and that differ, versions among them. Empty where a runner is not known any more.',
        ),
      }),
      'The pairs of runners, most differing runs first.',
    ),
    outputs: listOf(
      answered({
        name: text('Flat name.'),
        differing: int32('Compared runs in which it differs.'),
        largest_difference: nullable(double('The largest absolute difference; null where it is not a number.')),
      }),
      'The outputs that differ, most runs first; at most 1,000.',
    ),
    sentence,
  }),
);
export type AuditAnswer = Static<typeof AuditAnswer>;
