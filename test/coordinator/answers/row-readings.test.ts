/** Rows leave the thread that answers requests in small chunks, each within a slice of the event loop. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventLoopShare, SLICE_MS } from '../../../src/base/event-loop-share.ts';
import { JOB_MEMBERS, initialState } from '../../../src/contract/members/members.ts';
import { encodeJob } from '../../../src/coordinator/kernel/actors/job-codec.ts';
import { RowReadings } from '../../../src/coordinator/answers/row-readings.ts';
import { openCoordinator } from '../../../src/coordinator/coordinator.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';

/** The stopwatch moves by a whole slice at each look, so that every chunk must wait for a slice of its own. */
class SliceClock extends SimulatedClock {
  waits = 0;
  #lookedMs = 0;

  override monotonicMs(): number {
    this.#lookedMs += SLICE_MS;
    return super.monotonicMs() + this.#lookedMs;
  }

  override soon(action: () => void): void {
    this.waits++;
    super.soon(action);
  }
}

describe('coordinator/answers/row-readings', () => {
  const RUNS = 600;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-rows-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('passes rows on in chunks of bounded rows and bytes, and waits for a slice before each', async () => {
    const clock = new SliceClock();
    const store = await openStore(folder);
    const coordinator = await openCoordinator(store, clock);
    const { batch_id: batchId } = await coordinator.submit(study({ runs: RUNS }));
    const job = encodeJob({ value: 'Completed', context: { ...initialState(JOB_MEMBERS), completedAtMs: 1 } });
    // Half of the results are small, half of 100 KB.
    const changes = Array.from({ length: RUNS }, (_, run): [string, string][] => {
      const id = jobId(batchId, run);
      const text = 'x'.repeat(run < RUNS / 2 ? 10 : 100_000);
      const result = { job_id: id, success: true, execution_time_secs: 1, output_files: [], metadata: { text } };
      return [
        [keys.job(id), job],
        [keys.result(id), JSON.stringify(result)],
      ];
    }).flat();
    await store.write(changes);
    const { studyCache } = coordinator.parts;
    const readings = new RowReadings({ store, share: new EventLoopShare(clock), studyCache });
    const { reading } = await readings.open(batchId);
    for (const kind of ['job', 'result'] as const) {
      let [chunks, rows] = [0, 0];
      clock.waits = 0;
      for (;;) {
        const chunk = await readings.next({ reading, kind });
        if (chunk === null) break;
        chunks++;
        const lines = new TextDecoder().decode(chunk).split('\n').length;
        rows += lines;
        expect(lines).to.be.at.most(250);
        expect(chunk.length).to.be.at.most(1.25 * 1024 * 1024);
        // Its memory is its own, so that it is transferred to the worker and not copied.
        expect(chunk.buffer.byteLength).to.be.at.most(chunk.length + 8);
      }
      expect(rows).to.equal(RUNS);
      expect(clock.waits).to.be.at.least(chunks);
    }
    await readings.closeAll();
    await coordinator.close();
  });
});
