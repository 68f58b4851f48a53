/** What an error looks like (RFC 9457), and the answer of the health check. */
import { Type } from 'typebox';
import { answered, listOf, named, ref, text } from './build.ts';

export const Fault = named(
  'Fault',
  'One fault of a request.',
  answered({
    pointer: text('Where: JSON Pointer (RFC 6901) into the body.'),
    detail: text('What is wrong there, and what would be right.'),
  }),
);

export const Problem = named(
  'Problem',
  'An error, as `application/problem+json` (RFC 9457).',
  answered({
    type: Type.String({ format: 'uri-reference', description: 'Identifies the kind of problem.' }),
    title: text('The kind of problem, for people.'),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status.' }),
    detail: text('What happened, and what to do about it.'),
    instance: Type.Optional(text('The address that was asked.')),
    code: text('The kind of problem, for programs: kebab-case, stable, documented one by one.'),
    errors: Type.Optional(listOf(ref(Fault), 'All faults of the request at once.')),
  }),
);

export const HealthResponse = named(
  'HealthResponse',
  'The coordinator is alive.',
  answered({ status: text('`ok` when all is well.') }),
);
