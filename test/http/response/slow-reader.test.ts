/** Readers of files that take nothing, or too little: they are cut, and others read. */
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { MAX_READINGS } from '../../../src/coordinator/files/runner/file-requests.ts';
import { jobId } from '../../../src/domain/ids.ts';
import {
  READER_STALL_MS,
  READER_WINDOW_MS,
  inPieces,
  type SlowReader,
} from '../../../src/http/response/slow-reader.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { Scene } from '../../support/scene.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

describe('http/response: slow readers', () => {
  /** Reads pieces of 64 KiB of a file, each after a pause that `pauseMs` returns; the message of the cut, or the bytes. */
  async function read(pauseMs: (piece: number) => number, pieces: number): Promise<string | number> {
    const clock = new SimulatedClock();
    async function* content(): AsyncGenerator<Uint8Array> {
      for (let n = 0; n < pieces; n += 16) yield new Uint8Array(Math.min(16, pieces - n) * 65_536);
    }
    let cut: SlowReader | undefined;
    let bytes = 0;
    let n = 0;
    for await (const piece of inPieces(content(), clock, (why) => (cut = why))) {
      await clock.advance(pauseMs(n++));
      if (cut !== undefined) return cut.message;
      bytes += piece.length;
    }
    await clock.advance(10 * READER_WINDOW_MS);
    return cut?.message ?? bytes;
  }

  const rows: [string, (piece: number) => number, number, string | number][] = [
    ['at once', () => 0, 200, 200 * 65_536],
    ['64 kB/s for ten minutes', () => 1_024, 600, 600 * 65_536],
    ['a pause of 29.9 s', (n) => (n === 40 ? READER_STALL_MS - 100 : 0), 200, 200 * 65_536],
    ['a pause of 30 s', (n) => (n === 40 ? READER_STALL_MS : 0), 200, 'a reader took nothing for 30 s'],
    ['50 kB/s', () => 1_311, 600, /^a reader took 59\d{5} bytes in 120 s, fewer than 64000 per second$/.source],
    ['a piece every 29 s', () => 29_000, 600, 'a reader took 262144 bytes in 120 s, fewer than 64000 per second'],
    [
      'fast first, then 29 s for each piece',
      (n) => (n < 300 ? 0 : 29_000),
      600,
      /^a reader took \d+ bytes in 120 s, fewer than 64000 per second$/.source,
    ],
  ];
  for (const [name, pauseMs, pieces, expected] of rows) {
    it(`reads ${name}`, async () => {
      const outcome = await read(pauseMs, pieces);
      if (typeof expected === 'number') expect(outcome).to.equal(expected);
      else expect(outcome).to.match(new RegExp(expected));
    });
  }

  it('does not count the time of a place that sends slowly', async () => {
    const clock = new SimulatedClock();
    async function* content(): AsyncGenerator<Uint8Array> {
      for (let n = 0; n < 20; n++) {
        await clock.advance(READER_STALL_MS + 1);
        yield new Uint8Array(10);
      }
    }
    let bytes = 0;
    for await (const piece of inPieces(content(), clock, (why) => expect.fail(why.message))) bytes += piece.length;
    expect(bytes).to.equal(200);
  });

  describe('over connections', () => {
    /** More than the kernel takes for a client that reads nothing. */
    const FILE_BYTES = 2 ** 40;
    const PART = new Uint8Array(1 << 20);
    let scene: Scene;
    let server: TestServer;
    let address: string;
    let isOver = false;
    const clients: ClientRequest[] = [];
    before(async () => {
      scene = await Scene.open();
      server = await listen({ coordinator: scene.api, clock: scene.world });
      const batch = await scene.submit({ runs: 1 });
      await scene.register('r1');
      await scene.running(batch, 0, 'r1');
      address = `${server.url}/jobs/${jobId(batch, 0)}/files/big.bin`;
      void answerReaders();
    });
    after(async () => {
      isOver = true;
      for (const it of clients) it.destroy();
      scene.api.releaseWaiting();
      await server.close(200);
      await scene.api.close();
    });

    /** The runner: it sends every part that is asked for, at once. */
    async function answerReaders(): Promise<void> {
      while (!isOver) {
        const asked = await scene.api.fileRequests('r1', {
          instance: scene.instance('r1'),
          holding: [],
          wait_seconds: 30,
        });
        for (const it of asked.requests) {
          if (it.type !== 'part') continue;
          const given = { request: it.request_id, size: FILE_BYTES, version: '1', offset: it.offset };
          void scene.api.filePart('r1', given, PART.subarray(0, it.length));
        }
      }
    }

    /** A reader whose connection is there, and that reads nothing. */
    function stalled(): Promise<IncomingMessage> {
      return new Promise((resolve, reject) => {
        const client = request(address, { agent: false }, (response) => {
          response.on('error', () => {});
          resolve(response);
        });
        clients.push(client.on('error', reject));
        client.end();
      });
    }

    it('lets the next reader in when those that take nothing are cut', async () => {
      const readers = await Promise.all(Array.from({ length: MAX_READINGS }, stalled));
      expect(readers.map((it) => it.statusCode)).to.deep.equal(readers.map(() => 200));
      expect((await stalled()).statusCode).to.equal(429);
      const lines = (): TestServer['received'] =>
        server.received.filter((it) => it.message.includes('a reader took nothing for 30 s'));
      const aSecond = async (): Promise<void> => {
        await scene.world.advance(1_000);
        await new Promise((resolve) => setTimeout(resolve, 5));
      };
      // A reader takes what fits the buffers of its connection first, and the system is not equally quick with each: so they are cut one by one.
      let next = await stalled();
      for (; next.statusCode === 429; next = await stalled()) await aSecond();
      expect(next.statusCode).to.equal(200);
      next.destroy();
      while (lines().length < readers.length) await aSecond();
      const closed = readers.map((it) => new Promise((resolve) => it.on('close', resolve)));
      for (const it of readers) it.resume();
      await Promise.all(closed);
      expect(lines().map((it) => it.level)).to.deep.equal(readers.map(() => 'info'));
    });
  });
});
