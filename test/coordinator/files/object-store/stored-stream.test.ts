import { expect } from 'chai';
import { ObjectStore } from '../../../../src/coordinator/files/object-store/object-store.ts';
import { readObjectStream, writeObject } from '../../../../src/coordinator/files/object-store/stored-stream.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { FakeS3, KEY } from '../../../support/fake-s3.ts';

/** The pauses of repetitions are not waited for. */
const clock = { after: (ms: number, action: () => void) => systemClock.after(ms > 10_000 ? ms : 0, action) };

describe('coordinator/files/object-store/stored-stream', () => {
  let s3: FakeS3;
  const place = (key = 'a/b') => {
    const options = { endpoint: s3.url, credentials: KEY, region: 'us-east-1', buckets: ['backups'] };
    return { store: new ObjectStore(options), bucket: 'backups', key };
  };
  async function* pieces(bytes: number, size = 1 << 20): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes; at += size) yield Buffer.alloc(Math.min(size, bytes - at), at >> 20);
  }
  const read = async (source: AsyncIterable<Uint8Array>): Promise<Buffer> => {
    const found: Uint8Array[] = [];
    for await (const piece of source) found.push(piece);
    return Buffer.concat(found);
  };
  const failure = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'it succeeded',
      (error: unknown) => (error as Error).message,
    );
  beforeEach(async () => {
    s3 = await FakeS3.start();
  });
  afterEach(() => s3.stop());

  it('writes in parts of 16 MiB and reads the same bytes', async () => {
    const bytes = (33 << 20) + 5;
    expect(await writeObject(place(), pieces(bytes), clock)).to.equal(bytes);
    expect(s3.requests.filter((it) => it.startsWith('PUT '))).to.have.length(3);
    const expected = await read(pieces(bytes));
    expect((await read(readObjectStream(place(), clock))).equals(expected)).to.equal(true);
    expect(s3.uploads.size).to.equal(0);
  });

  it('repeats a part that the store did not take, or that arrived damaged', async () => {
    let left = 2;
    s3.fault = (method) => (method === 'PUT' && left-- > 0 ? 503 : undefined);
    s3.damages = 1;
    await writeObject(place(), pieces(10), clock);
    expect((await read(readObjectStream(place(), clock))).equals(await read(pieces(10)))).to.equal(true);
  });

  it('gives up after four tries, at once where the refusal would come again, and leaves nothing in the bucket', async () => {
    for (const [fault, quota, tries, why] of [
      [503, Infinity, 4, 'InternalError'],
      [undefined, 5, 1, 'QuotaExceeded'],
    ] as const) {
      s3.requests.length = 0;
      s3.fault = (method) => (method === 'PUT' ? fault : undefined);
      s3.quota = quota;
      expect(await failure(writeObject(place(), pieces(10), clock))).to.include(why);
      expect(s3.requests.filter((it) => it.startsWith('PUT '))).to.have.length(tries);
      expect([s3.uploads.size, s3.objects.size]).to.deep.equal([0, 0]);
    }
  });

  it('leaves nothing in the bucket when its source fails', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield* pieces(17 << 20);
      throw new Error('the coordinator has gone');
    }
    expect(await failure(writeObject(place(), broken(), clock))).to.equal('the coordinator has gone');
    expect([s3.uploads.size, s3.objects.size]).to.deep.equal([0, 0]);
  });

  it('says that an object is not there, and that the store is silent', async () => {
    expect(await failure(read(readObjectStream(place('none'), clock)))).to.include('NoSuchKey');
    s3.fault = () => 'hang';
    const hasty = { after: (_ms: number, action: () => void) => systemClock.after(20, action) };
    expect(await failure(read(readObjectStream(place(), hasty)))).to.match(/sent nothing for \d+ s/);
  });
});
