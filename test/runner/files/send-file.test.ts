/** Files on their way to the store: digests before they are sent, addresses that are signed again, contents that change meanwhile. */
import { expect } from 'chai';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import type { SignedUpload } from '../../../src/contract/types.ts';
import { ObjectStore } from '../../../src/coordinator/files/object-store/object-store.ts';
import { requireSent, signFile } from '../../../src/coordinator/files/run-place.ts';
import { digestFile, sendFile, type ReadBytes } from '../../../src/runner/files/send-file.ts';
import { readPart } from '../../../src/runner/files/read-part.ts';
import { FakeS3, KEY } from '../../support/fake-s3.ts';
import { declared, sha256Of } from '../../support/upload.ts';

describe('runner/files/send-file', () => {
  let s3: FakeS3;
  let directory: string;
  let place: { store: ObjectStore; bucket: string; prefix: string };
  beforeEach(async () => {
    s3 = await FakeS3.start();
    directory = mkdtempSync(join(tmpdir(), 'simbatch-send-'));
    const store = new ObjectStore({ endpoint: s3.url, credentials: KEY, region: 'us-east-1', buckets: ['b'] });
    place = { store, bucket: 'b', prefix: 'p' };
  });
  afterEach(async () => {
    rmSync(directory, { recursive: true });
    await s3.stop();
  });

  const read: ReadBytes = (offset, length) => readPart(directory, 'f', { offset, length, maxBytes: Infinity });
  const tries = { clock: systemClock, stop: new AbortController().signal };
  const failureOf = (work: Promise<unknown>): Promise<string> => work.then(String, (it: Error) => it.message);
  const never = (): Promise<SignedUpload> => Promise.reject(new Error('it was signed again'));

  for (const size of [0, 1, 8 << 20, (8 << 20) + 1, 20 << 20])
    it(`declares and sends a file of ${String(size)} bytes`, async () => {
      const content = Buffer.alloc(size, 'simbatch');
      writeFileSync(join(directory, 'f'), content);
      const { version, ...digests } = await digestFile(directory, 'f', systemClock);
      expect({ path: 'f', ...digests }).to.deep.equal(declared('f', content));
      const upload = await signFile(place, { path: 'f', ...digests });
      const atMs = systemClock.monotonicMs();
      const etags = await sendFile(read, { upload, atMs, renew: never }, { size, version }, tries);
      await requireSent(place, { path: 'f', upload_id: upload.upload_id ?? '', etags });
      expect(sha256Of(s3.objects.get('b/p/f') ?? '')).to.equal(digests.sha256);
    });

  it('has the addresses of the same upload signed again before they expire, once', async () => {
    writeFileSync(join(directory, 'f'), Buffer.alloc(20 << 20));
    const { version, ...digests } = await digestFile(directory, 'f', systemClock);
    const upload = await signFile(place, { path: 'f', ...digests });
    let renewals = 0;
    const renew = (): Promise<SignedUpload> => {
      renewals += 1;
      return signFile(place, { path: 'f', ...digests, upload_id: upload.upload_id ?? '' });
    };
    const old = systemClock.monotonicMs() - 601_000;
    // The store refuses the first addresses: they are those of another file.
    const stale = { ...upload, parts: upload.parts.map((it) => ({ ...it, url: `${it.url}&expired` })) };
    const etags = await sendFile(read, { upload: stale, atMs: old, renew }, { size: 20 << 20, version }, tries);
    await requireSent(place, { path: 'f', upload_id: upload.upload_id ?? '', etags });
    expect([renewals, s3.objects.get('b/p/f')?.length]).to.deep.equal([1, 20 << 20]);
  });

  it('says that a file changed since it was declared, in its size or its content', async () => {
    writeFileSync(join(directory, 'f'), 'hello');
    const { version, ...digests } = await digestFile(directory, 'f', systemClock);
    const upload = await signFile(place, { path: 'f', ...digests });
    const signed = { upload, atMs: systemClock.monotonicMs(), renew: never };
    appendFileSync(join(directory, 'f'), ' and more');
    for (const known of [version, undefined])
      expect(await failureOf(sendFile(read, signed, { size: 5, version: known }, tries))).to.equal(
        'it changed while it was sent',
      );
    expect([...s3.objects.keys()]).to.deep.equal([]);
    expect([...s3.uploads.values()].map(({ parts }) => parts.size)).to.deep.equal([0]);
  });

  it('says why a file cannot be declared', async () => {
    expect(await failureOf(digestFile(directory, 'f', systemClock))).to.equal('there is no such file');
  });
});
