/**
 * An object store with the S3 interface. It signs addresses for runners and readers (AWS Signature Version 4), which have no
 * credential, and completes or aborts uploads in parts. Every call has a deadline.
 */
import { AwsClient } from 'aws4fetch';
import { failureOf, readBody, withDeadline } from '../../../base/async/deadline.ts';
import { inParallel } from '../../../base/async/in-parallel.ts';
import { ReadingLimit } from '../reading-limit.ts';

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

/** An answer of the store with its body. */
export interface StoreAnswer {
  ok: boolean;
  status: number;
  headers: Headers;
  text: string;
}

/** An object of a list. */
export interface ListedObject {
  key: string;
  bytes: number;
  modifiedMs: number;
}

/** The store refuses a call or does not answer. */
export class ObjectStoreError extends Error {}

/** The longest wait for an answer of the store, and for the next bytes of one. */
export const CALL_MS = 15_000;
/** How long a runner may use the addresses of its parts, and those of a checkpoint. */
export const PUT_SECS = 3_600;
/** How long a reader may use the address of a file. */
export const GET_SECS = 300;
/** The most objects of a list that are read. */
const MOST_LISTED = 5_000;
/** Calls that are made side by side. */
const CALLS_AT_ONCE = 8;
/** The most objects that are read through the coordinator at once: each has a connection and a chunk in memory. */
export const MAX_OBJECT_READINGS = 16;
/** The most bytes of an error document that are read. */
const MOST_FAULT_BYTES = 16_384;

export class ObjectStore {
  readonly #options: ObjectStoreOptions;
  readonly #client: AwsClient;
  /** Counts the objects that are read through the coordinator. */
  readonly readings = new ReadingLimit(MAX_OBJECT_READINGS, 'files in the object store');

  constructor(options: ObjectStoreOptions) {
    this.#options = options;
    this.#client = new AwsClient({ ...options.credentials, region: options.region, service: 's3', retries: 0 });
  }

  /** The buckets that studies may name. */
  get buckets(): readonly string[] {
    return this.#options.buckets;
  }

  /** A request for an object and its answer, also a refusal. @throws ObjectStoreError when the store does not answer in time */
  async answerTo(method: string, bucket: string, key: string, body?: string): Promise<StoreAnswer> {
    return await this.#exchange(method, bucket, key, {}, body);
  }

  /** Whether studies may name this bucket. */
  serves(bucket: string): boolean {
    return this.#options.buckets.includes(bucket);
  }

  /** The address that takes a whole object, or a part of an upload, by PUT. */
  async signedPut(bucket: string, key: string, part?: { uploadId: string; number: number }): Promise<string> {
    const query: Record<string, string> =
      part === undefined ? {} : { partNumber: String(part.number), uploadId: part.uploadId };
    return await this.#sign('PUT', bucket, key, { 'X-Amz-Expires': String(PUT_SECS), ...query });
  }

  /** The address of an object for a runner, which reads it by GET. */
  async signedRead(bucket: string, key: string): Promise<string> {
    return await this.#sign('GET', bucket, key, { 'X-Amz-Expires': String(PUT_SECS) });
  }

  /** The address of an object, as a download of this name. */
  async signedGet(bucket: string, key: string, fileName: string): Promise<string> {
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(fileName.toWellFormed())}`;
    const query = { 'X-Amz-Expires': String(GET_SECS), 'response-content-disposition': disposition };
    return await this.#sign('GET', bucket, key, query);
  }

  /** Begins an upload in parts, and aborts those of this object that an earlier process began. @throws ObjectStoreError */
  async begin(bucket: string, key: string): Promise<string> {
    for (const left of await this.#openUploads(bucket, key)) {
      if (left.key === key) await this.abort(bucket, key, left.uploadId);
    }
    const text = await this.#call('POST', bucket, key, { uploads: '' });
    const id = elementsOf(text, 'UploadId')[0];
    if (id === undefined) throw new ObjectStoreError('the object store began no upload');
    return id;
  }

  /** @throws ObjectStoreError also for a part with another entity tag */
  async complete(bucket: string, key: string, uploadId: string, etags: readonly string[]): Promise<void> {
    const parts = etags.map(
      (etag, index) => `<Part><PartNumber>${String(index + 1)}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const text = await this.#call('POST', bucket, key, { uploadId }, body);
    // A store may answer 200 before it has failed.
    if (text.includes('<Error>')) throw new ObjectStoreError(faultOf(text));
  }

  /** @throws ObjectStoreError */
  async abort(bucket: string, key: string, uploadId: string): Promise<void> {
    await this.#call('DELETE', bucket, key, { uploadId });
  }

  /** The entity tag of an object without its quotes; undefined when it is not there. @throws ObjectStoreError */
  async etagOf(bucket: string, key: string): Promise<string | undefined> {
    const { ok, status, headers } = await this.#exchange('HEAD', bucket, key, {});
    if (status === 404) return undefined;
    if (!ok) throw new ObjectStoreError(`the object store answered ${String(status)}`);
    return (headers.get('etag') ?? '').replaceAll('"', '');
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
    const headers = { 'accept-encoding': 'identity', ...(range === undefined ? {} : { range }) };
    try {
      const request = await this.#client.sign(this.#address(bucket, key, {}), { method, headers, redirect: 'manual' });
      return await fetch(request, { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : unreachable(error);
    }
  }

  /** The objects below a prefix. @throws ObjectStoreError */
  async list(bucket: string, prefix: string): Promise<ListedObject[]> {
    const found: ListedObject[] = [];
    let after: string | undefined;
    while (found.length < MOST_LISTED) {
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
    for (const { key, uploadId } of await this.#openUploads(bucket, prefix)) {
      if (!keeps(key)) await this.abort(bucket, key, uploadId);
    }
  }

  /** An object that is not there is removed. */
  async #remove(bucket: string, key: string): Promise<void> {
    const answer = await this.#exchange('DELETE', bucket, key, {});
    if (!answer.ok && answer.status !== 404) throw refused(answer);
  }

  async #openUploads(bucket: string, prefix: string): Promise<{ key: string; uploadId: string }[]> {
    const text = await this.#call('GET', bucket, '', { uploads: '', prefix });
    return elementsOf(text, 'Upload').flatMap((it) => {
      const [uploadId] = elementsOf(it, 'UploadId');
      return uploadId === undefined ? [] : [{ key: unescaped(elementsOf(it, 'Key')[0] ?? ''), uploadId }];
    });
  }

  async #call(
    method: string,
    bucket: string,
    key: string,
    query: Record<string, string>,
    body?: string,
  ): Promise<string> {
    const answer = await this.#exchange(method, bucket, key, query, body);
    if (!answer.ok) throw refused(answer);
    return answer.text;
  }

  /** A request and the whole of its answer. @throws ObjectStoreError when the store does not answer in time. */
  async #exchange(
    method: string,
    bucket: string,
    key: string,
    query: Record<string, string>,
    body?: string,
  ): Promise<StoreAnswer> {
    const { callMs = CALL_MS } = this.#options;
    try {
      const init = { method, ...(body === undefined ? {} : { body }) };
      const request = await this.#client.sign(this.#address(bucket, key, query), init);
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
    const url = new URL(`${this.#options.endpoint.replace(/\/+$/, '')}/${path}`);
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

/** The contents of the elements of this name; S3's answers nest no element in one of the same name. */
const elementsOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map((it) => it[1] ?? '');

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
    return ENTITIES[name ?? ''] ?? whole;
  });

/** The reason that the answer of a store that refuses a request has, with its status. */
export async function refusalOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    text += decoder.decode(part, { stream: true });
    if (bytes > MOST_FAULT_BYTES) break;
  }
  return `${faultOf(text)} (${String(response.status)})`;
}

/** The message of an error document. */
function faultOf(xml: string): string {
  const [code] = elementsOf(xml, 'Code');
  const [message] = elementsOf(xml, 'Message');
  const text = [code, message].filter((it) => it !== undefined).join(': ');
  return text === '' ? 'the object store refuses' : `the object store refuses: ${unescaped(text).slice(0, 300)}`;
}

const refused = ({ text, status }: StoreAnswer): ObjectStoreError =>
  new ObjectStoreError(`${faultOf(text)} (${String(status)})`);

function unreachable(error: unknown, limitMs = CALL_MS): ObjectStoreError {
  const { cause, isLate } = failureOf(error);
  const why = isLate ? `no answer within ${String(limitMs / 1000)} s` : String(cause);
  return new ObjectStoreError(`the object store cannot be reached: ${why}`, { cause: error });
}
