/** Checkpoints through an object store, the same for every store. */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Job, JobResult, Uuid } from '../../../src/client/client.ts';
import type { CheckpointRecord } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import type { ObjectStore } from '../../../src/coordinator/files/object-store/object-store.ts';
import type { Pool } from '../../support/pool.ts';
import { BUCKET, STORAGE } from './uploads.suite.ts';

export const FAST = ['--checkpoint-interval', '1s', '--grace-secs', '0', '--heartbeat-interval-secs', '1'];

/** The stored record of the checkpoint of a study's first run. */
export function recordOf(pool: Pool, batchId: Uuid): CheckpointRecord | undefined {
  const text = pool.coordinator.parts.store.get(keys.checkpoint(jobId(batchId, 0)));
  return text === undefined ? undefined : (JSON.parse(text) as CheckpointRecord);
}

/** Waits until a complete checkpoint of this attempt is in the store; returns its record. */
export async function untilStored(pool: Pool, batchId: Uuid, attempt: number, after = 0): Promise<CheckpointRecord> {
  for (;;) {
    const record = recordOf(pool, batchId);
    if (record?.complete?.attempt === attempt && record.complete.number > after) return record;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until an attempt has saved its state on the disk of this runner. */
export async function untilSaved(
  pool: Pool,
  disk: string,
  batchId: Uuid,
  root = `${disk}/.checkpoints`,
): Promise<void> {
  const state = join(pool.site.folder, root, batchId, '00000000/attempt-1/state.json');
  while (!existsSync(state)) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** The keys of the checkpoint of a study's first run. */
export async function keysOf(store: ObjectStore, batchId: Uuid): Promise<string[]> {
  return (await store.list(BUCKET, `team a/x/${batchId}/0/checkpoint/`)).map(({ key }) => key);
}

/** Waits until the run has ended, and reads at which step each attempt began. */
export async function lives(pool: Pool, batchId: Uuid) {
  const job: Job = await pool.until(batchId, ['Completed', 'Failed']);
  const result: JobResult = await pool.client.jobResult(job.id);
  const metadata = result.metadata as { step: number; begins: [number, number][]; simbatch_notes?: string[] };
  return { job, result, ...metadata, notes: metadata.simbatch_notes ?? [] };
}

/** One run in three lives on three runners that share no disk: a walltime, a killed runner, its successor. */
export async function threeLives(pool: Pool, store: ObjectStore, stateBytes: number): Promise<void> {
  const batchId = await pool.submit('resumes', { STEPS: '400', STATE_BYTES: String(stateBytes) }, STORAGE);
  const first = pool.site.startApart('a', pool.url, FAST);
  await untilSaved(pool, 'a', batchId);
  // As at the end of an allocation.
  expect(await first.end('SIGTERM'), first.log).to.equal(0);
  // Sent when the run was handed back, before the sign-off.
  const left = await untilStored(pool, batchId, 1);
  expect(left.complete?.files.map(({ path }) => path)).to.include('state.json');

  const second = pool.site.startApart('b', pool.url, FAST);
  const before = await untilStored(pool, batchId, 2);
  await untilStored(pool, batchId, 2, before.complete?.number);
  await second.end('SIGKILL');
  const lost = recordOf(pool, batchId);
  expect(lost?.complete?.files.map(({ path }) => path)).to.have.members(['state.json', 'deep/grid.bin']);
  // The large file was sent once: by the first attempt.
  const large = lost?.complete?.files.find(({ path }) => path === 'deep/grid.bin');
  expect(large?.number).to.be.at.most(left.complete?.number ?? 0);

  pool.site.startInPlaceOf('b', 'c', pool.url, FAST);
  const { job, step, begins, notes } = await lives(pool, batchId);
  expect(job.status).to.equal('Completed');
  expect(step).to.equal(400);
  expect(begins.map(([attempt]) => attempt)).to.deep.equal([1, 2, 3]);
  const steps = begins.map(([, at]) => at);
  expect(steps[0]).to.equal(0);
  expect(steps[1]).to.be.greaterThan(0);
  expect(steps[2]).to.be.greaterThan(steps[1] ?? 0);
  expect(notes).to.deep.equal(['it continued at the checkpoint of attempt 2']);
  // Nothing is left: neither in the store, nor on the disk of the last runner.
  while ((await keysOf(store, batchId)).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  while (existsSync(join(pool.site.folder, 'c/.checkpoints', batchId)))
    await new Promise((resolve) => setTimeout(resolve, 20));
}
