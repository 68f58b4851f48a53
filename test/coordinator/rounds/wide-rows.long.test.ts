/** Rounds of wide rows: stored in several blocks, read in slices of the event loop, also those of earlier versions, which have larger blocks. */
import { expect } from 'chai';
import type { BatchSubmission, Uuid } from '../../../src/contract/types.ts';
import { blockRows, decodeBlock, encodeBlock } from '../../../src/domain/adaptive/rows.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { CountedSlices } from '../../support/counted-slices.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { Scene } from '../../support/scene.ts';

const WIDTH = 300;
const SIZE = blockRows(WIDTH);
const ROWS = 3 * SIZE + 5;
const NAMES = Array.from({ length: WIDTH }, (_, at) => `x${String(at).padStart(3, '0')}`);

function wideStudy(): BatchSubmission {
  const submission = adaptiveStudy({ runs: 2 * ROWS });
  submission.config.dispersions = Object.fromEntries(
    NAMES.map((name) => [name, { distribution: { type: 'chosen' as const }, units: '' }]),
  );
  return submission;
}

/** The columns of the rows from a number on. */
const columnsFrom = (first: number): Record<string, number[]> =>
  Object.fromEntries(NAMES.map((name, at) => [name, Array.from({ length: ROWS }, (_, row) => first + row + at / 1e3)]));

describe('coordinator/rounds/wide-rows', () => {
  let scene: Scene;
  let batch: Uuid;
  beforeEach(async () => {
    scene = await Scene.open();
    batch = (await scene.api.submit(wideStudy())).batch_id;
    await scene.api.appendRound(batch, { key: 'a', columns: columnsFrom(0) });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const record = (block: number): string | undefined => scene.store.get(keys.rows(batch, 0, block));
  /** Replaces the blocks by one, as versions before this one wrote it. */
  async function useOldBlocks(): Promise<void> {
    const blocks = [0, 1, 2, 3].map((it) => decodeBlock(record(it)!, WIDTH));
    const values = Float64Array.from(blocks.flatMap((it) => [...it.values]));
    await scene.store.write([
      [keys.rows(batch, 0, 0), encodeBlock({ rows: ROWS, values })],
      ...[1, 2, 3].map((it): [string, null] => [keys.rows(batch, 0, it), null]),
    ]);
    await scene.restart();
  }
  const parametersOf = async (runs: readonly number[]): Promise<number[]> => {
    const jobs = await Promise.all(runs.map((run) => scene.api.job(jobId(batch, run))));
    return jobs.map((it) => it.run_config.parameters['x299']!);
  };

  for (const isOld of [false, true]) {
    describe(isOld ? 'in a block of an earlier version' : 'in blocks of limited size', () => {
      beforeEach(async () => {
        expect([record(3), record(4)].map((it) => it === undefined)).to.deep.equal([false, true]);
        if (isOld) await useOldBlocks();
      });

      it('gives each run its row', async () => {
        expect(await parametersOf([0, SIZE - 1, SIZE, ROWS - 1])).to.deep.equal(
          [0, SIZE - 1, SIZE, ROWS - 1].map((it) => it + 0.299),
        );
      });

      it('knows the rows of a repeated request, and the first number that differs', async () => {
        expect(await scene.api.appendRound(batch, { key: 'a', columns: columnsFrom(0) })).to.include({
          repeated: true,
        });
        const columns = columnsFrom(0);
        columns['x007']![2 * SIZE + 1] = -1;
        const slices = new CountedSlices(scene.api.share);
        const error = (await scene.api.appendRound(batch, { key: 'a', columns }).catch((it: unknown) => it)) as Error;
        expect(error).to.include({ code: 'round-key-reused' });
        expect(error.message).to.match(new RegExp(`row ${2 * SIZE + 1}\\b.*x007`));
        expect(slices.pending).to.equal(0);
      });

      it('checks the digest with a slice of the event loop for each block', async () => {
        const slices = new CountedSlices(scene.api.share);
        expect(await scene.api.checkRounds(batch)).to.deep.include({ verdict: 'identical', runs: ROWS, faults: [] });
        // One for each block, and one for each of both looks for a round.
        expect(slices.asked).to.be.at.least(isOld ? 3 : 6);
        expect(slices).to.include({ pending: 0, mostPending: 1 });
      });

      it('finds the points that it has, in steps of less than a block', async () => {
        const columns = Object.fromEntries(
          NAMES.map((name) => [name, columnsFrom(0)[name]!.slice(SIZE - 1, SIZE + 1)]),
        );
        const slices = new CountedSlices(scene.api.share);
        await scene.api.evaluate(batch, { columns });
        expect((await scene.api.batch(batch)).batch.total_jobs, 'no further run').to.equal(ROWS);
        expect(slices.asked).to.be.at.least(isOld ? 1 : 4);
      });
    });
  }
});
