/** The cells of a study with scenarios in its report: a table for each requirement, escaped, and open about the rows that it leaves out. */
import { expect } from 'chai';
import type { CellVerdict } from '../../src/contract/types.ts';
import { cellsSection } from '../../src/report/scenarios/cells.ts';
import type { ReportData } from '../../src/report/collect.ts';
import { Cells } from '../../src/domain/scenarios/cells.ts';
import { study } from '../support/studies.ts';

const levels = (count: number, name = 'l'): Record<string, object> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, {}]));

/** The data of a report, as far as the section reads them: cell after cell with the share (cell + 1) / cells. */
function data(scenarios: Record<string, never>, more: (cell: number) => Partial<CellVerdict> = () => ({})): ReportData {
  const cells = new Cells(scenarios);
  const by = Array.from({ length: cells.count }, (_, cell) => ({
    scenario: cells.scenarioOf(cell),
    cells: 1,
    passed: 9,
    failed: 1,
    unknown: 0,
    estimate: (cell + 1) / cells.count,
    lower: 0.25,
    upper: 0.75,
    verdict: 'not-shown',
    called: null,
    ...more(cell),
  }));
  const verdicts = { requirements: [{ name: 'lands', by }] };
  return { submission: study({ config: { scenarios } }), verdicts } as never;
}

const words = (text: string): string =>
  text
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

describe('report/scenarios/cells', () => {
  it('has the last axis across and the others down, with share, verdict and bounds, and a skipped cell empty', () => {
    const scenarios = { site: levels(2, 's'), wind: levels(2, 'w'), skip: [{ site: 's1', wind: 'w1' }] } as never;
    const verdict = ['met', 'violated', 'open'] as const;
    const { text } = cellsSection(
      data(scenarios, (cell) => ({
        verdict: verdict[cell]!,
        called: cell === 1 ? 'violated' : null,
        ...(cell === 2 ? { estimate: null } : {}),
      })),
    );
    expect(words(text)).to.contain('lands site wind = w0 wind = w1');
    expect(words(text)).to.match(/s0 33\.3 % met 25 % to 75 % 66\.7 % violated 25 % to 75 % s1 - open 25 % to 75 %$/);
    expect(text.match(/<strong>[^<]*violated<\/strong>/g)).to.have.length(1);
    expect(text).to.match(/class="cell good"[^]*class="cell bad"[^]*class="cell soft"/);
  });

  it('escapes the names of axes and levels', () => {
    const { text } = cellsSection(data({ '<b>': { '<i>': {}, '&': {} } } as never));
    expect(text).to.not.match(/<b>|<i>/);
    expect(words(text)).to.contain('&lt;b&gt; = &lt;i&gt;');
  });

  it('has an axis of many levels down, and of too many rows those with the least shares', () => {
    const { text } = cellsSection(data({ a: levels(9), b: levels(100) } as never));
    expect(text.match(/<tr>/g)).to.have.length(201);
    expect(words(text)).to.contain('The 200 rows with the least shares; 700 others are left out.');
    expect(words(text)).to.contain('a b share');
    expect(words(text)).to.contain('l0 l0 0.111 % not enough runs');
  });

  it('has the numbers of an epistemic input as levels, in ascending order', () => {
    const epistemic = { bias: { interval: [-1, 1] as [number, number], levels: 3 } };
    const axis = { '-1': {}, '0': {}, '1': {} };
    const given = { ...data({ bias: axis } as never), submission: study({ config: { epistemic } }) };
    expect(words(cellsSection(given).text)).to.contain('lands bias = -1 bias = 0 bias = 1');
  });

  it('is absent without scenarios', () => {
    const given = data({ a: levels(2) } as never);
    expect(cellsSection({ ...given, submission: study() }).text).to.equal('');
  });
});
