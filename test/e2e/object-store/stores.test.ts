/** Uploads of files and checkpoints of runs to real S3 interfaces: those of OpenStack Swift and of Ceph. */
import { AwsClient } from 'aws4fetch';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ObjectStore, type ObjectStoreOptions } from '../../../src/coordinator/files/object-store/object-store.ts';
import { probeBucket } from '../../../src/coordinator/files/object-store/probe.ts';
import { cephFault, cephMemoryFault, startCeph } from '../../support/ceph.ts';
import { Pool } from '../../support/pool.ts';
import { freePorts } from '../../support/ports.ts';
import type { S3Server } from '../../support/s3-server.ts';
import { pythonFault } from '../../support/runner-modes.ts';
import { startSwift, swiftFault } from '../../support/swift.ts';
import { threeLives } from './checkpoints.suite.ts';
import { executesFromStore, extractsFromStore, extractsThroughKills } from './extraction.suite.ts';
import {
  bindsUploads,
  BUCKET,
  readWhole,
  STORAGE,
  storeOf,
  untilRefused,
  untilUploaded,
  uploadsAndReads,
} from './uploads.suite.ts';

/** Finished runs of the extraction that is killed; a tenth, at most ten, lose their files before. The night has more of them. */
const EXTRACTED_RUNS = Number(process.env['EXTRACTED_RUNS'] ?? 20);

/** `fault`: programs that the gate installs are absent. `memoryFault`: the machine is too small. */
const STORES: readonly {
  name: string;
  fault: () => string | undefined;
  memoryFault?: () => string | undefined;
  start: (folder: string) => Promise<S3Server>;
}[] = [
  { name: 'Swift', fault: swiftFault, start: startSwift },
  { name: 'Ceph', fault: cephFault, memoryFault: cephMemoryFault, start: startCeph },
];

for (const { name, fault, memoryFault, start } of STORES)
  describe(`coordinator/files: uploads to ${name}`, function () {
    let folder: string | undefined;
    let server: S3Server | undefined;
    let pool: Pool | undefined;
    before(async function () {
      const why = fault();
      if (why !== undefined && process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error(why);
      const reason = why ?? memoryFault?.();
      if (reason !== undefined && this.test !== undefined) this.test.title += `: ${reason}`;
      if (reason !== undefined) this.skip();
      folder = mkdtempSync(join(tmpdir(), `simbatch-${name.toLowerCase()}-`));
      server = await start(folder);
    });
    after(() => {
      server?.stop();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    });
    afterEach(async () => {
      await pool?.close();
      pool = undefined;
    });

    function running(): S3Server {
      if (server === undefined) throw new Error(`${name} does not run`);
      return server;
    }

    async function open(): Promise<Pool> {
      const { endpoint, credentials } = running();
      const client = new AwsClient({ ...credentials, region: 'us-east-1', service: 's3', retries: 0 });
      const made = await client.fetch(`${endpoint}/${BUCKET}`, { method: 'PUT' });
      expect(made.status, await made.text()).to.be.oneOf([200, 409]);
      pool = await Pool.open({ objectStore: storeOf(running()) });
      return pool;
    }

    it('names a wrong key, a wrong secret, a wrong bucket, a skewed clock and a store that is not there', async () => {
      await open();
      const { endpoint, credentials } = running();
      let ahead: number | undefined;
      const probed = (changes: Partial<ObjectStoreOptions> = {}, bucket = BUCKET) =>
        probeBucket(
          new ObjectStore({ endpoint, credentials, region: 'us-east-1', buckets: [bucket], callMs: 5_000, ...changes }),
          { bucket, key: '.simbatch-probe/test', now: () => Date.now() },
        ).then(({ fault: found, clockAheadSecs }) => {
          ahead = clockAheadSecs;
          return found?.code ?? 'works';
        });
      expect(await probed()).to.equal('works');
      expect(await probed({ credentials: { ...credentials, accessKeyId: 'unknown' } })).to.equal('wrong-key');
      expect(await probed({ credentials: { ...credentials, secretAccessKey: 'wrong' } })).to.equal('wrong-key');
      expect(await probed({}, 'not-there')).to.equal('wrong-bucket');
      const [port = 0] = await freePorts(1);
      expect(await probed({ endpoint: `http://127.0.0.1:${String(port)}` })).to.equal('unreachable');
      const RealDate = Date;
      try {
        // Signatures have the time of this process.
        globalThis.Date = class extends RealDate {
          constructor(...given: [] | [number]) {
            super(given.length === 0 ? RealDate.now() + 3_600_000 : given[0]);
          }
          static override now = (): number => RealDate.now() + 3_600_000;
        } as DateConstructor;
        expect(await probed()).to.equal('clock-skew');
        expect(ahead).to.be.within(3_590, 3_610);
      } finally {
        globalThis.Date = RealDate;
      }
    });

    it('sends files in parts, reads them in ranges, and refuses changed addresses', async () => {
      await uploadsAndReads(await open());
    });

    it('takes the declared content of each file and no other, before and after the completion', async () => {
      await open();
      await bindsUploads(storeOf(running()));
    });

    it('has the files of finished runs for the extraction of any runner', async () => {
      await extractsFromStore(await open(), storeOf(running()));
    });

    it('has them for the program of an extraction, on a runner that has none of them', async function () {
      if (pythonFault() !== undefined) return this.skip();
      await executesFromStore(await open(), storeOf(running()));
    });

    it('has them for two runners of an extraction, of which one is killed in the middle, and the coordinator', async function () {
      this.timeout(EXTRACTED_RUNS * 7_500);
      await open();
      await extractsThroughKills(running(), EXTRACTED_RUNS, Math.min(10, EXTRACTED_RUNS / 10));
    });

    it('ends a long run in three lives on three runners that share no disk', async () => {
      await threeLives(await open(), storeOf(running()), 20 << 20);
    });

    it('continues after the runner was killed, and sends what a full bucket refused when there is room', async () => {
      const mine = await open();
      const first = mine.site.start(mine.url);
      const batchId = await mine.submit('files', { LARGE_BYTES: String(20 << 20) }, STORAGE);
      const job = await mine.until(batchId, ['Completed']);
      await first.end('SIGKILL');
      mine.site.start(mine.url);
      expect((await untilUploaded(mine.client, job)).upload).to.deep.equal({ files: 5, failed: [] });
      expect((await readWhole(mine.client, job, 'large.bin')).length).to.equal(20 << 20);

      await running().setQuota(1, BUCKET);
      const full = await mine.until(await mine.submit('files', {}, STORAGE), ['Completed']);
      const { upload, status } = await untilRefused(mine.client, full);
      expect(status).to.equal('Completed');
      expect(upload?.reason).to.match(/: the object store refuses it|the object store refuses: /);
      await running().setQuota(undefined, BUCKET);
      expect((await untilUploaded(mine.client, full)).upload).to.deep.equal({ files: 5, failed: [] });
    });
  });
