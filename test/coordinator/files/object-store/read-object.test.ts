/** Reading of objects through the coordinator, from a store that answers well, wrongly, slowly or not at all. */
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Abandonment } from '../../../../src/base/abandonment.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { LIMITS } from '../../../../src/contract/limits.ts';
import { SimbatchError } from '../../../../src/domain/errors.ts';
import { readObject, READ_OBJECT_MS } from '../../../../src/coordinator/files/object-store/read-object.ts';
import type { FileReading } from '../../../../src/coordinator/files/place.ts';
import {
  CALL_MS,
  MAX_OBJECT_READINGS,
  ObjectStore,
} from '../../../../src/coordinator/files/object-store/object-store.ts';
import { KEY } from '../../../support/fake-s3.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const TEN = Buffer.from('0123456789');

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Sends these headers and this body; the connection ends where fewer bytes than announced are there. */
const answering =
  (status: number, headers: Record<string, string>, body: Uint8Array = TEN): Answer =>
  (_request, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };

describe('coordinator/files/object-store: read-object', () => {
  let server: Server;
  let store: ObjectStore;
  let answer: Answer;
  const stop = new Abandonment();

  beforeEach(async () => {
    server = createServer((request, response) => answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    store = new ObjectStore({ endpoint, credentials: KEY, region: 'us-east-1', buckets: ['b'] });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const open = (
    wish: { range?: { start: number; end: number | undefined }; isHead?: boolean } = {},
    { clock = systemClock, reader = stop }: { clock?: typeof systemClock; reader?: Abandonment } = {},
  ): Promise<FileReading> => {
    const { range, isHead = false } = wish;
    return readObject(clock, { store, bucket: 'b', key: 'k' }, { path: 'a.csv', range, isHead }, reader);
  };
  const collect = async ({ content }: FileReading): Promise<Buffer> => {
    const parts: Uint8Array[] = [];
    for await (const part of content) parts.push(part);
    return Buffer.concat(parts);
  };
  const failure = async (reading: Promise<unknown>): Promise<SimbatchError> => {
    const error: unknown = await reading.then(
      () => undefined,
      (it: unknown) => it,
    );
    expect(error).to.be.instanceOf(Error);
    return error as SimbatchError;
  };

  it('reads a whole object and parts of it, signed, and sends the header of the range', async () => {
    const ranges: (string | undefined)[] = [];
    answer = ({ headers, method }, response) => {
      expect(headers.authorization).to.include(`Credential=${KEY.accessKeyId}/`);
      ranges.push(`${String(method)} ${String(headers.range)}`);
      const parts: Record<string, [number, number]> = { 'bytes=2-4': [2, 5], 'bytes=7-': [7, 10], 'bytes=-4': [6, 10] };
      const [from, to] = parts[headers.range ?? ''] ?? [0, 10];
      const whole = headers.range === undefined;
      response.writeHead(whole ? 200 : 206, {
        etag: '"one"',
        'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
        'content-length': to - from,
        ...(whole ? {} : { 'content-range': `bytes ${String(from)}-${String(to - 1)}/10` }),
      });
      response.end(method === 'HEAD' ? undefined : TEN.subarray(from, to));
    };
    const whole = await open();
    expect(whole).to.deep.include({ size: 10, part: undefined, version: 'one', modifiedMs: Date.UTC(2026, 0, 1) });
    expect((await collect(whole)).toString()).to.equal('0123456789');
    for (const [start, end, text] of [
      [2, 5, '234'],
      [7, undefined, '789'],
      [-4, undefined, '6789'],
    ] as const) {
      const part = await open({ range: { start, end } });
      expect(part.size).to.equal(10);
      expect((await collect(part)).toString()).to.equal(text);
    }
    const head = await open({ isHead: true, range: { start: 8, end: 99 } });
    expect(head).to.deep.include({ size: 10, part: { start: 8, end: 10 } });
    expect(ranges).to.deep.equal(['GET undefined', 'GET bytes=2-4', 'GET bytes=7-', 'GET bytes=-4', 'HEAD undefined']);
  });

  it('refuses every answer that is not the requested bytes, with the reason and a remedy', async () => {
    const wrong: [RegExp, Answer, { start: number; end: number }?][] = [
      [/AccessDenied: no \(403\)/, answering(403, {}, Buffer.from('<Code>AccessDenied</Code><Message>no</Message>'))],
      [/refuses \(500\)/, answering(500, {}, Buffer.alloc(100_000))],
      [/\(302\)/, answering(302, { location: 'http://127.0.0.1:1/' })],
      [/has the status 206/, answering(206, { 'content-length': '10' })],
      [/has the status 200/, answering(200, { 'content-length': '10' }), { start: 1, end: 3 }],
      [
        /has the range "bytes 0-1\/10"/,
        answering(206, { 'content-length': '2', 'content-range': 'bytes 0-1/10' }, TEN.subarray(0, 2)),
        { start: 1, end: 3 },
      ],
      [
        /has 3 bytes for 2/,
        answering(206, { 'content-length': '3', 'content-range': 'bytes 1-2/10' }, TEN.subarray(0, 3)),
        { start: 1, end: 3 },
      ],
      [/does not have the size/, answering(200, { 'transfer-encoding': 'chunked' })],
      [/content encoding "gzip"/, answering(200, { 'content-encoding': 'gzip', 'content-length': '10' })],
    ];
    for (const [why, how, range] of wrong) {
      answer = how;
      const error = await failure(open(range === undefined ? {} : { range }));
      expect(error.code, String(why)).to.equal('object-store-failed');
      expect(error.message)
        .to.match(why)
        .and.match(/^"a\.csv" cannot be read from the object store: .*; try again, /);
    }
    answer = answering(404, {}, Buffer.from('<Code>NoSuchKey</Code>'));
    expect((await failure(open())).code).to.equal('unknown-file');
    answer = answering(416, { 'content-range': 'bytes */10' });
    expect((await failure(open({ range: { start: 10, end: undefined } }))).message).to.include('has 10 bytes');
    // None of them holds a place.
    const ends = Array.from({ length: MAX_OBJECT_READINGS }, () => store.readings.begin());
    expect(ends).to.have.length(MAX_OBJECT_READINGS);
  });

  it('says that a store cannot be reached', async () => {
    await new Promise((resolve) => server.close(resolve));
    const error = await failure(open());
    expect([error.code, error.message.includes('the object store cannot be reached')]).to.deep.equal([
      'object-store-failed',
      true,
    ]);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  it('fails while it is read when the store closes the connection in the middle', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('01234', () => response.destroy());
    };
    await failure(open().then(collect));
    expect(() => store.readings.begin()).not.to.throw();
  });

  it('refuses an answer above the limit, and reads a part of such an object', async () => {
    const size = LIMITS.relayedFileBytes + 1;
    let isClosed: Promise<unknown> | undefined;
    answer = ({ headers }, response) => {
      isClosed ??= once(response, 'close');
      if (headers.range === undefined) {
        response.writeHead(200, { 'content-length': size });
        response.write(TEN);
      } else answering(206, { 'content-length': '10', 'content-range': `bytes 0-9/${String(size)}` })(null!, response);
    };
    const error = await failure(open());
    expect([error.code, error.message.includes('Range')]).to.deep.equal(['file-too-large', true]);
    await isClosed;
    expect((await collect(await open({ range: { start: 0, end: 10 } }))).length).to.equal(10);
  });

  it('reads no faster than its reader, and ends the exchange with the store when the reader leaves', async () => {
    let left: Promise<unknown> | undefined;
    let sent: ServerResponse | undefined;
    answer = (_request, response) => {
      sent = response;
      left = once(response, 'close');
      response.writeHead(200, { 'content-length': LIMITS.relayedFileBytes });
      response.end(Buffer.alloc(LIMITS.relayedFileBytes));
    };
    const reader = new Abandonment();
    const reading = await open({}, { reader });
    const first = await reading.content[Symbol.asyncIterator]().next();
    expect((first.value as Uint8Array).length).to.be.lessThan(1 << 20);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(sent?.writableFinished).to.equal(false);
    reader.abort('gone');
    await left;
  });

  it('reads a few objects at once; the place of a reading that ends, or is closed unread, is free again', async () => {
    answer = answering(200, { 'content-length': '10' });
    const readings = await Promise.all(Array.from({ length: MAX_OBJECT_READINGS }, () => open()));
    const error = await failure(open());
    expect([error.code, error.message]).to.deep.equal([
      'too-many-requests',
      `${String(MAX_OBJECT_READINGS)} files in the object store are being read, the limit; try again later`,
    ]);
    readings[0]!.close();
    await collect(readings[1]!);
    await collect(await open());
    for (const it of readings) it.close();
  });

  it('gives a store up that sends nothing for a while, and a reading that takes too long', async () => {
    const clock = new SimulatedClock();
    const asked = new Promise<void>((resolve) => {
      answer = () => resolve();
    });
    const silent = failure(open({}, { clock }));
    await asked;
    await clock.advance(CALL_MS);
    expect((await silent).message).to.include('sent nothing for 15 s');

    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('01234');
    };
    const { content } = await open({}, { clock });
    const bytes = content[Symbol.asyncIterator]();
    await bytes.next();
    const stalled = failure(Promise.resolve(bytes.next()));
    await clock.advance(CALL_MS);
    expect((await stalled).message).to.include('sent nothing for 15 s');

    // A reader that takes nothing: the time for the whole answer ends it.
    const idle = await open({}, { clock });
    await clock.advance(READ_OBJECT_MS);
    expect((await failure(collect(idle))).message).to.include('within 120 s');
  });
});
