/** Files of runs: their lists, and the requests of the runner protocol by which a runner serves them. */
import { Type, type Static } from 'typebox';
import { FILE_KINDS, FILE_PLACES } from '../enums.ts';
import { answered, enumOf, flag, listOf, literal, named, ref, submitted, tagged, text } from '../build.ts';
import { LIMITS } from '../limits.ts';
import { count, double, instance, int32, timestamp, uuid } from '../scalars.ts';

export const RunFile = named(
  'RunFile',
  'A file of a run.',
  answered({
    path: text('Its path in the output directory of the attempt, with `/` between folders.'),
    kind: enumOf(FILE_KINDS, 'Where it comes from: the runner captures the output of the simulation.'),
    bytes: Type.Optional(count('Its size; absent where the runner cannot be asked.')),
    modified_at: Type.Optional(timestamp('When it was last written; absent where the runner cannot be asked.')),
    place: enumOf(FILE_PLACES, '`runner`: on the disk of its runner; `object-store`: uploaded.'),
    address: text('Its path on the runner, or its `s3://` address.'),
  }),
);
export type RunFile = Static<typeof RunFile>;

export const RunFiles = named(
  'RunFiles',
  'The files of one attempt of a job.',
  answered({
    job_id: uuid('The job.'),
    attempt: int32('Number of the attempt; 0 before the first.'),
    runner_id: Type.Optional(text('The runner that executed it; absent before the first attempt.')),
    is_readable: flag('Whether the files can be read now.'),
    files: listOf(ref(RunFile), 'Those in an object store first.'),
    notes: listOf(Type.String(), 'What the list lacks, and why files cannot be read.'),
  }),
);
export type RunFiles = Static<typeof RunFiles>;

const path = Type.String({ minLength: 1, maxLength: LIMITS.pathLength, description: 'A path of the list.' });
const attemptOf = {
  request_id: text('Names the request.'),
  job_id: uuid('The job.'),
  attempt: int32('Number of the attempt.', { minimum: 1 }),
};

const ListRequest = named(
  'ListRequest',
  'List the files of an attempt.',
  answered({ type: literal('list'), ...attemptOf }),
);

const PartRequest = named(
  'PartRequest',
  'Read a part of a file.',
  answered({
    type: literal('part'),
    ...attemptOf,
    path,
    offset: Type.Integer({ description: 'The first byte; negative: counted from the end.' }),
    length: int32('Most bytes; 0 asks for the size alone.', { maximum: LIMITS.filePartBytes }),
  }),
);

const LiveRequest = named(
  'LiveRequest',
  'Send the live telemetry of an attempt that runs.',
  answered({ type: literal('live'), ...attemptOf }),
);

export const FileRequest = named(
  'FileRequest',
  'A request to a runner; `type` says which.',
  tagged('type', ListRequest, PartRequest, LiveRequest),
);
export type FileRequest = Static<typeof FileRequest>;

export const FileRequestsRequest = named(
  'FileRequestsRequest',
  'A runner asks for requests to read its files.',
  submitted({
    instance,
    wait_seconds: Type.Optional(double('Longest wait for a request.', { minimum: 0, maximum: LIMITS.waitSeconds })),
    holding: listOf(
      text('A request.', { maxLength: 64 }),
      'Requests that it works on; others that were sent to it are sent again.',
      LIMITS.fileRequests,
    ),
  }),
);
export type FileRequestsRequest = Static<typeof FileRequestsRequest>;

export const FileRequestsResponse = named(
  'FileRequestsResponse',
  'The requests.',
  answered({ requests: listOf(ref(FileRequest), 'Empty without one.') }),
);
export type FileRequestsResponse = Static<typeof FileRequestsResponse>;

export const FilePartResponse = named(
  'FilePartResponse',
  'Whether the answer was wanted.',
  answered({ accepted: flag('False when the reader has left.') }),
);
export type FilePartResponse = Static<typeof FilePartResponse>;

/** The files of an attempt, as its runner answers. */
export const RunnerFiles = Type.Object(
  {
    directory: text('The output directory of the attempt.', { maxLength: LIMITS.pathLength }),
    files: listOf(
      Type.Object(
        { path, bytes: count('Size.'), modified_ms: double('When it was last written, since the epoch.') },
        { additionalProperties: false },
      ),
      'In the order of their paths.',
      LIMITS.filesListed,
    ),
    notes: listOf(Type.String({ maxLength: LIMITS.textLength }), 'What the list lacks.', 100),
  },
  { additionalProperties: false },
);
export interface RunnerFiles extends Static<typeof RunnerFiles> {}
