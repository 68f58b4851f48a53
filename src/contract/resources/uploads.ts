/** Uploads of files of runs to an object store: a runner gets signed addresses, and reports what it has sent. */
import { Type, type Static } from 'typebox';
import { answered, listOf, named, ref, submitted, text } from '../build.ts';
import { LIMITS } from '../limits.ts';
import { count, int32, runnerId } from '../scalars.ts';

const path = Type.String({ minLength: 1, maxLength: LIMITS.pathLength, description: 'Its path in the attempt.' });
const upload_id = Type.Optional(text('Of a file in several parts.', { maxLength: 1_024 }));
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
      Type.Object({ path, bytes: count('Its size.') }, { additionalProperties: false }),
      'Files of the run, which has ended.',
      LIMITS.uploadFiles,
    ),
  }),
);
export type UploadRequest = Static<typeof UploadRequest>;

export const SignedUpload = named(
  'SignedUpload',
  'Where to send a file.',
  answered({
    path,
    upload_id,
    part_bytes: count('Size of each part but the last.'),
    urls: listOf(Type.String(), 'For each part, the address that takes it by PUT, for an hour.'),
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
  'Files that a runner has sent, and others that it could not send.',
  submitted({
    ...attemptOf,
    files: listOf(
      Type.Object(
        {
          path,
          upload_id,
          etags: listOf(Type.String({ maxLength: 200 }), 'Of each part, as the store returned it.', LIMITS.uploadParts),
        },
        { additionalProperties: false },
      ),
      'Files that were sent.',
      LIMITS.uploadFiles,
    ),
    failed: listOf(
      Type.Object({ path, detail: text('Why.', { maxLength: LIMITS.reasonLength }) }, { additionalProperties: false }),
      'Files that stay on the runner.',
      LIMITS.uploadFiles,
    ),
  }),
);
export type UploadCompleteRequest = Static<typeof UploadCompleteRequest>;
