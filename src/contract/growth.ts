/** Requests that make a study of another one: extension, rerun, comparison, audit; and their answers. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, flag, listOf, named, ref, submitted, text } from './build.ts';
import { FAILURE_KINDS, RELATIONS, TERMINAL_STATUSES } from './enums.ts';
import { LIMITS } from './limits.ts';
import { double, freeText, int32, name } from './scalars.ts';
import { SubmissionResponse } from './study.ts';

const newName = Type.Optional(name('Name of the new batch; without it the name of this one.'));

export const ExtendRequest = named(
  'ExtendRequest',
  'More runs of the same design.',
  submitted({
    runs: Type.Optional(
      int32(
        '`monte_carlo`, `quasi_monte_carlo`: the number of runs of the whole design, required. `latin_hypercube`: the runs of the next replicate; as many as before without it. `rare_event`: the number of further draws of a confirmed study, or of runs by which the budget grows after the end `not-reached`; required.',
        { minimum: 1 },
      ),
    ),
    name: newName,
  }),
);
export type ExtendRequest = Static<typeof ExtendRequest>;

const { continuation: _, ...created } = SubmissionResponse.properties;

export const ExtendResponse = named(
  'ExtendResponse',
  'The created batch, and how it continues the design; of a study of rare events that study, opened again.',
  answered({
    ...created,
    mode: enumOf(
      ['continued', 'replicate', 'reopened'],
      '`reopened`: a study of rare events takes further rounds. `continued`: further runs of the same design. `replicate`: an independent randomisation, since the strata of a Latin hypercube depend on its number of runs.',
    ),
    run_ids: Type.Optional(text('The runs of the design that it holds; with `continued`.')),
    replicate: Type.Optional(int32('The replicate; with `replicate`.')),
    budget: Type.Optional(int32('The most runs that the study may have now; with `reopened`.')),
  }),
);
export type ExtendResponse = Static<typeof ExtendResponse>;

export const RunSelect = named(
  'RunSelect',
  'Runs of a batch: those that every given member selects; without one all.',
  submitted({
    states: Type.Optional(listOf(enumOf(TERMINAL_STATUSES, 'A final state.'), 'Runs in one of these states.', 4)),
    failure_kind: Type.Optional(
      enumOf(
        FAILURE_KINDS,
        'Runs that failed so: ended by a condition, by their own exit or an invalid result, by the time limit, or lost with a runner.',
      ),
    ),
    requirement: Type.Optional(name('Completed and terminated runs that fail this requirement of the study.')),
    run_ids: Type.Optional(
      text('Runs of the design, in the notation of `monte_carlo.run_ids`.', { maxLength: LIMITS.selectionLength }),
    ),
  }),
);
export type RunSelect = Static<typeof RunSelect>;

export const RerunRequest = named(
  'RerunRequest',
  'The same runs again, with the same parameters.',
  submitted({
    select: Type.Optional(ref(RunSelect)),
    simulation_version: Type.Optional(freeText('`config.simulation.version` of the new batch.')),
    container_image: Type.Optional(freeText('`config.compute.container.image` of the new batch.')),
    relation: Type.Optional(enumOf(['rerun', 'comparison'], '`rerun` without it.')),
    name: newName,
  }),
);
export type RerunRequest = Static<typeof RerunRequest>;

export const RerunResponse = named(
  'RerunResponse',
  'The created batch.',
  answered({ ...created, relation: enumOf(RELATIONS, 'Its relation to this batch.') }),
);
export type RerunResponse = Static<typeof RerunResponse>;

export const AuditRequest = named(
  'AuditRequest',
  'A part of the finished runs, to be executed again.',
  submitted({
    fraction: double('The part of the finished runs, above 0 and up to 1; at least one run.', {
      minimum: 0,
      maximum: 1,
    }),
    reused: Type.Optional(
      flag(
        'True: only runs that have the result of another run (`policy.reuse`) are drawn, and `fraction` is the part of these.',
      ),
    ),
    seed: Type.Optional(int32('Determines which runs are drawn. Without it one is drawn and reported.')),
    name: newName,
  }),
);
export type AuditRequest = Static<typeof AuditRequest>;

export const AuditResponse = named(
  'AuditResponse',
  'The created batch.',
  answered({
    ...created,
    relation: enumOf(RELATIONS, '`audit`.'),
    seed: int32('The seed of the draw.'),
  }),
);
export type AuditResponse = Static<typeof AuditResponse>;
