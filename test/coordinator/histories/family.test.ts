/** One history of a family of batches as a stream: of each run the latest that ended, with its replicate. */
import { expect } from 'chai';
import { parquetReadObjects } from 'hyparquet';
import type { HistoriesRequest } from '../../../src/coordinator/answers/table-request.ts';
import type { Uuid } from '../../../src/contract/types.ts';
import { encodeHistory } from '../../../src/domain/histories/values.ts';
import { Scene } from '../../support/scene.ts';

const HISTORIES = [
  { name: 'other', variable: 'v', at: { points: [7] } },
  { variable: 'nz_g', at: { points: [0, 1, 2] } },
];
const capabilities = {
  max_concurrent_jobs: 400,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
  features: ['histories', 'extraction'],
};

describe('coordinator/histories: stream of a family', () => {
  let scene: Scene;
  let batch: Uuid;

  /** Executes all pending runs: run i of the batch `code` has the values i, code and none; those of `failing` end without a record. */
  async function execute(code: number, failing: (run: number) => boolean = () => false): Promise<void> {
    const { assignments } = await scene.api.claim('r1', { instance: 'r1-1', max_jobs: 400, wait_seconds: 0 });
    for (const { job, attempt } of assignments) {
      const own = { runner_id: 'r1', attempt };
      await scene.api.start(job.id, own);
      const run = job.run_config.run_id;
      if (failing(run)) {
        await scene.api.fail(job.id, { ...own, reason: 'exit', error_message: 'broke' });
        continue;
      }
      const histories = { other: encodeHistory([-1]), nz_g: encodeHistory([run, code, Number.NaN]) };
      const result = { execution_time_secs: 1, output_files: [], metadata: { miss: run }, histories };
      await scene.api.complete(job.id, { ...own, result });
    }
  }

  async function rowsOf(asked: Partial<HistoriesRequest>): Promise<string> {
    const request = { batchId: batch, name: 'nz_g', format: 'ndjson', wide: true, ...asked } as const;
    const answer = await scene.api.histories(request);
    if (answer.state !== 'ready') throw new Error(answer.state);
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body as AsyncIterable<Uint8Array>) pieces.push(piece);
    return Buffer.concat(pieces).toString('latin1');
  }
  const parsed = (text: string): { run_id: number; replicate?: number; values: unknown[] }[] =>
    text
      .split('\n')
      .filter((it) => it !== '')
      .map((it) => JSON.parse(it) as never);

  before(async () => {
    scene = await Scene.open();
    await scene.api.register({ id: 'r1', instance: 'r1-1', capabilities });
    batch = await scene.submit({ runs: 300, maxRetries: 0, config: { histories: HISTORIES } });
    await execute(1, (run) => run % 100 === 7);
    await scene.api.rerunBatch(batch, { select: { run_ids: '5-7' } });
    await execute(2);
    await scene.api.extendBatch(batch, { runs: 310 });
    await execute(3, (run) => run === 305);
  });
  after(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  const expected = Array.from({ length: 310 }, (_, run) => run)
    .filter((run) => ![107, 207, 305].includes(run))
    .map((run) => ({
      run_id: run,
      replicate: 0,
      values: [run, run >= 5 && run <= 7 ? 2 : run >= 300 ? 3 : 1, null],
    }));

  it('has of each run the latest that ended, in the order of runs, from any member', async () => {
    expect(parsed(await rowsOf({ family: true }))).to.deep.equal(expected);
    const { children = [] } = (await scene.api.batch(batch)).batch;
    expect(children).to.have.length(2);
    for (const { batch_id: batchId } of children)
      expect(parsed(await rowsOf({ batchId, family: true }))).to.deep.equal(expected);
  });

  it('has the runs of the batch alone without `family`', async () => {
    const own = parsed(await rowsOf({}));
    expect(own).to.have.length(297);
    expect(own.slice(4, 8)).to.deep.equal([
      { run_id: 4, values: [4, 1, null] },
      { run_id: 5, values: [5, 1, null] },
      { run_id: 6, values: [6, 1, null] },
      { run_id: 8, values: [8, 1, null] },
    ]);
  });

  it('has the runs that a condition selects', async () => {
    const where = 'outputs.miss < 7 or outputs.miss > 298';
    expect(parsed(await rowsOf({ family: true, where }))).to.deep.equal(
      expected.filter(({ run_id: run }) => run < 7 || run > 298),
    );
  });

  it('has the runs that a condition on an output of an extraction selects', async () => {
    const telemetry_data = (run: number): string => `/out/${batch}/${run}/attempt-1/telemetry.parquet`;
    const own = await scene.submit({ runs: 6, config: { histories: HISTORIES } });
    const executed = async (id: Uuid, members: (run: number) => object): Promise<void> => {
      for (const { job, attempt } of (await scene.api.claim('r1', { instance: 'r1-1', max_jobs: 9 })).assignments) {
        expect(job.batch_id).to.equal(id);
        await scene.api.start(job.id, { runner_id: 'r1', attempt });
        const result = { execution_time_secs: 1, output_files: [], metadata: {}, ...members(job.run_config.run_id) };
        await scene.api.complete(job.id, { runner_id: 'r1', attempt, result });
      }
    };
    await executed(own, (run) => ({
      telemetry_data: telemetry_data(run),
      histories: { other: encodeHistory([-1]), nz_g: encodeHistory([run, 0, 1]) },
    }));
    const derived = [{ name: 'peak', take: 'max' as const, telemetry: 'v' }];
    await executed((await scene.api.extractBatch(own, { derived })).batch_id, (run) => ({
      metadata: { peak: 10 - run },
    }));
    const selected = parsed(await rowsOf({ batchId: own, where: 'outputs.x1.peak >= 8' }));
    expect(selected.map(({ run_id: run }) => run)).to.deep.equal([0, 1, 2]);
    const error = await rowsOf({ batchId: own, where: 'outputs.x1.nothing >= 8' }).then(
      () => undefined,
      (it: Error) => it,
    );
    expect(error?.message).to.include('outputs.x1.nothing');
  });

  it('has the replicate in each format', async () => {
    const [first] = (await rowsOf({ family: true, wide: false })).split('\n');
    expect(first).to.equal('{"run_id":0,"replicate":0,"time":0,"value":0}');
    const csv = (await rowsOf({ family: true, format: 'csv' })).split('\r\n');
    expect(csv.slice(0, 2)).to.deep.equal(['run_id,replicate,0,1,2', '0,0,0,1,']);
    expect((await rowsOf({ format: 'csv', wide: false })).split('\r\n').slice(0, 4)).to.deep.equal([
      'run_id,time,value',
      '0,0,0',
      '0,1,1',
      '0,2,',
    ]);
    const bytes = Buffer.from(await rowsOf({ family: true, format: 'parquet', wide: false }), 'latin1');
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const rows = await parquetReadObjects({ file });
    expect(rows).to.have.length(3 * expected.length);
    expect(rows[16]).to.deep.equal({ run_id: 5, replicate: 0, time: 1, value: 2 });
  });

  it('has every replicate after the one before', async () => {
    const batchId = await scene.submit({
      runs: 3,
      config: { histories: HISTORIES, monte_carlo: { sampling_method: 'latin_hypercube' } },
    });
    await execute(4);
    await scene.api.extendBatch(batchId, { runs: 2 });
    await execute(5);
    expect(parsed(await rowsOf({ batchId, family: true }))).to.deep.equal([
      { run_id: 0, replicate: 0, values: [0, 4, null] },
      { run_id: 1, replicate: 0, values: [1, 4, null] },
      { run_id: 2, replicate: 0, values: [2, 4, null] },
      { run_id: 0, replicate: 1, values: [0, 5, null] },
      { run_id: 1, replicate: 1, values: [1, 5, null] },
    ]);
  });
});
