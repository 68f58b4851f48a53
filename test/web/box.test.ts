/** The curves of a p-box as lines of a plot. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import type { OutputBox } from '../../src/contract/types.ts';

type Lines = { values: number[]; series: { name: string; values: number[]; edge: boolean }[] };

describe('web/plots/box', () => {
  let boxLines: (curve: OutputBox['curve']) => Lines;
  before(async () => {
    const path = new URL('../../../web/src/plots/box.ts', import.meta.url).href;
    ({ boxLines } = (await tsImport(path, import.meta.url)) as { boxLines: typeof boxLines });
  });

  it('are steps: every value has the share before it and its own, from 0', () => {
    const { values, series } = boxLines({ values: [1, 2, 4], least: [0, 0.5, 0.75], greatest: [0.25, 0.5, 1] });
    expect(values).to.deep.equal([1, 1, 2, 2, 4, 4]);
    expect(series.map((it) => it.values)).to.deep.equal([
      [0, 0, 0, 0.5, 0.5, 0.75],
      [0, 0.25, 0.25, 0.5, 0.5, 1],
    ]);
    expect(series.every(({ edge }) => edge)).to.equal(true);
  });

  it('are none where no cell has a value', () => {
    expect(boxLines({ values: [], least: [], greatest: [] }).values).to.deep.equal([]);
  });
});
