/**
 * How long a backup and a restore take, how large the file is, and how much memory they need, for a store of `records` jobs
 * with results: `node dist/bench/backup.js [records]`.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '../src/base/clock.ts';
import { EventLoopShare } from '../src/base/event-loop-share.ts';
import { backupText, restoreBackup } from '../src/coordinator/kernel/storage/backup.ts';
import { newBatchId, jobId } from '../src/domain/ids.ts';
import { keys } from '../src/coordinator/kernel/storage/keys.ts';
import { openStore } from '../src/coordinator/kernel/storage/open-store.ts';

const share = new EventLoopShare(systemClock);
const count = Number(process.argv[2] ?? 100_000);
const folder = await mkdtemp(join(tmpdir(), 'simbatch-bench-'));
const store = await openStore(join(folder, 'data'));
const batchId = newBatchId(0, new Uint8Array(6));
const attempt = { n: 1, runner: 'lab-1', claimed: 1.7e12, started: 1.7e12, ended: 1.7e12, outcome: 'completed' };
const job = JSON.stringify({
  value: 'Completed',
  attempt: 1,
  retries: 0,
  losses: 0,
  runnerId: 'lab-1',
  attempts: [attempt],
});
for (let at = 0; at < count; at += 1_000) {
  const changes = new Map<string, string>();
  for (let run = at; run < Math.min(count, at + 1_000); run += 1) {
    const id = jobId(batchId, run);
    changes.set(keys.job(id), job);
    const metadata = { apogee_m: run / 7, miss_distance_m: run / 11 };
    const output_files = [`/var/lib/simbatch/output/${id}/trajectory.csv`];
    changes.set(
      keys.result(id),
      JSON.stringify({ job_id: id, success: true, execution_time_secs: 12, output_files, metadata }),
    );
  }
  await store.write(changes);
}

async function timed(what: string, task: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  await task();
  const secs = ((performance.now() - startedMs) / 1000).toFixed(2);
  console.log(`${what}: ${secs} s, resident ${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
}

const file = join(folder, 'backup');
await timed(`backup of ${2 * count} records`, () =>
  pipeline(Readable.from(backupText(store, 0, share)), createWriteStream(file)),
);
console.log(`file: ${((await stat(file)).size / 1e6).toFixed(1)} MB`);
await store.close();
await timed('restore', () => restoreBackup(() => createReadStream(file), join(folder, 'again')));
await rm(folder, { recursive: true });
