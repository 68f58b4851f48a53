/** An object store that takes connections and does not answer: every call ends in its time, with its connection and a reason. */
import { expect } from 'chai';
import { ObjectStore } from '../../../../src/coordinator/files/object-store/object-store.ts';
import { KEY } from '../../../support/fake-s3.ts';
import { amidCollections, SilentServer } from '../../../support/silent-server.ts';

const CALL_MS = 150;
const CALLS: readonly [name: string, call: (store: ObjectStore) => Promise<unknown>][] = [
  ['list', (store) => store.list('b', 'study/')],
  ['begin', (store) => store.begin('b', 'file', '0')],
  ['complete', (store) => store.complete('b', 'file', 'upload', ['tag'])],
  ['abortBegun', (store) => store.abortBegun('b', 'study/', new Set())],
  ['removeBelow', (store) => store.removeBelow('b', 'study/')],
];

describe('coordinator/files/object-store: a store that does not answer', () => {
  let server: SilentServer;
  afterEach(() => server.stop());

  const failureOf = async (call: (store: ObjectStore) => Promise<unknown>): Promise<string> => {
    const store = new ObjectStore({
      endpoint: server.url,
      credentials: KEY,
      region: 'us-east-1',
      buckets: ['b'],
      callMs: CALL_MS,
    });
    return await amidCollections(() => call(store).then(String, (error: Error) => error.message));
  };

  for (const [beginning, when] of [
    ['', 'at all'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n<', 'after the beginning of its answer'],
  ] as const) {
    for (const [name, call] of CALLS) {
      it(`${name} ends with a reason and closes its connection when the store sends nothing ${when}`, async () => {
        server = await SilentServer.start(beginning);
        expect(await failureOf(call)).to.equal('the object store cannot be reached: no answer within 0.15 s');
        await server.isLeft();
      });
    }
  }

  it('contentOf ends with a reason', async () => {
    server = await SilentServer.start();
    expect(await failureOf((store) => store.contentOf('b', 'file'))).to.equal(
      'the object store cannot be reached: no answer within 0.15 s',
    );
    await server.isLeft();
  });

  it('a reading of an object ends with its signal, also when garbage is collected meanwhile', async () => {
    server = await SilentServer.start();
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('the reader has left')), CALL_MS);
    const reading = (store: ObjectStore): Promise<unknown> =>
      store.open('GET', 'b', 'file', { range: undefined, signal: stop.signal });
    expect(await failureOf(reading)).to.equal('the reader has left');
    await server.isLeft();
  });
});
