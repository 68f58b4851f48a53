/** The runner's side of reading files: a runner asks for requests, and answers each with bytes or a refusal. */
import type { Abandoned } from '../../../base/abandonment.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import type {
  FileFault,
  FilePartResponse,
  FileRequestsRequest,
  FileRequestsResponse,
} from '../../../contract/types.ts';
import type { RunnerState } from '../../kernel/actors/actor-kinds.ts';
import type { FileRequests } from './file-requests.ts';
import { type StoreReader, actorState, sameInstanceOrThrow } from '../../kernel/records/lookup.ts';

interface ServeFilesParts extends StoreReader {
  fileRequests: FileRequests;
}

/** Waits up to `wait_seconds` for requests to this runner. */
export async function fileRequests(
  parts: ServeFilesParts,
  runnerId: string,
  { instance, holding, wait_seconds = 0 }: FileRequestsRequest,
  stop?: Abandoned,
): Promise<FileRequestsResponse> {
  sameInstanceOrThrow(actorState(parts, 'runner', runnerId) as RunnerState, instance);
  return { requests: await parts.fileRequests.poll(runnerId, holding, wait_seconds * 1000, stop) };
}

/** The answer of a runner to a request, without its bytes. */
export interface FilePart {
  request: string;
  size?: number | undefined;
  offset?: number | undefined;
  version?: string | undefined;
  modified_ms?: number | undefined;
  fault?: FileFault | undefined;
  detail?: string | undefined;
}

/**
 * Passes the answer of a runner on to the reader.
 * @throws SimbatchError `malformed-query` for an answer without its size and version, or with more bytes than were asked for
 */
export function filePart(
  parts: ServeFilesParts,
  runnerId: string,
  given: FilePart,
  bytes: Uint8Array,
): FilePartResponse {
  const { request: name, fault, detail = '', size, offset = 0, version, modified_ms: modifiedMs = 0 } = given;
  if (fault !== undefined) {
    return { accepted: parts.fileRequests.answer(runnerId, name, { type: 'refused', fault, detail }) };
  }
  if (size === undefined || version === undefined) {
    throw new SimbatchError('malformed-query', 'a part of a file has no `size` or `version`; give both, or a `fault`');
  }
  const asked = parts.fileRequests.request(runnerId, name);
  if (asked?.type === 'part' && bytes.length > asked.length) {
    const why = `the part has ${String(bytes.length)} bytes; at most ${String(asked.length)} were asked for`;
    throw new SimbatchError('malformed-query', why);
  }
  const answer = { type: 'content' as const, bytes, size, offset, version, modifiedMs };
  return { accepted: parts.fileRequests.answer(runnerId, name, answer) };
}
