/** Answers about studies whose runs lack telemetry say so, with the variables that histories and derived outputs are computed of. */
import { expect } from 'chai';
import type { BatchConfig, ReportedResult, Uuid } from '../../../src/contract/types.ts';
import { encodeHistory } from '../../../src/domain/histories/values.ts';
import { lateNote } from '../../../src/domain/runs/late-values.ts';
import { Scene } from '../../support/scene.ts';

const DECLARED = {
  histories: [{ variable: 'nz_g', at: { points: [0] } }],
  derived: [{ name: 'high_m', telemetry: 'alt_m', take: 'max' }],
} satisfies Partial<BatchConfig>;

describe('coordinator/answers: runs that lack telemetry', () => {
  let scene: Scene;
  const capabilities = {
    max_concurrent_jobs: 100,
    cpu_cores: 0,
    memory_gb: 0,
    gpu_available: false,
    supported_simulation_types: [],
    features: ['histories'],
  };

  before(async () => {
    scene = await Scene.open();
    await scene.api.register({ id: 'r1', instance: 'r1-1', capabilities });
  });
  after(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  /** Executes some runs; `late`: by run, the variables of which values came too late; `lost`: by run, the lost samples. */
  async function execute(
    runs: number,
    late: Record<number, string[]>,
    lost: Record<number, number>,
    reported: Pick<ReportedResult, 'histories'> = { histories: { nz_g: encodeHistory([1]) } },
  ): Promise<void> {
    const { assignments } = await scene.api.claim('r1', { instance: 'r1-1', max_jobs: runs, wait_seconds: 0 });
    for (const { job, attempt } of assignments) {
      const ref = { runner_id: 'r1', attempt };
      await scene.api.start(job.id, ref);
      const run = job.run_config.run_id;
      const notes = late[run]?.map((it) => lateNote(new Map([[it, 2]])));
      const metadata = { y: run, ...(notes === undefined ? {} : { simbatch_notes: notes }) };
      const telemetry = { seen: ['nz_g'], samples: 9, lost: lost[run] ?? 0, refused: 0 };
      const result = { execution_time_secs: 1, output_files: [], metadata, telemetry, ...reported };
      await scene.api.complete(job.id, { ...ref, result });
    }
  }

  async function said(batchId: Uuid, name: string, query: Record<string, unknown>): Promise<string[]> {
    const answer = await scene.api.answer({ name, batchId, query } as never, { waitMs: 1e6 });
    if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
    const { warnings } = JSON.parse(new TextDecoder().decode(answer.body)) as {
      warnings: { code: string; message: string }[];
    };
    return warnings.filter(({ code }) => code === 'incomplete-telemetry').map(({ message }) => message);
  }
  const why = (batchId: Uuid): Promise<string[]> => said(batchId, 'attribution', { failing: 'outputs.y > 2' });

  it('are counted in one sentence, also those that end after the first answer', async () => {
    const batch = await scene.submit({ runs: 6, config: DECLARED });
    await execute(2, {}, {});
    expect(await why(batch)).to.deep.equal([]);
    await execute(2, { 2: ['nz_g'], 3: ['nz_g', 'alt_m', 'of no history'] }, {});
    const late = 'histories and derived outputs of 2 runs lack values of "nz_g", "alt_m" that came too late';
    expect(await why(batch)).to.deep.equal([late]);
    await execute(2, {}, { 5: 12 });
    const lost = '1 run lack samples, perhaps of "nz_g", "alt_m", that were lost before they reached the runner';
    for (const [name, query] of [
      ['attribution', { failing: 'outputs.y > 2' }],
      ['band', { history: 'nz_g' }],
      ['summary', {}],
    ] as const)
      expect(await said(batch, name, query), name).to.deep.equal([`${late}, and those of ${lost}`]);
  });

  it('concern no study without histories and derived outputs', async () => {
    const batch = await scene.submit({ runs: 2 });
    await execute(2, { 0: ['nz_g'] }, { 1: 4 }, {});
    expect(await why(batch)).to.deep.equal([]);
  });
});
