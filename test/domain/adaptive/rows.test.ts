/** The digest of a round, against values of an independent implementation. */
import { expect } from 'chai';
import { digestOfRound, type RowBlock } from '../../../src/domain/adaptive/rows.ts';

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
});
