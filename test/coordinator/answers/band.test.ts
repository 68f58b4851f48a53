/** Bands over stored histories: read by the worker from the store, pooled with extensions, and in blocks of points. */
import { expect } from 'chai';
import { readCurves } from '../../../src/coordinator/answers/worker/histories/curves.ts';
import { HistoryBand } from '../../../src/contract/answers/band.ts';
import type { HistoryConfig, Uuid } from '../../../src/contract/types.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { encodeHistory } from '../../../src/domain/histories/values.ts';
import { seal } from '../../../src/coordinator/kernel/storage/integrity/checksum.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { toBytes } from '../../../src/coordinator/kernel/storage/leveldb/binary-values.ts';
import { packed } from '../../../src/coordinator/kernel/storage/sealed-bytes.ts';
import { tableOf } from '../../analysis/tables.ts';
import { Scene } from '../../support/scene.ts';
import { strictFaults } from '../../support/strict-schema.ts';

const HISTORIES: HistoryConfig[] = [
  { name: 'other', variable: 'v', at: { points: [7] } },
  { variable: 'nz_g', at: { from: 0, to: 1, step: 0.5 }, units: 'g' },
];

describe('coordinator/answers: bands', () => {
  let scene: Scene;

  const capabilities = {
    max_concurrent_jobs: 200,
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

  /** Executes all pending runs: run i has the values i, i + 0.5 and none; every tenth one fails. */
  async function execute(): Promise<void> {
    const { assignments } = await scene.api.claim('r1', { instance: 'r1-1', max_jobs: 200, wait_seconds: 0 });
    for (const { job, attempt } of assignments) {
      const ref = { runner_id: 'r1', attempt };
      await scene.api.start(job.id, ref);
      const run = job.run_config.run_id;
      if (run % 10 === 3) {
        await scene.api.fail(job.id, { ...ref, reason: 'exit', error_message: 'broke' });
        continue;
      }
      const histories = { other: encodeHistory([-1]), nz_g: encodeHistory([run, run + 0.5, Number.NaN]) };
      await scene.api.complete(job.id, {
        ...ref,
        result: { execution_time_secs: 1, output_files: [], metadata: { miss: run }, histories },
      });
    }
  }

  async function ask(batchId: Uuid, query: object, family = false): Promise<HistoryBand> {
    const answer = await scene.api.answer(
      { name: 'band', batchId, query: { history: 'nz_g', ...query } },
      { waitMs: 1e6, family },
    );
    if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
    const found = JSON.parse(new TextDecoder().decode(answer.body)) as HistoryBand;
    expect(strictFaults(HistoryBand, found)).to.deep.equal([]);
    return found;
  }

  it('have the values that runs reported, and those of extensions where they are pooled', async () => {
    const batch = await scene.submit({ runs: 100, maxRetries: 0, config: { histories: HISTORIES } });
    expect((await ask(batch, {})).reason).to.match(/100 of 100 runs are open/);
    await execute();
    const found = await ask(batch, {});
    expect([found.n_used, found.unknown, found.n, found.ended]).to.deep.equal([90, 10, [90, 90, 0], [0, 0, 90]]);
    expect([found.seconds, found.units]).to.deep.equal([[0, 0.5, 1], 'g']);
    expect([found.least.value, found.greatest.run_id]).to.deep.equal([
      [0, 0.5, null],
      [99, 99, null],
    ]);
    expect((await ask(batch, { history: 'other' })).quantiles[1]!.value).to.deep.equal([-1]);
    const selected = await ask(batch, { where: 'outputs.miss < 10' });
    expect([selected.n_used, selected.greatest.value[1]]).to.deep.equal([9, 9.5]);

    const { batch_id: more } = await scene.api.extendBatch(batch, { runs: 150 });
    await execute();
    const pooled = await ask(batch, {}, true);
    expect([pooled.of, pooled.n_used, pooled.unknown]).to.deep.equal([150, 135, 15]);
    expect(pooled.greatest.run_id[0]).to.equal(149);
    expect(pooled.outlying[0]!.replay).to.match(new RegExp(`^simbatch replay (${batch}|${more})/`));
    expect(pooled.tolerance_reason).to.match(/15 of the 75 runs with an odd id failed/);
  });

  it('can be compared for the histories that two studies have', async () => {
    const first = await scene.submit({ runs: 3, config: { histories: HISTORIES } });
    const [, nz] = HISTORIES;
    const second = await scene.submit({
      runs: 3,
      config: { histories: [nz!, { variable: 'q', at: { points: [0] } }] },
    });
    const none = await scene.submit({ runs: 3 });
    for (const [before, after, shared] of [
      [first, second, ['nz_g']],
      [first, first, ['other', 'nz_g']],
      [first, none, []],
    ] as const) {
      const question = { name: 'compare', batchId: before, query: { with: after } } as const;
      const answer = await scene.api.answer(question, { waitMs: 1e6 });
      if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
      const found = JSON.parse(new TextDecoder().decode(answer.body)) as { histories: string[] };
      expect(found.histories).to.deep.equal(shared);
    }
  });

  it('name the history that is nearest to an unknown one', async () => {
    const batch = await scene.submit({ runs: 2, config: { histories: HISTORIES } });
    const refused = await ask(batch, { history: 'nz_h' }).then(
      () => 'answered',
      (error: SimbatchError) => `${error.code}: ${error.message}`,
    );
    expect(refused).to.match(/^malformed-query: history not found: .* did you mean "nz_g"\?$/);
  });
});

describe('coordinator/answers/worker/histories: curves', () => {
  const BATCH = '0195a1b2-c3d4-8e5f-a012-345600000000';
  const table = { ...tableOf([1, 2, 3, 4]), batchId: BATCH };
  const members = [{ table, submission: { config: { histories: HISTORIES } } }];

  /** The records of runs 0, 2 and 3, each in a chunk of its own. */
  function reading() {
    const chunks = [0, 2, 3].map((run) => {
      const key = keys.history(BATCH, 1, run);
      return packed([[key, toBytes(seal(key, encodeHistory([run, run + 0.1, run + 0.2])))]]);
    });
    const opened = { places: [] as number[], closed: 0 };
    const open = async (_: Uuid, place: number) => {
      opened.places.push(place);
      return { next: async () => chunks.shift() ?? null, close: async () => void opened.closed++ };
    };
    return { opened, open };
  }

  it('have some points of the wanted rows, and nothing for runs that left none', async () => {
    const { opened, open } = reading();
    const request = { name: 'nz_g', rows: [3, 1, 0], points: { from: 1, to: 3 } };
    const found = await readCurves(table, members, request, open);
    expect([...found]).to.deep.equal([3.1, 3.2, Number.NaN, Number.NaN, 0.1, 0.2]);
    expect(opened).to.deep.equal({ places: [1], closed: 1 });
  });

  it('are refused where they are too many to be read in blocks', async () => {
    const { opened, open } = reading();
    const rows = { length: 40_000_000, entries: () => [] } as unknown as number[];
    const request = { name: 'nz_g', rows, points: { from: 0, to: 0 } };
    const refused = await readCurves(table, members, request, open).then(
      () => 'answered',
      (error: SimbatchError) => `${error.code}: ${error.message}`,
    );
    expect(refused).to.match(/^answer-too-large: .*40000000 runs of 3 points.*such as run_id < 33333333$/);
    expect(opened.closed).to.equal(0);
  });

  it('close the reading that fails', async () => {
    const { opened, open } = reading();
    const failing = async (batchId: Uuid, place: number) => ({
      ...(await open(batchId, place)),
      next: async () => {
        const key = keys.history(BATCH, 1, 0);
        return packed([[key, toBytes(seal(key, encodeHistory([1, 2])))]]);
      },
    });
    const request = { name: 'nz_g', rows: [0], points: { from: 0, to: 3 } };
    const refused = await readCurves(table, members, request, failing).then(
      () => 'answered',
      (error: Error) => error.message,
    );
    expect(refused).to.match(/of another length/);
    expect(opened.closed).to.equal(1);
  });
});
