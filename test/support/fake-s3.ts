/** An object store in memory, with the part of the S3 interface that uploads use; it checks signatures and misbehaves on demand. */
import { AwsV4Signer } from 'aws4fetch';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export const KEY = { accessKeyId: 'test', secretAccessKey: 'secret' };

interface Upload {
  key: string;
  parts: Map<number, Buffer>;
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

export class FakeS3 {
  readonly objects = new Map<string, Buffer>();
  readonly uploads = new Map<string, Upload>();
  /** Method and path with query of each request, as `PUT /bucket/key`. */
  readonly requests: string[] = [];
  /** Called for each request; a number is the status that it gets in place of an answer, `hang` no answer at all. */
  fault: (method: string, path: string) => number | 'hang' | undefined = () => undefined;
  /** The answer to a request waits for what it returns. */
  delay: ((method: string) => Promise<void> | undefined) | undefined;
  /** Bytes that fit; more are refused as a bucket does whose quota is used up. */
  quota = Infinity;
  /** The entity tag of the next part is another one. */
  breaksTags = 0;
  #uploadIds = 0;
  /** Entity tags of objects that were sent in parts, as Amazon makes them. */
  readonly #tags = new WeakMap<Buffer, string>();
  readonly #server: Server;

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

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET' } = request;
    // A coordinator with a simulated clock would find it wrong.
    response.sendDate = false;
    const url = new URL(request.url ?? '/', this.url);
    const path = decodeURIComponent(url.pathname);
    this.requests.push(`${method} ${path}${url.searchParams.has('uploads') ? '?uploads' : ''}`);
    const fault = this.fault(method, path);
    if (fault === 'hang') return;
    await this.delay?.(method);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (fault !== undefined) return error(response, fault, 'InternalError');
    if (!(await isSigned(method, url, request))) return error(response, 403, 'SignatureDoesNotMatch');
    this.#answer(method, url.searchParams, path.slice(1), Buffer.concat(pieces), request, response);
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
      return this.#listUploads(response, `${bucket}/${query.get('prefix') ?? ''}`);
    if (method === 'GET' && query.has('list-type')) return this.#list(response, bucket, query.get('prefix') ?? '');
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${String(++this.#uploadIds)}`;
      this.uploads.set(id, { key: path, parts: new Map() });
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
    if (method === 'POST' && uploadId !== null) return this.#complete(response, uploadId, body.toString());
    const object = this.objects.get(path);
    if (object === undefined) return error(response, 404, 'NoSuchKey');
    response.setHeader('ETag', `"${this.#tags.get(object) ?? md5(object)}"`);
    sendObject(response, object, request, query);
  }

  #put(response: ServerResponse, key: string, body: Buffer, uploadId: string | null, part: number): void {
    const used = [...this.objects.values()].reduce((sum, it) => sum + it.length, 0);
    if (used + body.length > this.quota) return error(response, 403, 'QuotaExceeded');
    if (uploadId === null) this.objects.set(key, body);
    else {
      const upload = this.uploads.get(uploadId);
      if (upload?.key !== key) return error(response, 404, 'NoSuchUpload');
      upload.parts.set(part, body);
    }
    const isBroken = this.breaksTags > 0;
    if (isBroken) this.breaksTags -= 1;
    response.setHeader('ETag', `"${isBroken ? '0'.repeat(32) : md5(body)}"`);
    xml(response, '');
  }

  #complete(response: ServerResponse, uploadId: string, body: string): void {
    const upload = this.uploads.get(uploadId);
    if (upload === undefined) return error(response, 404, 'NoSuchUpload');
    const parts = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)].map((it) => {
      const part = upload.parts.get(Number(it[1]));
      return part !== undefined && it[2]?.replaceAll('"', '') === md5(part) ? part : undefined;
    });
    if (parts.some((it) => it === undefined)) return error(response, 400, 'InvalidPart');
    const sent = parts.filter((it) => it !== undefined);
    const object = Buffer.concat(sent);
    const tags = sent.map((it) => createHash('md5').update(it).digest());
    this.#tags.set(object, `${md5(Buffer.concat(tags))}-${String(sent.length)}`);
    this.objects.set(upload.key, object);
    this.uploads.delete(uploadId);
    xml(response, '<CompleteMultipartUploadResult/>');
  }

  #listUploads(response: ServerResponse, prefix: string): void {
    const found = [...this.uploads].filter(([, { key }]) => key.startsWith(prefix));
    const keyOf = (key: string): string => key.slice(key.indexOf('/') + 1);
    xml(
      response,
      found
        .map(([id, { key }]) => `<Upload><Key>${text(keyOf(key))}</Key><UploadId>${id}</UploadId></Upload>`)
        .join(''),
    );
  }

  #list(response: ServerResponse, bucket: string, prefix: string): void {
    const found = [...this.objects].filter(([key]) => key.startsWith(`${bucket}/${prefix}`));
    const item = ([key, bytes]: [string, Buffer]): string =>
      `<Contents><Key>${text(key.slice(bucket.length + 1))}</Key><Size>${String(bytes.length)}</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`;
    xml(response, found.map(item).join(''));
  }
}

/** Whether the request has the signature of `KEY`, in its query or its header, and has not expired. */
async function isSigned(method: string, url: URL, { headers }: IncomingMessage): Promise<boolean> {
  const given = url.searchParams.get('X-Amz-Signature');
  if (given === null) return headers.authorization?.includes(`Credential=${KEY.accessKeyId}/`) === true;
  const bare = new URL(url);
  bare.searchParams.delete('X-Amz-Signature');
  const datetime = url.searchParams.get('X-Amz-Date') ?? '';
  const signer = new AwsV4Signer({
    ...KEY,
    method,
    url: bare.href,
    region: 'us-east-1',
    service: 's3',
    datetime,
    signQuery: true,
  });
  const at = Date.parse(datetime.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'));
  const isFresh = Date.now() < at + Number(url.searchParams.get('X-Amz-Expires')) * 1000;
  return isFresh && (await signer.sign()).url.searchParams.get('X-Amz-Signature') === given;
}

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
