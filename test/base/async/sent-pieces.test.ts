/** Pieces are given back when they are written and not before: their owner writes over them at once, and the client has every byte. */
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { fromPieces, isClientGone, sinkOf } from '../../../src/base/async/sent-pieces.ts';

const [PIECES, LENGTH] = [200, 256 * 1024];

describe('base/async/sent-pieces', () => {
  let server: Server;
  let given: number[];
  let ends: (NodeJS.ErrnoException | null | undefined)[];

  beforeEach(async () => {
    [given, ends] = [[], []];
    server = createServer((request, res) => {
      const source = Readable.from(pieces(), { objectMode: false, highWaterMark: 65_536 });
      // The worker would make the next piece in this memory.
      const giveBack = (piece: Uint8Array): void => {
        given.push(piece[0]!);
        piece.fill(255);
      };
      if (request.url === '/pieces') fromPieces(source, { giveBack });
      pipeline(source, sinkOf(source, res), (error) => ends.push(error));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => server.close());

  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let piece = 0; piece < PIECES; piece += 1) yield Buffer.alloc(LENGTH, piece);
  }
  const asked = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', path, agent: false }, resolve).on(
        'error',
        reject,
      );
    });

  for (const [path, isSlow] of [
    ['/pieces', false],
    ['/pieces', true],
    ['/others', false],
  ] as const)
    it(`every byte reaches ${isSlow ? 'a slow' : 'the'} reader of ${path}`, async () => {
      const response = await asked(path);
      let at = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        for (let from = 0; from < chunk.length;) {
          const piece = Math.floor((at + from) / LENGTH);
          const end = Math.min(chunk.length, (piece + 1) * LENGTH - at);
          expect(
            chunk.subarray(from, end).every((it) => it === piece),
            `piece ${piece}`,
          ).to.equal(true);
          from = end;
        }
        at += chunk.length;
        if (isSlow && at % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect(at).to.equal(PIECES * LENGTH);
      expect(given).to.deep.equal(path === '/pieces' ? Array.from({ length: PIECES }, (_, it) => it) : []);
      expect(ends).to.deep.equal([undefined]);
    });

  it('a client that is gone ends the stream, and pieces that were not written stay', async () => {
    const response = await asked('/pieces');
    await once(response, 'data');
    response.destroy();
    while (ends.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(isClientGone(ends[0]!), ends[0]!.code).to.equal(true);
    expect(given.length).to.be.below(PIECES);
  });
});
