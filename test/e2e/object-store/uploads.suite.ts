/** Uploads of files of runs, the same for every object store. */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Client, Job } from '../../../src/client/client.ts';
import { ObjectStore } from '../../../src/coordinator/files/object-store/object-store.ts';
import { requireSent, signFile } from '../../../src/coordinator/files/run-place.ts';
import type { Pool } from '../../support/pool.ts';
import { declared, partsOf, put, send } from '../../support/upload.ts';

export interface Store {
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
}

export const BUCKET = 'sims';
export const storeOf = ({ endpoint, credentials }: Store): ObjectStore =>
  new ObjectStore({ endpoint, credentials, region: 'us-east-1', buckets: [BUCKET] });

/** A study whose files go to the bucket. */
export const STORAGE = {
  config: { telemetry: { storage: { s3_bucket: BUCKET, s3_prefix: '/team a/x/', compression: 'none' as const } } },
};

/** Waits until each file of the run is uploaded, or is lost. */
export async function untilUploaded(client: Client, job: Job) {
  for (;;) {
    const result = await client.jobResult(job.id);
    if (result.upload !== undefined && result.upload.waiting === undefined) return result;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Waits until a try to send files of the run has failed. */
export async function untilRefused(client: Client, job: Job) {
  for (;;) {
    const result = await client.jobResult(job.id);
    if (result.upload?.reason !== undefined) return result;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export async function readWhole(client: Client, job: Job, path: string, start = 0): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await client.files.read(job.id, path, { start })).content) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Uploads, lists, reads in ranges, and refuses changed addresses. */
export async function uploadsAndReads(pool: Pool): Promise<void> {
  pool.site.start(pool.url);
  const batchId = await pool.submit('files', { LARGE_BYTES: String(20 << 20) }, STORAGE);
  const job = await pool.until(batchId, ['Completed', 'Failed']);
  const result = await untilUploaded(pool.client, job);
  expect(result).to.include({ status: 'Completed' });
  expect(result.upload).to.deep.equal({ files: 5, failed: [] });
  const base = `s3://${BUCKET}/team a/x/${batchId}/0/attempt-1/`;
  expect(result.output_files).to.include(`${base}deep/er/grün % #1.csv`);
  expect(result.output_files.every((it) => it.startsWith(base))).to.equal(true);

  const list = await pool.client.files.list(job.id);
  expect(list.is_readable).to.equal(true);
  expect(list.files.map(({ path, bytes, place }) => [path, bytes, place])).to.deep.include.members([
    ['deep/er/grün % #1.csv', 8, 'object-store'],
    ['large.bin', 20 << 20, 'object-store'],
  ]);
  expect((await readWhole(pool.client, job, 'deep/er/grün % #1.csv')).toString()).to.equal('a,b\n1,2\n');
  const runner = `${pool.site.folder}/out/${batchId}/00000000/attempt-1/large.bin`;
  const large = readFileSync(runner);
  expect(digest(await readWhole(pool.client, job, 'large.bin'))).to.equal(digest(large));
  expect((await readWhole(pool.client, job, 'large.bin', -100)).equals(large.subarray(-100))).to.equal(true);

  const address = `${pool.url}/jobs/${job.id}/files/large.bin`;
  const redirect = await fetch(address, { redirect: 'manual' });
  expect(redirect.status).to.equal(302);
  const signed = (await (await fetch(`${address}?redirect=false`)).json()) as { url: string; expires_at: string };
  expect(Date.parse(signed.expires_at) - Date.now()).to.be.within(200_000, 301_000);
  const part = await fetch(signed.url, { headers: { range: 'bytes=5-14' } });
  expect([part.status, Buffer.from(await part.arrayBuffer()).equals(large.subarray(5, 15))]).to.deep.equal([206, true]);
  for (const [url, method] of [
    [signed.url.replace('large.bin', 'empty.txt'), 'GET'],
    [signed.url.replace('X-Amz-Expires=300', 'X-Amz-Expires=900'), 'GET'],
    [signed.url, 'PUT'],
  ] as const) {
    const tampered = await fetch(url, method === 'PUT' ? { method, body: 'x' } : { method });
    expect(tampered.status, `${method} ${url}`).to.equal(403);
    await tampered.arrayBuffer();
  }
}

/** Each address takes the declared content alone, also after the completion; what was not sent is not completed. */
export async function bindsUploads(store: ObjectStore): Promise<void> {
  const place = { store, bucket: BUCKET, prefix: `bound/${String(Date.now())}` };
  const read = async (path: string): Promise<string> =>
    (await fetch(await store.signedRead(BUCKET, `${place.prefix}/${path}`))).text();
  const refusal = (file: Parameters<typeof requireSent>[1]): Promise<string> =>
    requireSent(place, file).then(
      () => 'accepted',
      () => 'refused',
    );
  const large = Buffer.alloc((8 << 20) + 1, 'x');
  for (const [path, content] of [
    ['f.txt', Buffer.from('hello')],
    ['empty', Buffer.alloc(0)],
    ['large', large],
  ] as const) {
    const file = await signFile(place, declared(path, content));
    const { upload_id = '', parts } = file;
    const [first] = parts;
    if (first === undefined) throw new Error('nothing was signed');
    expect(await refusal({ path, upload_id, etags: [] })).to.equal('refused');
    const tag = '"5d41402abc4b2a76b9719d911017c592"';
    expect(await refusal({ path, upload_id, etags: parts.map(() => tag) }), path).to.equal('refused');
    // A client cannot send a body to an address whose header says that there is none.
    const wrong = content.length === 0 ? undefined : Uint8Array.from(partsOf(content)[0] ?? []).fill(1);
    const hostile = async (): Promise<void> => {
      for (const [headers, body] of [
        [first.headers, wrong],
        [{ ...first.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }, wrong],
        [{ ...first.headers, 'content-length': '500' }, 'y'.repeat(500)],
        [{}, 'z'],
      ] as const) {
        if (body === undefined) continue;
        const response = await put({ ...first, headers }, body);
        expect(response.status, await response.text()).to.be.within(400, 499);
      }
    };
    await hostile();
    const sent = { ...(await send(file, content)), upload_id };
    if (parts.length > 1) expect(await refusal({ ...sent, etags: sent.etags.slice(1) })).to.equal('refused');
    await requireSent(place, sent);
    await hostile();
    // The same bytes again change nothing, whatever the store says.
    await (await put(first, Uint8Array.from(partsOf(content)[0] ?? []))).arrayBuffer();
    expect((await read(path)) === content.toString(), path).to.equal(true);
    expect(await store.contentOf(BUCKET, `${place.prefix}/${path}`)).to.deep.equal({
      size: content.length,
      sha256: declared(path, content).sha256,
    });
    // Repeated after a lost answer.
    await requireSent(place, sent);
  }
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
