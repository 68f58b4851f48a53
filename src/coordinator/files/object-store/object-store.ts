/**
 * An object store with the S3 interface. It signs addresses for runners and readers (AWS Signature Version 4), which have no
 * credential, and completes or aborts uploads in parts. Every call has a deadline.
 */
import { AwsClient, AwsV4Signer } from 'aws4fetch';
import { readBody, withDeadline } from '../../../base/async/deadline.ts';
import { Lanes } from '../../../base/async/lanes.ts';
import { inParallel } from '../../../base/async/in-parallel.ts';
import type { SignedPart } from '../../../contract/types.ts';
import { ReadingLimit } from '../reading-limit.ts';
import {
  elementsOf,
  escaped,
  faultOf,
  ObjectStoreError,
  refused,
  type StoreAnswer,
  unescaped,
  unreachable,
} from './store-answers.ts';
import { UploadTickets } from './upload-tickets.ts';

export interface ObjectStoreOptions {
  /** Base address, e.g. `https://s3.eu-central-1.amazonaws.com`; buckets are the first part of paths. */
  endpoint: string;
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  /** The buckets that studies may name. */
  buckets: readonly string[];
  /** The time for a call and its answer; by default `CALL_MS`. */
  callMs?: number;
}

/** An object of a list. */
export interface ListedObject {
  key: string;
  bytes: number;
  modifiedMs: number;
}

/** An upload in parts that has begun. */
export interface OpenUpload {
  key: string;
  uploadId: string;
}

/** The longest wait for an answer of the store, and for the next bytes of one. */
export const CALL_MS = 15_000;
/** How long a runner may use the addresses of its parts: stores refuse an older signature. */
export const PUT_SECS = 900;
/** How long a runner may use the addresses of a checkpoint that it reads. */
const CHECKPOINT_SECS = 3_600;
/** The metadata of an object with the digest of its content. */
const DIGEST_HEADER = 'x-amz-meta-sha256';
/** How long a reader may use the address of a file. */
export const GET_SECS = 300;
/** The most objects of a list that are read. */
const MOST_LISTED = 5_000;
/** Calls that are made side by side. */
const CALLS_AT_ONCE = 8;
/** The most objects that are read through the coordinator at once: each has a connection and a chunk in memory. */
export const MAX_OBJECT_READINGS = 16;
export class ObjectStore {
  readonly #options: ObjectStoreOptions;
  readonly #client: AwsClient;
  /** Counts the objects that are read through the coordinator. */
  readonly readings = new ReadingLimit(MAX_OBJECT_READINGS, 'files in the object store');
  /** Begins and completions of uploads, one after the other for each run: an upload is not aborted while it is completed. */
  readonly lanes = new Lanes();
  readonly tickets: UploadTickets;
  /** `bucket/key` of files whose parts were signed and whose uploads were not completed, since the last call of `takeSigned`. */
  #signed = new Set<string>();

  constructor(options: ObjectStoreOptions) {
    this.#options = options;
    this.#client = new AwsClient({ ...options.credentials, region: options.region, service: 's3', retries: 0 });
    this.tickets = new UploadTickets(options.credentials.secretAccessKey);
  }

  /** The buckets that studies may name. */
  get buckets(): readonly string[] {
    return this.#options.buckets;
  }

  /** A request for an object and its answer, also a refusal. @throws ObjectStoreError when the store does not answer in time */
  async answerTo(method: string, bucket: string, key: string, body?: string): Promise<StoreAnswer> {
    return await this.#exchange(method, bucket, key, {}, body === undefined ? {} : { body });
  }

  /** Whether studies may name this bucket. */
  serves(bucket: string): boolean {
    return this.#options.buckets.includes(bucket);
  }

  /**
   * The address that takes a part of an upload by PUT, with the headers that it needs. Its length and digest are signed in a
   * header and not in the query: every store compares them with what arrives.
   */
  async signedPart(
    bucket: string,
    key: string,
    { uploadId, number, bytes, sha256 }: { uploadId: string; number: number; bytes: number; sha256: string },
  ): Promise<SignedPart> {
    this.#signed.add(`${bucket}/${key}`);
    const { url, headers } = await new AwsV4Signer({
      ...this.#options.credentials,
      region: this.#options.region,
      service: 's3',
      cache: this.#client.cache,
      method: 'PUT',
      url: this.#address(bucket, key, { partNumber: String(number), uploadId }).href,
      headers: { 'content-length': String(bytes), 'x-amz-content-sha256': sha256 },
      allHeaders: true,
    }).sign();
    return { url: url.href, headers: Object.fromEntries(headers) };
  }

  /** The address of an object for a runner, which reads it by GET. */
  async signedRead(bucket: string, key: string): Promise<string> {
    return await this.#sign('GET', bucket, key, { 'X-Amz-Expires': String(CHECKPOINT_SECS) });
  }

  /** The address of an object, as a download of this name. */
  async signedGet(bucket: string, key: string, fileName: string): Promise<string> {
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(fileName.toWellFormed())}`;
    const query = { 'X-Amz-Expires': String(GET_SECS), 'response-content-disposition': disposition };
    return await this.#sign('GET', bucket, key, query);
  }

  /** Begins an upload in parts of an object that will have this digest, where it is known. @throws ObjectStoreError */
  async begin(bucket: string, key: string, sha256?: string): Promise<string> {
    const init = sha256 === undefined ? {} : { headers: { [DIGEST_HEADER]: sha256 } };
    const answer = await this.#exchange('POST', bucket, key, { uploads: '' }, init);
    if (!answer.ok) throw refused(answer);
    const id = elementsOf(answer.text, 'UploadId')[0];
    if (id === undefined) throw new ObjectStoreError('the object store began no upload');
    return unescaped(id);
  }

  /** Aborts the uploads of these keys that earlier requests began, all below a prefix. @throws ObjectStoreError */
  async abortBegun(bucket: string, prefix: string, objectKeys: ReadonlySet<string>): Promise<void> {
    for await (const page of this.openUploads(bucket, prefix)) {
      const left = page.filter(({ key }) => objectKeys.has(key));
      await inParallel(left, CALLS_AT_ONCE, ({ key, uploadId }) => this.abort(bucket, key, uploadId));
    }
  }

  /** Whether an address for a part of this open upload was signed since the last call of `takeSigned`. */
  isSigned(bucket: string, key: string): boolean {
    return this.#signed.has(`${bucket}/${key}`);
  }

  /** `bucket/key` of the open uploads for which addresses were signed since the last call. */
  takeSigned(): ReadonlySet<string> {
    const taken = this.#signed;
    this.#signed = new Set();
    return taken;
  }

  /** @throws ObjectStoreError also for a part with another entity tag */
  async complete(bucket: string, key: string, uploadId: string, etags: readonly string[]): Promise<void> {
    const parts = etags.map(
      (etag, index) => `<Part><PartNumber>${String(index + 1)}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const text = await this.#call('POST', bucket, key, { uploadId }, { body });
    // A store may answer 200 before it has failed.
    if (text.includes('<Error>')) throw new ObjectStoreError(faultOf(text));
    this.#signed.delete(`${bucket}/${key}`);
  }

  /** An upload that is not there is aborted. @throws ObjectStoreError */
  async abort(bucket: string, key: string, uploadId: string): Promise<void> {
    const answer = await this.#exchange('DELETE', bucket, key, { uploadId });
    if (!answer.ok && answer.status !== 404) throw refused(answer);
  }

  /** The size of an object, and the digest with which its upload began; undefined when it is not there. @throws ObjectStoreError */
  async contentOf(bucket: string, key: string): Promise<{ size: number; sha256: string | undefined } | undefined> {
    const answer = await this.#exchange('HEAD', bucket, key, {});
    if (answer.status === 404) return undefined;
    if (!answer.ok) throw refused(answer);
    const { headers } = answer;
    return { size: Number(headers.get('content-length')), sha256: headers.get(DIGEST_HEADER) ?? undefined };
  }

  /**
   * The answer to a request for an object, or for the bytes of a `Range` header; its body is unread, also that of a refusal.
   * It follows no redirect: the store of the configuration answers, or none.
   * @throws ObjectStoreError when the store cannot be reached; the reason of `signal`.
   */
  async open(
    method: 'GET' | 'HEAD',
    bucket: string,
    key: string,
    { range, signal }: { range: string | undefined; signal: AbortSignal },
  ): Promise<Response> {
    // With a range `fetch` adds `identity` itself: a second one would change the header that is signed.
    const headers: Record<string, string> = range === undefined ? { 'accept-encoding': 'identity' } : { range };
    try {
      const request = await this.#client.sign(this.#address(bucket, key, {}), { method, headers, redirect: 'manual' });
      return await fetch(request, { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : unreachable(error, CALL_MS);
    }
  }

  /** The objects below a prefix. @throws ObjectStoreError */
  async list(bucket: string, prefix: string, most = MOST_LISTED): Promise<ListedObject[]> {
    const found: ListedObject[] = [];
    let after: string | undefined;
    while (found.length < most) {
      const query = { 'list-type': '2', prefix, ...(after === undefined ? {} : { 'continuation-token': after }) };
      const text = await this.#call('GET', bucket, '', query);
      for (const item of elementsOf(text, 'Contents')) {
        const [key = ''] = elementsOf(item, 'Key');
        const bytes = Number(elementsOf(item, 'Size')[0]);
        found.push({ key: unescaped(key), bytes, modifiedMs: Date.parse(elementsOf(item, 'LastModified')[0] ?? '') });
      }
      after = elementsOf(text, 'NextContinuationToken').map(unescaped)[0];
      if (after === undefined) break;
    }
    return found;
  }

  /** Removes the objects below a prefix, and what was begun in parts, but for keys that `keeps` names. @throws ObjectStoreError */
  async removeBelow(bucket: string, prefix: string, keeps: (key: string) => boolean = () => false): Promise<void> {
    for (;;) {
      const listed = await this.list(bucket, prefix);
      const doomed = listed.filter(({ key }) => !keeps(key));
      await inParallel(doomed, CALLS_AT_ONCE, ({ key }) => this.#remove(bucket, key));
      if (doomed.length === 0 || listed.length < MOST_LISTED) break;
    }
    for await (const page of this.openUploads(bucket, prefix))
      for (const { key, uploadId } of page) if (!keeps(key)) await this.abort(bucket, key, uploadId);
  }

  /** An object that is not there is removed. */
  async #remove(bucket: string, key: string): Promise<void> {
    const answer = await this.#exchange('DELETE', bucket, key, {});
    if (!answer.ok && answer.status !== 404) throw refused(answer);
  }

  /** The uploads in parts below a prefix that were neither completed nor aborted, page by page. @throws ObjectStoreError */
  async *openUploads(bucket: string, prefix: string): AsyncGenerator<OpenUpload[]> {
    let after: Record<string, string> = {};
    for (;;) {
      const text = await this.#call('GET', bucket, '', { uploads: '', prefix, ...after });
      yield elementsOf(text, 'Upload').flatMap((it) => {
        const [uploadId] = elementsOf(it, 'UploadId').map(unescaped);
        return uploadId === undefined ? [] : [{ key: unescaped(elementsOf(it, 'Key')[0] ?? ''), uploadId }];
      });
      const [key] = elementsOf(text, 'NextKeyMarker').map(unescaped);
      const [upload = ''] = elementsOf(text, 'NextUploadIdMarker').map(unescaped);
      const isLast = elementsOf(text, 'IsTruncated')[0] !== 'true' || key === undefined || key === '';
      // A store that names the same place again would be asked for ever.
      if (isLast || (key === after['key-marker'] && upload === after['upload-id-marker'])) return;
      after = { 'key-marker': key, 'upload-id-marker': upload };
    }
  }

  async #call(
    method: string,
    bucket: string,
    key: string,
    query: Record<string, string>,
    init?: { body: string },
  ): Promise<string> {
    const answer = await this.#exchange(method, bucket, key, query, init);
    if (!answer.ok) throw refused(answer);
    return answer.text;
  }

  /** A request and the whole of its answer. @throws ObjectStoreError when the store does not answer in time. */
  async #exchange(
    method: string,
    bucket: string,
    key: string,
    query: Record<string, string>,
    init: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<StoreAnswer> {
    const { callMs = CALL_MS } = this.#options;
    try {
      const request = await this.#client.sign(this.#address(bucket, key, query), { method, ...init });
      return await withDeadline(callMs, undefined, async (signal) => {
        const response = await fetch(request, { signal });
        const { ok, status, headers } = response;
        return { ok, status, headers, text: new TextDecoder().decode(await readBody(response, signal)) };
      });
    } catch (error) {
      throw unreachable(error, callMs);
    }
  }

  async #sign(method: string, bucket: string, key: string, query: Record<string, string>): Promise<string> {
    const init = { method, aws: { signQuery: true } };
    return (await this.#client.sign(this.#address(bucket, key, query), init)).url;
  }

  #address(bucket: string, key: string, query: Record<string, string>): URL {
    const path = [bucket, ...(key === '' ? [] : key.split('/'))].map(segment).join('/');
    const base = new URL(`${this.#options.endpoint.replace(/\/+$/, '')}/`);
    const url = new URL(base.href + path);
    // A URL resolves `..`: it would be another object, of another bucket perhaps.
    if (url.pathname !== base.pathname + path)
      throw new ObjectStoreError(
        `the key ${JSON.stringify(key.slice(0, 200))} is not an address of the bucket; a folder is . or ..`,
      );
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }
}

/** RFC 3986, as signatures need it. */
const segment = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`,
  );
