import { expect } from 'chai';
import { readBody, withDeadline } from '../../../src/base/async/deadline.ts';
import { amidCollections, SilentServer } from '../../support/silent-server.ts';

const LIMIT_MS = 150;

describe('base/async/deadline', () => {
  let server: SilentServer;
  before(async () => {
    server = await SilentServer.start();
  });
  after(() => server.stop());

  const nameOf = (error: unknown): string => (error as Error).name;

  it('ends a request without an answer, also when garbage is collected meanwhile', async () => {
    const other = new AbortController().signal;
    for (const stop of [undefined, other]) {
      const asked = (): Promise<unknown> => withDeadline(LIMIT_MS, stop, (signal) => fetch(server.url, { signal }));
      expect(await amidCollections(() => asked().then(String, nameOf))).to.equal('TimeoutError');
    }
    await server.isLeft();
  });

  it('ends an answer that falls silent, also when garbage is collected meanwhile', async () => {
    const half = await SilentServer.start('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n<');
    try {
      for (const redirect of ['follow', 'error', 'manual'] as const) {
        const asked = (): Promise<unknown> =>
          withDeadline(LIMIT_MS, undefined, async (signal) =>
            readBody(await fetch(half.url, { signal, redirect }), signal),
          );
        expect(await amidCollections(() => asked().then(String, nameOf)), redirect).to.equal('TimeoutError');
      }
      await half.isLeft();
    } finally {
      await half.stop();
    }
  });

  it('reads a body to its end, or to a limit', async () => {
    const { signal } = new AbortController();
    expect(new TextDecoder().decode(await readBody(new Response('abc'), signal))).to.equal('abc');
    expect(await readBody(new Response(null), signal)).to.have.length(0);
    let isLeft = false;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => void (isLeft = true),
    });
    expect(await readBody(new Response(endless), signal, 25)).to.have.length(30);
    expect(isLeft).to.equal(true);
  });

  it('ends a request when its caller stops it, with the reason of the caller', async () => {
    const stop = new AbortController();
    const asked = withDeadline(60_000, stop.signal, (signal) => fetch(server.url, { signal }));
    stop.abort(new Error('the process ends'));
    expect(await asked.then(String, (error: Error) => error.message)).to.equal('the process ends');
  });

  it('returns the value of an operation that ends in time', async () => {
    expect(await withDeadline(60_000, undefined, async () => 7)).to.equal(7);
  });
});
