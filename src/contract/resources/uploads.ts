/** Uploads of files and checkpoints of runs to an object store: a runner gets signed addresses, and reports what it has sent. */
import { Type, type Static } from 'typebox';
import { answered, listOf, mapOf, named, ref, submitted, text } from '../build.ts';
import { LIMITS } from '../limits.ts';
import { count, int32, runnerId } from '../scalars.ts';

const path = Type.String({ minLength: 1, maxLength: LIMITS.pathLength, description: 'Its path in the attempt.' });
const upload_id = Type.Optional(
  text('Of the upload of this file, as the coordinator returned it.', { minLength: 1, maxLength: 2_048 }),
);
const sha256 = (description: string) =>
  Type.String({ pattern: '^[0-9a-f]{64}$', description: `${description} SHA-256, in hexadecimal.` });
const parts = Type.Optional(
  listOf(
    sha256('Digest of a part.'),
    'The digests of its parts, of a file in several: above 8,388,608 bytes it has parts of that size, above a thousand of these parts of twice the size, and so on. A file in one part needs none.',
    LIMITS.fileParts,
  ),
);
const etags = listOf(
  Type.String({ minLength: 1, maxLength: 200 }),
  'Of each part, as the store returned it.',
  LIMITS.fileParts,
);
const attemptOf = {
  runner_id: runnerId('The runner that executed the run.'),
  attempt: int32('Number of the attempt.', { minimum: 1 }),
};

export const UploadRequest = named(
  'UploadRequest',
  'Files that a runner will send.',
  submitted({
    ...attemptOf,
    files: listOf(
      Type.Object(
        {
          path,
          size: Type.Integer({ minimum: 0, maximum: LIMITS.uploadBytes, description: 'Its size, in bytes.' }),
          sha256: sha256('Digest of its content.'),
          parts,
          upload_id: Type.Optional(
            text('Of an upload that has begun, whose addresses are signed again.', { minLength: 1, maxLength: 2_048 }),
          ),
        },
        { additionalProperties: false },
      ),
      'Files of the run, which has ended.',
      LIMITS.uploadFiles,
    ),
  }),
);
export type UploadRequest = Static<typeof UploadRequest>;

export const SignedPart = named(
  'SignedPart',
  'Where to send a part of a file.',
  answered({
    url: text('The address that takes it by PUT, for 15 minutes.'),
    headers: mapOf(Type.String(), {
      description:
        'The headers that the PUT sends. Its length and digest are signed: the store refuses any other content.',
    }),
  }),
);
export type SignedPart = Static<typeof SignedPart>;

export const SignedUpload = named(
  'SignedUpload',
  'Where to send a file.',
  answered({
    path,
    upload_id,
    part_bytes: count('Size of each part but the last.'),
    parts: listOf(
      ref(SignedPart),
      'All parts in order; none, and no `upload_id`, where the store has the file already.',
    ),
  }),
);
export type SignedUpload = Static<typeof SignedUpload>;

export const UploadResponse = named(
  'UploadResponse',
  'Where to send the files.',
  answered({ files: listOf(ref(SignedUpload), 'In the order of the request.') }),
);
export type UploadResponse = Static<typeof UploadResponse>;

export const UploadCompleteRequest = named(
  'UploadCompleteRequest',
  'Files that a runner has sent, those that it will never send, and how many are left.',
  submitted({
    ...attemptOf,
    files: listOf(
      Type.Object({ path, upload_id, etags }, { additionalProperties: false }),
      'Files that were sent; without `upload_id` those that the store had already.',
      LIMITS.uploadFiles,
    ),
    failed: listOf(
      Type.Object({ path, detail: text('Why.', { maxLength: LIMITS.reasonLength }) }, { additionalProperties: false }),
      'Files that will never be sent: they are gone, or have changed since the run ended.',
      LIMITS.uploadFiles,
    ),
    left: Type.Optional(count('Files of the attempt that the runner has still to send; absent: none.')),
    reason: Type.Optional(text('Why the latest try failed; absent: it did not.', { maxLength: LIMITS.reasonLength })),
  }),
);
export type UploadCompleteRequest = Static<typeof UploadCompleteRequest>;

/** The files of a batch that were lost before they could be uploaded, as the coordinator stores them. */
export const UnsentFiles = Type.Object({
  files: count('Files that could not be uploaded.'),
  runs: count('Runs that they are of.'),
  examples: listOf(int32('A run id.'), 'The first of these runs.'),
  detail: text('The latest file and the reason.'),
});
export interface UnsentFiles extends Static<typeof UnsentFiles> {}

/** The files of a batch that one runner has to send, as the coordinator stores them. */
export const OutboxRecord = Type.Object({
  hostname: Type.Optional(text('The machine of the runner.')),
  allocation: Type.Optional(text('The allocation of the runner.')),
  root: text('The output root of the runner; the files are in the folder of the batch there.'),
  files: count('Files that are not sent.'),
  runs: count('Runs that they are of.'),
  failing: count('Those of the runs whose latest try failed.'),
  examples: listOf(int32('A run id.'), 'The latest of these runs.'),
  reason: Type.Optional(text('Why the latest of these tries failed.')),
  atMs: count('When the numbers changed, in milliseconds since the epoch.'),
});
export interface OutboxRecord extends Static<typeof OutboxRecord> {}

const currentAttempt = {
  runner_id: runnerId('The runner that executes the attempt.'),
  attempt: int32('Number of the attempt.', { minimum: 1 }),
};
const number = int32('Number of the upload, counted for each job.', { minimum: 1 });
const fileMembers = {
  path: Type.String({ minLength: 1, maxLength: LIMITS.pathLength, description: 'Its path in the checkpoint.' }),
  bytes: count('Its size.'),
  sha256: sha256('Digest of its content.'),
};

export const CheckpointRequest = named(
  'CheckpointRequest',
  'A runner asks for the checkpoint of a run that it is about to execute.',
  submitted(currentAttempt),
);
export type CheckpointRequest = Static<typeof CheckpointRequest>;

const CheckpointFile = named(
  'CheckpointFile',
  'A file of a checkpoint.',
  answered({ ...fileMembers, url: text('The address from which it is read by GET, for an hour.') }),
);

export const CheckpointResponse = named(
  'CheckpointResponse',
  'The checkpoint of a run.',
  answered({
    checkpoint: Type.Optional(
      Type.Object(
        {
          attempt: int32('The attempt that sent it.'),
          files: listOf(ref(CheckpointFile), 'All of its files.'),
        },
        { description: 'Absent when no attempt has sent one.' },
      ),
    ),
  }),
);
export type CheckpointResponse = Static<typeof CheckpointResponse>;

export const CheckpointUploadRequest = named(
  'CheckpointUploadRequest',
  'The files of a checkpoint that a runner will send.',
  submitted({
    ...currentAttempt,
    number: Type.Optional(
      int32('Of an upload that has begun, whose addresses are signed again; absent: another upload begins.', {
        minimum: 1,
      }),
    ),
    files: listOf(
      Type.Object({ ...fileMembers, parts, upload_id }, { additionalProperties: false }),
      'All of its files, also those that have not changed; with a `number` those whose addresses are asked for.',
      LIMITS.checkpointFiles,
    ),
  }),
);
export type CheckpointUploadRequest = Static<typeof CheckpointUploadRequest>;

export const CheckpointUploadResponse = named(
  'CheckpointUploadResponse',
  'Where to send the files of a checkpoint.',
  answered({
    number,
    files: listOf(ref(SignedUpload), 'In the order of the request.'),
  }),
);
export type CheckpointUploadResponse = Static<typeof CheckpointUploadResponse>;

export const CheckpointCompleteRequest = named(
  'CheckpointCompleteRequest',
  'A checkpoint that a runner has sent, or has given up.',
  submitted({
    ...currentAttempt,
    number,
    files: listOf(
      Type.Object(
        {
          ...fileMembers,
          upload_id,
          etags,
        },
        { additionalProperties: false },
      ),
      'All of its files; without `upload_id` those that the store had already.',
      LIMITS.checkpointFiles,
    ),
    failed: Type.Optional(text('Why it was not sent.', { maxLength: LIMITS.reasonLength })),
  }),
);
export type CheckpointCompleteRequest = Static<typeof CheckpointCompleteRequest>;

export const CheckpointCompleteResponse = named(
  'CheckpointCompleteResponse',
  'The checkpoint that the next attempt gets.',
  answered({ attempt: Type.Optional(int32('The attempt that sent it; absent without one.')) }),
);
export type CheckpointCompleteResponse = Static<typeof CheckpointCompleteResponse>;

/** The checkpoint of a run as the coordinator stores it. */
export const CheckpointRecord = Type.Object({
  bucket: text('Where its files are.'),
  prefix: text('Before the number of an upload in the key of each of its files.'),
  begun: count('The number of the latest upload.'),
  signedAtMs: count('When addresses were signed for the latest time.'),
  complete: Type.Optional(
    Type.Object({
      attempt: int32('The attempt that sent it.'),
      number: int32('The number of its upload.'),
      files: Type.Array(Type.Object({ ...fileMembers, number: int32('The upload with which the file was sent.') })),
    }),
  ),
});
export interface CheckpointRecord extends Static<typeof CheckpointRecord> {}
