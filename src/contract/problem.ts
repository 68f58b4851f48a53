/** What an error looks like (RFC 9457), and what the coordinator says of itself: its health and its limits. */
import { Type, type Static } from 'typebox';
import { answered, listOf, named, ref, text } from './build.ts';
import { count } from './scalars.ts';

export const Fault = named(
  'Fault',
  'One fault of a request.',
  answered({
    pointer: text('Where: JSON Pointer (RFC 6901) into the body.'),
    detail: text('What is wrong there, and what would be right.'),
  }),
);
export type Fault = Static<typeof Fault>;

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
export type Problem = Static<typeof Problem>;

export const HealthResponse = named(
  'HealthResponse',
  'The coordinator is alive.',
  answered({ status: text('`ok` when all is well.') }),
);
export type HealthResponse = Static<typeof HealthResponse>;

export const LimitsResponse = named(
  'LimitsResponse',
  'What this coordinator takes and keeps. Sizes are in bytes; 0 means without limit.',
  answered({
    submission_bytes: count('Largest body of a submission, and of what is alike.'),
    reports_bytes: count('Largest body of reports.'),
    small_body_bytes: count('Largest body where it is always small.'),
    header_bytes: count('Largest headers of a request, all together.'),
    request_timeout_secs: count('A whole request must have arrived within this.'),
    runs_per_batch: count('Most runs of one study.'),
    dispersions: count('Most dispersions of one study.'),
    conditions: count('Most early-termination conditions of one study.'),
    variables: count('Most telemetry variables of one study.'),
    name_length: count('Longest name, in characters.'),
    text_length: count('Longest other text, in characters.'),
    error_message_length: count('Longest error message of a report, in characters.'),
    output_files: count('Most output files of one result.'),
    metadata_depth: count('Deepest metadata of a result.'),
    metadata_values: count('Most values in the metadata of a result.'),
    page_size: count('Largest page of a list.'),
    wait_seconds: count('Longest wait of a claim.'),
    jobs_per_claim: count('Most jobs of one claim.'),
    reports_per_request: count('Most reports of one request.'),
    default_max_retries: count('Retries of a failed job where the study does not say.'),
    max_losses: count('A run that loses its runner this many times ends Failed.'),
    max_infrastructure_faults: count('A run that meets this many infrastructure faults ends Failed.'),
    claim_secs: count('A claimed job that does not start within this goes back.'),
    offline_after_min_secs: count(
      'A runner is Offline after this silence, or three heartbeat intervals if that is longer.',
    ),
    lease_min_secs: count('Its jobs are given away after this silence, or when it is Offline if that is later.'),
    idempotency_hours: count('How long an Idempotency-Key is remembered.'),
    retain_days: count('How long ended batches and absent runners are kept; 0: until they are deleted.'),
  }),
);
export type LimitsResponse = Static<typeof LimitsResponse>;
