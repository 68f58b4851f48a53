/** `verify` and `repair` of a directory with an extraction, whose runs were claimed in another order than that of their numbers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import type { Uuid } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import { repairStore } from '../../../src/coordinator/repair/repair.ts';
import { verifyStore } from '../../../src/coordinator/repair/verify.ts';
import { runs } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

const capabilities = {
  max_concurrent_jobs: 20,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
  features: ['histories', 'extraction'],
};

describe('coordinator/repair: an extraction', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'simbatch-repair-x-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const claim = async (coordinator: Coordinator, id: string, most: number): Promise<number[]> =>
    runs(await coordinator.claim(id, { instance: id, max_jobs: most }));
  async function finish(coordinator: Coordinator, batch: Uuid, run: number, id: string): Promise<void> {
    await coordinator.start(jobId(batch, run), { runner_id: id, attempt: 1 });
    const telemetry_data = `/out/${batch}/${String(run).padStart(8, '0')}/attempt-1/telemetry.parquet`;
    const result = { execution_time_secs: 1, output_files: [], metadata: {}, telemetry_data };
    await coordinator.complete(jobId(batch, run), { runner_id: id, attempt: 1, result });
  }

  it('is whole, and continues with the runs that have not been claimed', async () => {
    const [directory, target] = [join(folder, 'data'), join(folder, 'new')];
    const coordinator = await openCoordinator(await openStore(directory), systemClock);
    for (const id of ['a', 'b']) await coordinator.register({ id, instance: id, capabilities });
    const { batch_id: batch } = await coordinator.submit(study({ runs: 8 }));
    for (let run = 0; run < 8; run += 1) {
      const id = run % 2 === 0 ? 'a' : 'b';
      expect(await claim(coordinator, id, 1)).to.deep.equal([run]);
      await finish(coordinator, batch, run, id);
    }
    const derived = [{ name: 'peak', take: 'max' as const, telemetry: 'z' }];
    const { batch_id: x1 } = await coordinator.extractBatch(batch, { derived });
    expect(await claim(coordinator, 'b', 3)).to.deep.equal([1, 3, 5]);
    await finish(coordinator, x1, 1, 'b');
    await finish(coordinator, x1, 5, 'b');
    await coordinator.cancelJob(jobId(x1, 4));
    await coordinator.close();

    expect((await verifyStore(directory)).faults).to.deep.equal([]);
    const { findings } = await repairStore(directory, target, Date.now());
    expect(findings).to.deep.equal([]);
    expect((await verifyStore(target)).faults).to.deep.equal([]);
    const again = await openCoordinator(await openStore(target), systemClock);
    expect(await claim(again, 'a', 20)).to.deep.equal([0, 2, 6]);
    // Run 3 was claimed before, and not started.
    expect(await claim(again, 'b', 20)).to.deep.equal([3, 7]);
    const { jobs_by_status: counts } = await again.batch(x1);
    expect(counts).to.include({ Completed: 2, Cancelled: 1, Failed: 0 });
    await again.close();
  });
});
