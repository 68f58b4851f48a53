/** An extraction of runs whose files are in the object store, the same for every store: any runner reaches them, and a file that is gone is named. */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { jobId, runIdOf } from '../../../src/domain/ids.ts';
import type { ObjectStore } from '../../../src/coordinator/files/object-store/object-store.ts';
import type { Pool } from '../../support/pool.ts';
import { BUCKET, STORAGE, untilUploaded } from './uploads.suite.ts';

const RUNS = 6;
const GONE = 4;

export async function extractsFromStore(pool: Pool, store: ObjectStore): Promise<void> {
  const flags = ['--entrypoint', join(packageRoot, 'test/support/simulations/throw.mjs')];
  const first = pool.site.startApart('a', pool.url, flags);
  const { telemetry } = STORAGE.config;
  const config = { telemetry: { ...telemetry, sampling_rate_hz: 0 } };
  const batch = await pool.submit('throw', {}, { runs: RUNS, config });
  for (let run = 0; run < RUNS; run += 1) await untilUploaded(pool.client, await pool.until(batch, ['Completed'], run));
  await first.end('SIGTERM');
  const { telemetry_data: address = '' } = await pool.client.jobResult(jobId(batch, GONE));
  await store.removeBelow(BUCKET, String(address).slice(`s3://${BUCKET}/`.length));

  // Another machine, which has none of the files.
  pool.site.startApart('b', pool.url, flags);
  const derived = [{ name: 'apogee', take: 'max' as const, telemetry: 'z' }];
  const { batch_id: x1 } = await pool.client.changes.extract(batch, { derived });
  for (let run = 0; run < RUNS; run += 1) {
    const job = await pool.until(x1, ['Completed', 'Failed'], run);
    const result = await pool.client.jobResult(job.id);
    expect(job.assigned_runner).to.equal('b');
    if (run === GONE) expect(result).to.include({ success: false });
    else expect(result.metadata['apogee']).to.be.closeTo(1600 / (2 * 9.80665), 1e-3);
    const copy = join(pool.site.folder, 'b', x1, String(runIdOf(job.id)).padStart(8, '0'), 'attempt-1.parent');
    expect(existsSync(copy), copy).to.equal(false);
  }
  const { extractions } = await pool.client.changes.extractions(batch);
  expect(extractions[0]?.without_files).to.deep.include({ runs: 1, run_ids: String(GONE) });
}
