/** The runs of a study in blocks, from two readings of its records, and the end of a reading. */
import { expect } from 'chai';
import { runBlocks } from '../../../src/coordinator/answers/worker/runs.ts';
import { RowReadings, type RowKind } from '../../../src/coordinator/answers/row-readings.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';

const BATCH = '01a20a98-45d0-89f1-ae47-797700000000';

describe('coordinator/answers/runs', () => {
  /** Chunks of records of runs, as the coordinator sends them. */
  const chunksOf = (kind: RowKind, chunks: readonly (readonly number[])[]) =>
    chunks.map((runs) => Buffer.from(runs.map((run) => `${keys[kind](jobId(BATCH, run))}\t{"run":${run}}`).join('\n')));

  const cases: [title: string, jobs: number[][], results: number[][], expected: number[][]][] = [
    ['without a run', [], [], []],
    [
      'whose readings end together',
      [
        [0, 1],
        [2, 3],
      ],
      [
        [0, 1],
        [2, 3],
      ],
      [
        [0, 1],
        [2, 3],
      ],
    ],
    ['with fewer results than runs', [[0, 1, 2]], [[1]], [[0, 1], [2]]],
    ['whose results have no run', [[2]], [[0, 1]], [[2]]],
  ];
  for (const [title, jobs, results, expected] of cases)
    it(`come in blocks, none of them empty: a study ${title}`, async () => {
      const left = { job: chunksOf('job', jobs), result: chunksOf('result', results) };
      const next = (kind: RowKind): Promise<Uint8Array | null> => Promise.resolve(left[kind].shift() ?? null);
      const found: number[][] = [];
      for await (const block of runBlocks(next)) found.push(block.map(({ runId }) => runId));
      expect(found).to.deep.equal(expected);
    });

  it('are read until the view of the store is closed', async () => {
    const scene = await Scene.open();
    const batch = await scene.submit({ runs: 1 });
    const { store, share, studyCache } = scene.api.parts;
    let close = (): void => {};
    const slow = {
      snapshot: () => ({ ...store.snapshot(), close: () => new Promise<void>((resolve) => (close = resolve)) }),
    };
    const readings = new RowReadings({ store: slow, share, studyCache } as never);
    const { reading } = await readings.open(batch);
    let isClosed = false;
    const closing = readings.close(reading).then(() => (isClosed = true));
    await settled();
    await settled();
    expect(isClosed).to.equal(false);
    close();
    await closing;
    await scene.api.close();
  });
});
