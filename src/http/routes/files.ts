/** Routes of the files of runs: for readers, and those by which a runner serves its files. */
import { stringifyInSlices } from '../../base/event-loop-share.ts';
import * as jobs from '../../contract/resources/jobs.ts';
import * as uploads from '../../contract/resources/uploads.ts';
import * as files from '../../contract/resources/files.ts';
import * as extraction from '../../contract/extraction/extraction.ts';
import * as live from '../../contract/resources/live-telemetry.ts';
import { FILE_PART_QUERY, FILE_QUERY, READ_FILE_QUERY } from '../../contract/queries.ts';
import { LIMITS } from '../../contract/limits.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { LateAnswer } from '../answers.ts';
import { routesOf } from '../route.ts';

const route = routesOf('jobs');
const protocolRoute = routesOf('runner protocol');

export const filesRoutes = [
  route({
    method: 'GET',
    path: '/jobs/{job_id}/files',
    operationId: 'listJobFiles',
    summary: 'List the files of a job',
    description:
      'From the runner that has them, where it serves files; else from the result, without sizes. `notes` says which.',
    scope: 'read',
    answer: 'raw',
    media: ['application/json; charset=utf-8'],
    query: FILE_QUERY,
    response: files.RunFiles,
    errors: ['unknown-file'],
    handle: async (coordinator, call) => ({
      body: await stringifyInSlices(
        coordinator.share,
        await coordinator.jobFiles(call.id, call.query.attempt, call.abandoned()),
      ),
    }),
  }),
  route({
    method: 'GET',
    path: '/jobs/{job_id}/files/{path}',
    operationId: 'readJobFile',
    summary: 'Read a file of a job',
    description:
      'Takes a `Range` of bytes. `HEAD` returns the size. A file in an object store is a redirect to an address that is valid for 5 minutes, unless `through=coordinator`.',
    scope: 'read',
    answer: 'file',
    media: ['application/octet-stream'],
    query: READ_FILE_QUERY,
    headers: { Range: 'One range of bytes, such as `bytes=0-1023` or `bytes=-65536`.' },
    errors: ['unknown-file', 'artifact-not-uploaded', 'range-not-satisfiable', 'file-too-large', 'object-store-failed'],
    handle: async (coordinator, { id, filePath: path, query, range, isHead, abandoned }) => {
      const { attempt, redirect, through } = query;
      const isRelayed = through === 'coordinator';
      if (isRelayed && redirect !== undefined) {
        throw new SimbatchError(
          'malformed-query',
          'redirect and through exclude each other: a file that the coordinator reads has no other address; leave one of them out',
        );
      }
      const reading = await coordinator.jobFile(id, { path, attempt, range, isHead, isRelayed }, abandoned());
      return { path, isRedirected: redirect !== 'false', reading };
    },
  }),
  route({
    method: 'GET',
    path: '/jobs/{job_id}/telemetry/live',
    operationId: 'readLiveTelemetry',
    summary: 'Read the telemetry of a running job so far',
    description:
      'Down-sampled, from a runner that serves files, where the study has `config.telemetry.live`. Of a job that has ended, the problem names its telemetry file.',
    scope: 'read',
    answer: 'raw',
    media: ['application/json; charset=utf-8'],
    response: live.LiveTelemetry,
    errors: ['run-not-running', 'live-telemetry-off', 'live-telemetry-unavailable'],
    handle: async (coordinator, call) => ({
      body: await stringifyInSlices(coordinator.share, await coordinator.liveTelemetry(call.id, call.abandoned())),
    }),
  }),
  protocolRoute({
    method: 'POST',
    path: '/jobs/{job_id}/uploads',
    operationId: 'beginUpload',
    summary: 'Get addresses to upload files to',
    description: 'Of a job that has ended, for the runner that executed it.',
    scope: 'runner',
    body: { schema: uploads.UploadRequest, limit: 'submission' },
    response: uploads.UploadResponse,
    errors: ['stale-attempt', 'uploads-unavailable'],
    handle: (coordinator, call) => coordinator.beginUpload(call.id, call.body),
  }),
  protocolRoute({
    method: 'POST',
    path: '/jobs/{job_id}/uploads/complete',
    operationId: 'completeUpload',
    summary: 'Report which files were uploaded',
    description: 'The result of the job names them from then on, and says why others stay on the runner.',
    scope: 'runner',
    body: { schema: uploads.UploadCompleteRequest, limit: 'submission' },
    response: jobs.JobResult,
    errors: ['stale-attempt', 'uploads-unavailable'],
    handle: (coordinator, call) => coordinator.completeUpload(call.id, call.body),
  }),
  protocolRoute({
    method: 'POST',
    path: '/jobs/{job_id}/checkpoint',
    operationId: 'openCheckpoint',
    summary: 'Get the checkpoint of a job',
    description: 'For the runner of the current attempt: addresses of the files that an earlier attempt has sent.',
    scope: 'runner',
    body: { schema: uploads.CheckpointRequest, limit: 'small' },
    response: uploads.CheckpointResponse,
    errors: ['stale-attempt', 'uploads-unavailable'],
    handle: (coordinator, call) => coordinator.openCheckpoint(call.id, call.body),
  }),
  protocolRoute({
    method: 'POST',
    path: '/jobs/{job_id}/checkpoint/uploads',
    operationId: 'beginCheckpoint',
    summary: 'Get addresses to send a checkpoint to',
    description:
      'Of the current attempt of a job. The checkpoint before stays the valid one until `completeCheckpoint`.',
    scope: 'runner',
    body: { schema: uploads.CheckpointUploadRequest, limit: 'submission' },
    response: uploads.CheckpointUploadResponse,
    errors: ['stale-attempt', 'uploads-unavailable'],
    handle: (coordinator, call) => coordinator.beginCheckpoint(call.id, call.body),
  }),
  protocolRoute({
    method: 'POST',
    path: '/jobs/{job_id}/checkpoint/complete',
    operationId: 'completeCheckpoint',
    summary: 'Report that a checkpoint was sent',
    description:
      'The next attempt of the job gets it from then on. With `failed` it is given up, and what was sent is removed.',
    scope: 'runner',
    body: { schema: uploads.CheckpointCompleteRequest, limit: 'submission' },
    response: uploads.CheckpointCompleteResponse,
    errors: ['stale-attempt', 'uploads-unavailable'],
    handle: (coordinator, call) => coordinator.completeCheckpoint(call.id, call.body),
  }),
  protocolRoute({
    method: 'POST',
    path: '/jobs/{job_id}/parent-files',
    operationId: 'openParentFiles',
    summary: 'Get the files that a run of an extraction reads',
    description: 'For the runner of the current attempt: the result of the finished run, and where its files are.',
    scope: 'runner',
    body: { schema: extraction.ParentFilesRequest, limit: 'small' },
    response: extraction.ParentFiles,
    errors: ['stale-attempt', 'illegal-transition', 'uploads-unavailable'],
    handle: (coordinator, call) => coordinator.parentFiles(call.id, call.body),
  }),
  protocolRoute({
    method: 'POST',
    path: '/runners/{runner_id}/file-requests',
    operationId: 'takeFileRequests',
    summary: 'Ask for requests to read files',
    description: 'For a runner that serves its files. Each request is answered by `sendFilePart`.',
    scope: 'runner',
    body: { schema: files.FileRequestsRequest, limit: 'small' },
    response: files.FileRequestsResponse,
    errors: ['wrong-instance'],
    handle: async (coordinator, call) => new LateAnswer(coordinator.fileRequests(call.id, call.body, call.abandoned())),
  }),
  protocolRoute({
    method: 'POST',
    path: '/runners/{runner_id}/file-parts',
    operationId: 'sendFilePart',
    summary: 'Answer a request to read a file',
    description: 'The body has the bytes of the part, or the list as JSON; with `fault` it is empty.',
    scope: 'runner',
    bodyBytes: LIMITS.filePartBytes,
    query: FILE_PART_QUERY,
    response: files.FilePartResponse,
    handle: (coordinator, call) =>
      coordinator.filePart(call.id, { ...call.query, request: call.query.request ?? '' }, call.bytes),
  }),
];
