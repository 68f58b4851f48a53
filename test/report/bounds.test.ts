import { expect } from 'chai';
import type { OutputBox } from '../../src/contract/types.ts';
import { historiesSection } from '../../src/report/bands.ts';
import { boundsSection } from '../../src/report/scenarios/bounds.ts';
import type { ReportData } from '../../src/report/collect.ts';

const end = (value: number, bias: string, interval: [number | null, number | null]) => ({
  value,
  interval,
  scenario: { bias },
});

const BOX = {
  output: 'miss_m',
  units: 'm',
  sentence: 'miss_m: mean from 1 (bias=-1) to 3 (bias=1) over 2 cells',
  mean: { least: end(1, '-1', [0.5, 1.5]), greatest: end(3, '1', [2.5, null]) },
  quantiles: [{ p: 0.95, envelope: null }],
  requirements: [
    { name: 'close', envelope: { least: end(0.5, '1', [0.25, 0.75]), greatest: end(1, '-1', [0.875, 1]) } },
  ],
  curve: { values: [1, 2, 3], least: [0, 0.5, 1], greatest: [0.5, 1, 1] },
} as unknown as OutputBox;

const sectionOf = (boxes: readonly OutputBox[]): string =>
  boundsSection({ boxes } as ReportData).text.replaceAll(/\s+/g, ' ');

describe('report/scenarios/bounds', () => {
  it('has each figure with its least and greatest value, their intervals and their cells', () => {
    const text = sectionOf([BOX]);
    expect(text).to.include(BOX.sentence);
    const rows = [...text.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row]) =>
      [...row!.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, it]) => it!.trim()),
    );
    expect(rows.filter((it) => it.length > 0)).to.deep.equal([
      ['mean', '1', '0.5 to 1.5', 'bias=-1', '3', '2.5 to inf', 'bias=1'],
      ['P95', '-', '-', '-', '-', '-', '-'],
      ['passing close', '50 %', '25 % to 75 %', 'bias=1', '100 %', '87.5 % to 100 %', 'bias=-1'],
    ]);
  });

  it('draws both curves as steps, and the area between them', () => {
    const paths = [...sectionOf([BOX]).matchAll(/<path class="(\w+)" d="M([^"]*)"/g)].map(([, kind, points]) => [
      kind,
      points!.replace('Z', '').split('L'),
    ]) as [string, string[]][];
    expect(paths.map(([kind, points]) => [kind, points.length])).to.deep.equal([
      ['band', 12],
      ['line', 6],
      ['line', 6],
    ]);
    const [, [, low], [, high]] = paths as [unknown, [string, string[]], [string, string[]]];
    // Each value twice, and in a picture less is farther down.
    expect(low[2]!.split(',')[0]).to.equal(low[3]!.split(',')[0]);
    expect(Number(low[1]!.split(',')[1])).to.be.above(Number(high[1]!.split(',')[1]));
  });

  it('is left out without epistemic inputs, as are histories where the study declares none', () => {
    expect(sectionOf([])).to.equal('');
    expect(historiesSection({ bands: [], summary: undefined } as unknown as ReportData).text).to.equal('');
  });
});
