/** Rows in blocks: their sizes, and the digest of a round against values of an independent implementation. */
import { expect } from 'chai';
import {
  BLOCK_ROWS,
  blockRows,
  digestOfRound,
  encodeBlock,
  firstDifference,
  lostBlock,
  type RowBlock,
  rowsOfRecord,
} from '../../../src/domain/adaptive/rows.ts';

const blockOf = (rows: readonly (readonly number[])[], draws?: readonly number[]): RowBlock => ({
  rows: rows.length,
  values: Float64Array.from(rows.flat()),
  draws: draws === undefined ? undefined : Int32Array.from(draws),
});

describe('domain/adaptive/rows', () => {
  it('has the digests of the reference', async () => {
    expect(await digestOfRound({ space: 'parameters', names: ['r'] }, [blockOf([[0.22], [0.25]])])).to.equal(
      '582ba6f2dd1d17387c477319dbfe71f4e4914b77864975cb658bacb951746509',
    );
    const rows = [
      [0, -1.5],
      [1e300, 5e-324],
      [0.1, 3],
    ];
    const withDraws = blockOf(rows, [0, 1, 2 ** 31 - 1]);
    expect(await digestOfRound({ space: 'parameters', names: ['angle', 'r'] }, [withDraws])).to.equal(
      '3873458f3f936d72a25907eea200c5f8842b6e9bb82b2d2d3bf766e3f1a6425a',
    );
  });

  /** Rows of `width` numbers in blocks of a size, with the draws 1, 2, ... */
  const blocksOf = (rows: number, width: number, size: number): RowBlock[] =>
    Array.from({ length: Math.ceil(rows / size) }, (_, block) => {
      const from = block * size;
      const count = Math.min(size, rows - from);
      return {
        rows: count,
        values: Float64Array.from({ length: count * width }, (__, at) => from * width + at),
        draws: Int32Array.from({ length: count }, (__, at) => from + at + 1),
      };
    });

  it('has blocks of at most half a mebibyte of numbers, so that reading one holds the event loop for a few milliseconds', () => {
    for (const width of [0, 1, 2, 16]) expect(blockRows(width), `${width} numbers a row`).to.equal(BLOCK_ROWS);
    for (const width of [17, 100, 1_000, 65_536]) {
      const rows = blockRows(width);
      expect(8 * rows * width, `${width} numbers a row`).to.be.within(262_144, 524_288);
      expect(BLOCK_ROWS % rows, 'a part of the rows after which the digest has their draws').to.equal(0);
    }
    expect(blockRows(1_000_000), 'a row is never divided').to.equal(1);
  });

  it('has the same digest for blocks of any size, and finds the first difference between them', async () => {
    const shape = { space: 'parameters' as const, names: ['angle', 'r'] };
    const whole = blocksOf(5_000, 2, BLOCK_ROWS);
    const parts = blocksOf(5_000, 2, 512);
    expect(await digestOfRound(shape, parts)).to.equal(await digestOfRound(shape, whole));
    expect(firstDifference(shape.names, whole, parts, 0)).to.equal(undefined);
    parts[8]!.values[2 * 7 + 1] = -1;
    parts[9]!.draws![0] = 0;
    const expected = { row: 8 * 512 + 7, column: 'r' };
    expect(firstDifference(shape.names, whole, parts, 0)).to.deep.equal(expected);
    expect(firstDifference(shape.names, parts, whole, 0)).to.deep.equal(expected);
    parts[8]!.values[2 * 7 + 1] = whole[1]!.values[2 * 7 + 1]!;
    expect(firstDifference(shape.names, whole, parts, 0)).to.deep.equal({ row: 9 * 512, column: { draw: true } });
    expect(await digestOfRound(shape, parts)).not.to.equal(await digestOfRound(shape, whole));
  });

  it('pauses between blocks while it computes a digest', async () => {
    let pauses = 0;
    const shape = { space: 'parameters' as const, names: ['angle', 'r'] };
    await digestOfRound(shape, blocksOf(1_000, 2, 100), () => {
      pauses += 1;
      return Promise.resolve();
    });
    expect(pauses).to.equal(9);
  });

  it('counts the rows of a record without its numbers', () => {
    expect(rowsOfRecord(encodeBlock(blockOf([[1], [2], [3]])))).to.equal(3);
    expect(rowsOfRecord(lostBlock(17))).to.equal(17);
    expect(rowsOfRecord('{}')).to.equal(0);
  });
});
