/** Files as runners declare them and send them to addresses that the coordinator has signed. */
import { createHash } from 'node:crypto';
import type { SignedPart, SignedUpload, UploadRequest } from '../../src/contract/types.ts';
import { partBytesOf, partCountOf } from '../../src/domain/files/upload-parts.ts';

export const sha256Of = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** The parts of a content. */
export function partsOf(content: Uint8Array): Uint8Array<ArrayBuffer>[] {
  const bytes = partBytesOf(content.length);
  const count = partCountOf(content.length);
  return Array.from({ length: count }, (_, index) =>
    Uint8Array.from(content.subarray(index * bytes, (index + 1) * bytes)),
  );
}

/** A file as a request for addresses declares it. */
export function declared(path: string, content: string | Uint8Array): UploadRequest['files'][number] {
  const bytes = Buffer.from(content);
  const file = { path, size: bytes.length, sha256: sha256Of(bytes) };
  const parts = partsOf(bytes);
  return parts.length === 1 ? file : { ...file, parts: parts.map(sha256Of) };
}

export const put = ({ url, headers }: SignedPart, body: string | Uint8Array<ArrayBuffer>): Promise<Response> =>
  fetch(url, { method: 'PUT', headers, body });

/** Sends all parts of a file; returns it as the request that completes the upload names it. */
export async function send({ path, upload_id, parts }: SignedUpload, content: string | Uint8Array) {
  const etags: string[] = [];
  const pieces = partsOf(Buffer.from(content));
  for (const [index, part] of parts.entries()) {
    const response = await put(part, pieces[index] ?? new Uint8Array());
    if (!response.ok) throw new Error(`the store answered ${String(response.status)}: ${await response.text()}`);
    etags.push(response.headers.get('etag') ?? '');
  }
  return { path, etags, ...(upload_id === undefined ? {} : { upload_id }) };
}
