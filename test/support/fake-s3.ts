/** An object store in memory, with the part of the S3 interface that uploads use; it checks signatures and misbehaves on demand. */
import { AwsV4Signer } from 'aws4fetch';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export const KEY = { accessKeyId: 'test', secretAccessKey: 'secret' };

interface Upload {
  key: string;
  parts: Map<number, Buffer>;
  /** Metadata of the object. */
  meta: Record<string, string>;
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

export class FakeS3 {
  readonly objects = new Map<string, Buffer>();
  readonly uploads = new Map<string, Upload>();
  /** Method and path with query of each request, as `PUT /bucket/key`. */
  readonly requests: string[] = [];
  /** Called for each request; a number is the status that it gets in place of an answer, `hang` no answer at all. */
  fault: (method: string, path: string) => number | 'hang' | undefined = () => undefined;
  /** The answer to the completion of an upload waits for what it returns; the object is there. */
  delayCompletion: (() => Promise<void>) | undefined;
  /** Bytes that fit; more are refused as a bucket does whose quota is used up. */
  quota = Infinity;
  /** So many parts arrive damaged. */
  damages = 0;
  /** As Swift: parts of a completed upload can be sent again, and are those of the object. */
  keepsUploads = false;
  /** The most uploads that a page of their list has. */
  uploadsPerPage = 1000;
  /** Added to the time of its clock. */
  aheadMs = 0;
  #uploadIds = 0;
  /** Entity tags of objects that were sent in parts, as Amazon makes them. */
  readonly #tags = new WeakMap<Buffer, string>();
  readonly #meta = new WeakMap<Buffer, Record<string, string>>();
  readonly #completed = new Map<string, Upload>();
  readonly #server: Server;

  /** The time that its answers name; undefined: none. */
  time: Date | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeS3> {
    const server = createServer();
    const fake = new FakeS3(server);
    server.on('request', (request, response) => void fake.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as { port: number }).port)}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Puts an object there with its metadata, without a request. */
  plant(key: string, object: Buffer, meta: Record<string, string>): void {
    this.#meta.set(object, meta);
    this.objects.set(key, object);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET' } = request;
    // A coordinator with a simulated clock would find the time of this machine wrong.
    response.sendDate = false;
    if (this.time !== undefined) response.setHeader('date', this.time.toUTCString());
    const url = new URL(request.url ?? '/', this.url);
    const path = decodeURIComponent(url.pathname);
    this.requests.push(`${method} ${path}${url.searchParams.has('uploads') ? '?uploads' : ''}`);
    const fault = this.fault(method, path);
    if (fault === 'hang') return;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (fault !== undefined) return error(response, fault, 'InternalError');
    const body = Buffer.concat(pieces);
    const refusal = await signatureFault(method, url, request, Date.now() + this.aheadMs);
    if (refusal !== undefined) return error(response, 403, refusal);
    if (method === 'PUT' && this.damages > 0) {
      this.damages -= 1;
      body.writeUInt8(body.readUInt8(0) ^ 1, 0);
    }
    const digest = request.headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD';
    if (digest !== 'UNSIGNED-PAYLOAD' && digest !== createHash('sha256').update(body).digest('hex'))
      return error(response, 400, 'XAmzContentSHA256Mismatch');
    this.#answer(method, url.searchParams, path.slice(1), body, request, response);
  }

  #answer(
    method: string,
    query: URLSearchParams,
    path: string,
    body: Buffer,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const uploadId = query.get('uploadId');
    const [bucket = ''] = path.split('/');
    if (method === 'GET' && query.has('uploads'))
      return this.#listUploads(response, `${bucket}/${query.get('prefix') ?? ''}`, query.get('upload-id-marker') ?? '');
    if (method === 'GET' && query.has('list-type')) return this.#list(response, bucket, query.get('prefix') ?? '');
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${String(++this.#uploadIds)}`;
      const meta = Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-meta-'));
      this.uploads.set(id, { key: path, parts: new Map(), meta: Object.fromEntries(meta) as Record<string, string> });
      return xml(response, `<UploadId>${id}</UploadId>`);
    }
    if (method === 'DELETE' && uploadId !== null) {
      this.uploads.delete(uploadId);
      return xml(response, '', 204);
    }
    if (method === 'DELETE') {
      this.objects.delete(path);
      return xml(response, '', 204);
    }
    if (method === 'PUT') return this.#put(response, path, body, uploadId, Number(query.get('partNumber')));
    if (method === 'POST' && uploadId !== null) return void this.#complete(response, uploadId, body.toString());
    const object = this.objects.get(path);
    if (object === undefined) return error(response, 404, 'NoSuchKey');
    response.setHeader('ETag', `"${this.#tags.get(object) ?? md5(object)}"`);
    for (const [name, value] of Object.entries(this.#meta.get(object) ?? {})) response.setHeader(name, value);
    sendObject(response, object, request, query);
  }

  #put(response: ServerResponse, key: string, body: Buffer, uploadId: string | null, part: number): void {
    const used = [...this.objects.values()].reduce((sum, it) => sum + it.length, 0);
    if (used + body.length > this.quota) return error(response, 403, 'QuotaExceeded');
    if (uploadId === null) this.objects.set(key, body);
    else {
      const completed = this.keepsUploads ? this.#completed.get(uploadId) : undefined;
      const upload = this.uploads.get(uploadId) ?? completed;
      if (upload?.key !== key) return error(response, 404, 'NoSuchUpload');
      upload.parts.set(part, body);
      if (upload === completed) this.#make(upload, [...upload.parts.values()]);
    }
    response.setHeader('ETag', `"${md5(body)}"`);
    xml(response, '');
  }

  async #complete(response: ServerResponse, uploadId: string, body: string): Promise<void> {
    const upload = this.uploads.get(uploadId);
    if (upload === undefined) return error(response, 404, 'NoSuchUpload');
    const parts = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)].map((it) => {
      const part = upload.parts.get(Number(it[1]));
      return part !== undefined && it[2]?.replaceAll('"', '') === md5(part) ? part : undefined;
    });
    if (parts.length === 0) return error(response, 400, 'MalformedXML');
    if (parts.some((it) => it === undefined)) return error(response, 400, 'InvalidPart');
    this.#make(
      upload,
      parts.filter((it) => it !== undefined),
    );
    this.uploads.delete(uploadId);
    this.#completed.set(uploadId, upload);
    await this.delayCompletion?.();
    xml(response, '<CompleteMultipartUploadResult/>');
  }

  #make({ key, meta }: Upload, parts: readonly Buffer[]): void {
    const object = Buffer.concat(parts);
    const tags = parts.map((it) => createHash('md5').update(it).digest());
    this.#tags.set(object, `${md5(Buffer.concat(tags))}-${String(parts.length)}`);
    this.#meta.set(object, meta);
    this.objects.set(key, object);
  }

  /** In the order in which they began. */
  #listUploads(response: ServerResponse, prefix: string, after: string): void {
    const numberOf = (id: string): number => Number(id.slice('upload-'.length));
    const left = [...this.uploads].filter(([id, { key }]) => key.startsWith(prefix) && numberOf(id) > numberOf(after));
    const found = left.slice(0, this.uploadsPerPage);
    const [lastId = '', { key: last } = { key: '' }] = found.at(-1) ?? [];
    const keyOf = (key: string): string => key.slice(key.indexOf('/') + 1);
    xml(
      response,
      found
        .map(([id, { key }]) => `<Upload><Key>${text(keyOf(key))}</Key><UploadId>${id}</UploadId></Upload>`)
        .join('') +
        (found.length === left.length
          ? '<IsTruncated>false</IsTruncated>'
          : `<IsTruncated>true</IsTruncated><NextKeyMarker>${text(keyOf(last))}</NextKeyMarker><NextUploadIdMarker>${lastId}</NextUploadIdMarker>`),
    );
  }

  #list(response: ServerResponse, bucket: string, prefix: string): void {
    const found = [...this.objects].filter(([key]) => key.startsWith(`${bucket}/${prefix}`));
    const item = ([key, bytes]: [string, Buffer]): string =>
      `<Contents><Key>${text(key.slice(bucket.length + 1))}</Key><Size>${String(bytes.length)}</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`;
    xml(response, found.map(item).join(''));
  }
}

const SIGNED = { ...KEY, region: 'us-east-1', service: 's3' };

/** Why the request has no signature of `KEY`, in its query or its header; undefined when it has, and has not expired. */
async function signatureFault(
  method: string,
  url: URL,
  { headers }: IncomingMessage,
  nowMs: number,
): Promise<string | undefined> {
  const given = url.searchParams.get('X-Amz-Signature');
  if (given === null) return await headerFault(method, url, headers, nowMs);
  const bare = new URL(url);
  bare.searchParams.delete('X-Amz-Signature');
  const datetime = url.searchParams.get('X-Amz-Date') ?? '';
  const { url: signed } = await new AwsV4Signer({
    ...SIGNED,
    method,
    url: bare.href,
    datetime,
    signQuery: true,
  }).sign();
  if (signed.searchParams.get('X-Amz-Signature') !== given) return 'SignatureDoesNotMatch';
  const endMs = instantOf(datetime) + Number(url.searchParams.get('X-Amz-Expires')) * 1000;
  return nowMs < endMs ? undefined : 'AccessDenied';
}

async function headerFault(
  method: string,
  url: URL,
  headers: IncomingMessage['headers'],
  nowMs: number,
): Promise<string | undefined> {
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? [];
  const datetime = String(headers['x-amz-date']);
  const kept = names.split(';').filter((it) => it !== '' && it !== 'host' && it !== 'x-amz-date');
  const signed = await new AwsV4Signer({
    ...SIGNED,
    method,
    url: url.href,
    datetime,
    headers: Object.fromEntries(kept.map((it) => [it, String(headers[it])])),
    allHeaders: true,
  }).sign();
  if (signed.headers.get('authorization') !== headers.authorization) return 'SignatureDoesNotMatch';
  return Math.abs(nowMs - instantOf(datetime)) <= 900_000 ? undefined : 'RequestTimeTooSkewed';
}

const instantOf = (datetime: string): number =>
  Date.parse(datetime.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'));

function sendObject(response: ServerResponse, object: Buffer, request: IncomingMessage, query: URLSearchParams): void {
  const disposition = query.get('response-content-disposition');
  if (disposition !== null) response.setHeader('Content-Disposition', disposition);
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const start = first === '' ? (last === '' ? 0 : Math.max(0, object.length - Number(last))) : Number(first);
  const end = first !== '' && last !== '' ? Math.min(Number(last) + 1, object.length) : object.length;
  if (request.headers.range !== undefined && start >= end) {
    response.setHeader('Content-Range', `bytes */${String(object.length)}`);
    return error(response, 416, 'InvalidRange');
  }
  if (request.headers.range !== undefined) {
    response.statusCode = 206;
    response.setHeader('Content-Range', `bytes ${String(start)}-${String(end - 1)}/${String(object.length)}`);
  }
  response.setHeader('Content-Length', end - start);
  response.end(request.method === 'HEAD' ? undefined : object.subarray(start, end));
}

const text = (plain: string): string => plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function xml(response: ServerResponse, body: string, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(status === 204 ? undefined : `<?xml version="1.0"?><Answer>${body}</Answer>`);
}

function error(response: ServerResponse, status: number, code: string): void {
  xml(response, `<Error><Code>${code}</Code><Message>it is ${code}</Message></Error>`, status);
}
