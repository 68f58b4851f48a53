/** Parts of files on their way to an object store: which answers are tried again, and which are final. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Final, getPart, putPart } from '../../../src/runner/files/object-transfer.ts';

describe('runner/files/object-transfer', () => {
  let server: Server;
  let status = 200;
  let etag: string | undefined;
  let body = '';
  beforeEach(async () => {
    etag = '"tag"';
    body = '';
    server = createServer((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(status, etag === undefined ? {} : { etag }).end(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const stop = new AbortController().signal;
  const url = (): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/key`;
  const put = (): Promise<string> => putPart({ url: url(), headers: {} }, Buffer.from('abc'), stop);
  const outcome = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'taken',
      (error: unknown) => `${error instanceof Final ? 'final' : 'again'}: ${(error as Error).message}`,
    );

  for (const [answer, expected] of [
    [200, 'taken'],
    [400, 'final'],
    [403, 'final'],
    [404, 'final'],
    [408, 'again'],
    [429, 'again'],
    [500, 'again'],
    [503, 'again'],
    [507, 'final'],
  ] as const) {
    it(`a part that is answered with ${String(answer)} is ${expected}`, async () => {
      status = answer;
      body = '<Error><Code>SlowDown</Code></Error>';
      const refused = expected === 'taken' ? '' : `: the object store refuses it: SlowDown, status ${String(answer)}`;
      expect(await outcome(put())).to.equal(`${expected}${refused}`);
    });
  }

  it('returns the entity tag, and takes no answer without one for a part', async () => {
    status = 200;
    expect(await put()).to.equal('"tag"');
    etag = undefined;
    expect(await outcome(put())).to.equal('final: the object store returned no entity tag of a part');
  });

  it('takes no part of another length than it asked for', async () => {
    status = 206;
    body = 'abcd';
    expect(Buffer.from(await getPart(url(), { offset: 0, length: 4 }, stop)).toString()).to.equal('abcd');
    expect(await outcome(getPart(url(), { offset: 0, length: 5 }, stop))).to.equal(
      'final: the object store sent 4 bytes of 5',
    );
  });
});
