import { expect } from 'chai';
import type { Requirement } from '../../../src/contract/types.ts';
import { judgeRequirement, judgeWithCourse } from '../../../src/analysis/requirements/judge.ts';
import { judgeTable } from '../../../src/analysis/requirements/judge-table.ts';
import { summariesBy, summarizeStudy } from '../../../src/analysis/summary.ts';
import { whereColumns } from '../../../src/analysis/where/table-columns.ts';
import { joinTables } from '../../../src/analysis/table/join.ts';
import { Cells } from '../../../src/domain/scenarios/cells.ts';
import type { RunTable } from '../../../src/analysis/table/run-table.ts';
import { type Run, tableOf } from '../tables.ts';

const LEVEL = { a: {}, b: {} };

/** The table of a study of two axes with two levels, of the runs of each of its cells. */
function cellTable(runs: readonly (readonly Run[])[], scenarios = { site: LEVEL, wind: LEVEL }): RunTable {
  const cells = new Cells(scenarios);
  const samples = runs[0]!.length;
  const all = Array.from({ length: samples * cells.count }, (_, run) => runs[cells.cellOf(run)]![cells.sampleOf(run)]!);
  return tableOf(all, { method: 'scenarios', cells: { cells, method: 'monte_carlo' } });
}

/** `passed` runs that pass the requirement, of `count`. */
const passing = (passed: number, count: number): Run[] =>
  Array.from({ length: count }, (_, at) => (at < passed ? 0 : 9));

const near = (more: Partial<Requirement> = {}): Requirement => ({
  name: 'near',
  output: 'y',
  condition: '< 1',
  probability: 0.9,
  ...more,
});

/** P(B(n, q) = k). */
function pmf(k: number, n: number, q: number): number {
  let p = (1 - q) ** n;
  for (let at = 1; at <= k; at++) p *= ((n - at + 1) / at) * (q / (1 - q));
  return p;
}

const one = { x: { a: {}, b: {} } };

describe('analysis/requirements/cells', () => {
  it('is met where every cell is met, each at the confidence of the requirement', () => {
    const answer = judgeRequirement(
      cellTable([passing(60, 60), passing(58, 60), passing(60, 60), passing(59, 60)]),
      near(),
    );
    expect(answer.verdict).to.equal('not-shown');
    expect(answer.cells).to.deep.equal({
      of: 4,
      met: 3,
      called_met: 3,
      violated: 0,
      called_violated: 0,
      open: 0,
      worst: { site: 'a', wind: 'b' },
    });
    expect(answer.sentence).to.contain('met in 3 of 4 cells, not in (site=a, wind=b)');
    const met = judgeRequirement(
      cellTable([passing(60, 60), passing(60, 60), passing(60, 60), passing(59, 60)]),
      near(),
    );
    expect([met.verdict, met.passed, met.judged]).to.deep.equal(['met', 239, 240]);
    const alone = judgeTable(tableOf(passing(59, 60)), near());
    expect([met.lower, met.upper, met.estimate]).to.deep.equal([alone.lower, alone.upper, alone.estimate]);
  });

  it('says falsely that all cells are met at most as often as the confidence allows, by exact sums', () => {
    // The least favourable truth: one cell exactly at the required probability, the other always passes.
    const n = 60;
    for (const confidence of [0.8, 0.95]) {
      let wrong = 0;
      for (let k = 0; k <= n; k++) {
        const { verdict } = judgeRequirement(
          cellTable([passing(k, n), passing(n, n)], one as never),
          near({ confidence }),
        );
        if (verdict === 'met') wrong += pmf(k, n, 0.9);
      }
      expect(wrong)
        .to.be.above(0)
        .and.at.most(1 - confidence);
    }
  });

  it('calls a cell violated falsely at most as often as the confidence allows, by exact sums', () => {
    const n = 20;
    let wrong = 0;
    let uncorrected = 0;
    for (let first = 0; first <= n; first++)
      for (let second = 0; second <= n; second++) {
        const answer = judgeRequirement(cellTable([passing(first, n), passing(second, n)], one as never), near());
        const p = pmf(first, n, 0.9) * pmf(second, n, 0.9);
        if (answer.cells!.called_violated > 0) wrong += p;
        if (answer.cells!.violated > 0) uncorrected += p;
        expect(answer.verdict === 'violated').to.equal(answer.cells!.called_violated > 0);
      }
    expect(wrong).to.be.above(0).and.at.most(0.05);
    expect(uncorrected).to.be.above(0.05);
  });

  it('is open while a cell is, and calls no cell whose runs are open', () => {
    const open: Run[] = [...passing(0, 30), 'open'];
    const answer = judgeRequirement(cellTable([passing(31, 31), open, passing(31, 31), passing(31, 31)]), near());
    expect([answer.verdict, answer.cells!.violated, answer.cells!.called_violated]).to.deep.equal(['open', 1, 0]);
  });

  it('counts an unknown run against either verdict, in its cell alone', () => {
    const cells = [passing(60, 60), [...passing(59, 59), 'crashed' as const], passing(60, 60), passing(60, 60)];
    const { by } = judgeWithCourse(cellTable(cells), near(), [], ['site', 'wind']);
    expect(by!.map((it) => it.unknown)).to.deep.equal([0, 1, 0, 0]);
    expect(by!.map((it) => it.verdict)).to.deep.equal(['met', 'met', 'met', 'met']);
    const two = [passing(60, 60), [...passing(45, 58), 'crashed' as const, 'lost' as const]];
    const rows = judgeWithCourse(cellTable(two, one as never), near(), [], ['x']).by!;
    expect(rows.map((it) => it.called)).to.deep.equal(['met', 'violated']);
  });

  it('corrects by the number of cells where runs are judged one by one', () => {
    const look = 'continuous' as const;
    // 22 failures are enough for one cell, not for the level of a hundred.
    const failing = judgeTable(tableOf(passing(0, 40)), near({ look }));
    const runs = failing.judged;
    const axis = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`l${at}`, {}]));
    const cells = Array.from({ length: 100 }, (_, at) => passing(at === 7 ? 0 : runs, runs));
    const answer = judgeRequirement(cellTable(cells, { x: axis } as never), near({ look }));
    expect(failing.verdict).to.equal('violated');
    expect([answer.cells!.violated, answer.cells!.called_violated, answer.verdict]).to.deep.equal([1, 0, 'not-shown']);
  });

  it('joins the cells of the other axes: met where all are, with the least bounds', () => {
    const table = cellTable([passing(60, 60), passing(20, 60), passing(60, 60), passing(60, 60)]);
    const { by } = judgeWithCourse(table, near(), [], ['site']);
    expect(
      by!.map(({ scenario, cells, verdict, called, passed }) => ({ scenario, cells, verdict, called, passed })),
    ).to.deep.equal([
      { scenario: { site: 'a' }, cells: 2, verdict: 'violated', called: 'violated', passed: 80 },
      { scenario: { site: 'b' }, cells: 2, verdict: 'met', called: 'met', passed: 120 },
    ]);
    expect(() => judgeWithCourse(table, near(), [], ['sote'])).to.throw(RangeError, 'not an axis of the study');
    expect(() => judgeWithCourse(table, near(), [], ['site', 'site'])).to.throw(RangeError, 'twice');
    expect(() => judgeWithCourse(tableOf([1]), near(), [], ['site'])).to.throw(RangeError, 'without scenarios');
  });

  it('summarizes each cell as a study of its own, and several cells without intervals', () => {
    const cells = [0, 1, 2, 3].map((cell) => Array.from({ length: 40 }, (_, at): Run => cell + ((7 * at) % 40) / 40));
    const table = cellTable(cells);
    const rows = summariesBy(table, ['site', 'wind'], {});
    const alone = summarizeStudy(tableOf(cells[2]!));
    expect(rows[2]!.scenario).to.deep.equal({ site: 'b', wind: 'a' });
    expect(rows[2]!.outputs).to.deep.equal(alone.outputs);
    const mixed = summariesBy(table, ['wind'], {})[0]!;
    expect([mixed.cells, mixed.n_used, mixed.outputs[0]!.mean_interval]).to.deep.equal([2, 80, null]);
    expect(mixed.warnings.map(({ code }) => code)).to.include('scenarios-design');
    expect(summarizeStudy(table).warnings.map(({ code }) => code)).to.include('scenarios-design');
  });

  it('has the runs after the rows of a large table in their cells, and the cells of a family', () => {
    const cells = new Cells({ x: LEVEL, y: { only: {} } });
    const runs: Run[] = [0, 9, 0];
    const table = tableOf(runs, {
      method: 'scenarios',
      cells: { cells, method: 'monte_carlo' },
      runs: 9,
      grows: { from: 3 },
    });
    const { by } = judgeWithCourse(table, near(), [], ['x']);
    expect(by!.map(({ passed, failed, unknown }) => [passed, failed, unknown])).to.deep.equal([
      [2, 0, 0],
      [0, 1, 0],
    ]);
    const rows = summariesBy(table, ['x'], {});
    expect(rows.map((it) => it.of)).to.deep.equal([5, 4]);
    const joined = joinTables('b1', [
      { table: cellTable([passing(60, 60), passing(20, 60)], one as never), replicate: 0 },
    ]);
    expect(judgeRequirement(joined, near()).cells).to.include({ of: 2, met: 1, violated: 1 });
  });

  it('selects by the levels of axes', () => {
    const columns = whereColumns(cellTable([[0], [1], [2], [3]]));
    const column = columns.get('site');
    expect(column?.kind === 'text' && Array.from(column.codes, (code) => column.values[code])).to.deep.equal([
      'a',
      'a',
      'b',
      'b',
    ]);
  });
});
