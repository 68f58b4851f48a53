/** Errors as problem details (RFC 9457), the health and the limits of the coordinator, and the state of its object store. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, named, ref, text } from '../build.ts';
import { STORE_FAULTS } from '../enums.ts';
import { count, timestamp } from '../scalars.ts';

export const Fault = named(
  'Fault',
  'One fault of a request.',
  answered({
    pointer: text('Location: JSON Pointer (RFC 6901) into the body.'),
    detail: text('The value found and the value required.'),
  }),
);
export type Fault = Static<typeof Fault>;

export const Problem = named(
  'Problem',
  'An error, as `application/problem+json` (RFC 9457).',
  answered({
    type: Type.String({ format: 'uri-reference', description: 'Identifies the kind of problem.' }),
    title: text('The kind of problem, in words.'),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status.' }),
    detail: text('The cause and the remedy.'),
    instance: Type.Optional(text('The path of the request.')),
    code: text('The kind of problem, for programs: kebab-case, stable, documented individually.'),
    errors: Type.Optional(listOf(ref(Fault), 'All faults of the request.')),
  }),
);
export type Problem = Static<typeof Problem>;

export const HealthResponse = named('HealthResponse', 'The coordinator is up.', answered({ status: text('`ok`.') }));
export type HealthResponse = Static<typeof HealthResponse>;

export const StoreFault = named(
  'StoreFault',
  'Why a bucket of the object store cannot be used.',
  answered({
    code: enumOf(
      STORE_FAULTS,
      '`clock-skew`: the clock of the coordinator is wrong. `no-right`: the key lacks a right. `full`: no more bytes are taken. `unavailable`, `unreachable`: the store fails or does not answer.',
    ),
    message: text('What is wrong, with the answer of the store.'),
    remedy: text('An action that removes the cause.'),
  }),
);
export type StoreFault = Static<typeof StoreFault>;

export const BucketState = named(
  'BucketState',
  'A bucket to which files of runs are uploaded, as it was last tried: an object was written, read and deleted.',
  answered({
    bucket: text('Its name.'),
    tried_at: timestamp('When it was tried.'),
    clock_ahead_secs: Type.Optional(
      Type.Integer({
        description:
          'How far the clock of the coordinator is ahead of that of the store, in seconds; negative: late. Absent where the store does not say its time.',
      }),
    ),
    fault: Type.Optional(ref(StoreFault)),
  }),
);
export type BucketState = Static<typeof BucketState>;

export const ObjectStoreState = named(
  'ObjectStoreState',
  'The object store of the coordinator.',
  answered({ buckets: listOf(ref(BucketState), 'The buckets of `--s3-bucket`; empty without an object store.') }),
);
export type ObjectStoreState = Static<typeof ObjectStoreState>;

export const LimitsResponse = named(
  'LimitsResponse',
  'The limits of this coordinator. Sizes are in bytes; 0 means no limit.',
  answered({
    submission_bytes: count('Largest body of a submission and of similar requests.'),
    reports_bytes: count('Largest body of reports.'),
    small_body_bytes: count('Largest body of all other requests.'),
    header_bytes: count('Largest total size of the headers of a request.'),
    request_timeout_secs: count('Time limit for the arrival of a whole request.'),
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
    default_max_retries: count('Retries of a failed job when the study sets no number.'),
    max_losses: count('A run that loses its runner this many times ends Failed.'),
    max_infrastructure_faults: count('A run that meets this many infrastructure faults ends Failed.'),
    claim_secs: count('A claimed job that does not start within this time is requeued.'),
    offline_after_min_secs: count(
      'A runner is Offline after this time without a heartbeat, or after three heartbeat intervals if that is longer.',
    ),
    lease_min_secs: count(
      'The jobs of a silent runner are requeued after this time, or when it is Offline if that is later.',
    ),
    idempotency_hours: count('Lifetime of an Idempotency-Key.'),
    retain_days: count('How long ended batches and absent runners are kept; 0: until they are deleted.'),
  }),
);
export type LimitsResponse = Static<typeof LimitsResponse>;
