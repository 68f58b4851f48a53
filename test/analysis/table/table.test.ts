/** The run table: classes, columns, the complete prefix, and the header of an answer. */
import { expect } from 'chai';
import { answerHeader, usedRunsSentence } from '../../../src/analysis/table/header.ts';
import { joinTables } from '../../../src/analysis/table/join.ts';
import { runClassOf } from '../../../src/analysis/table/run-class.ts';
import {
  batchOf,
  classOf,
  completePrefix,
  countClasses,
  outputColumn,
  outputNames,
  runIdOf,
} from '../../../src/analysis/table/run-table.ts';
import { RunTableBuilder } from '../../../src/analysis/table/table-builder.ts';
import type { JobStatus } from '../../../src/contract/types.ts';
import { type Run, tableOf, times } from '../tables.ts';

describe('analysis/table', () => {
  it('each status and reason has its class', () => {
    const rows: [JobStatus, string | undefined, string][] = [
      ['Completed', undefined, 'ok'],
      ['Failed', 'early_termination', 'terminated'],
      ['Failed', 'exit', 'crashed'],
      ['Failed', 'signal', 'crashed'],
      ['Failed', 'invalid', 'crashed'],
      ['Failed', undefined, 'crashed'],
      ['Failed', 'infrastructure', 'lost'],
      ['Failed', 'runner-lost', 'lost'],
      ['Timeout', 'timeout', 'timeout'],
      ['Cancelled', undefined, 'cancelled'],
      ['Pending', undefined, 'open'],
      ['Claimed', undefined, 'open'],
      ['Running', undefined, 'open'],
    ];
    for (const [status, reason, expected] of rows)
      expect(runClassOf(status, reason), `${status} ${reason}`).to.equal(expected);
  });

  it('a run that was never added is open, and the complete prefix ends before it', () => {
    const table = tableOf([1, 'terminated', 'cancelled', 'open', 2]);
    expect(completePrefix(table)).to.equal(3);
    expect(countClasses(table)).to.deep.equal({
      ok: 2,
      terminated: 1,
      crashed: 0,
      timeout: 0,
      lost: 0,
      cancelled: 1,
      open: 1,
    });
    expect(completePrefix(tableOf([1, 2]))).to.equal(2);
    expect(completePrefix(tableOf(['open']))).to.equal(0);
    expect(completePrefix(tableOf([]))).to.equal(0);
  });

  it('keeps numbers, booleans as 0 and 1, and texts; ignores other values, and has no infinities', () => {
    const outputs: [string, unknown][] = [
      ['n', 1.5],
      ['yes', true],
      ['no', false],
      ['text', 'a'],
      ['list', [1]],
      ['null', null],
      ['inf', Infinity],
    ];
    const table = tableOf([{ status: 'Completed', outputs, executionSecs: 3, parameters: { mass: 2 } }, 'crashed']);
    expect(outputNames(table)).to.deep.equal(['n', 'yes', 'no', 'inf', 'execution_secs']);
    expect(['n', 'yes', 'no', 'inf'].map((it) => outputColumn(table, it)![0])).to.deep.equal([1.5, 1, 0, NaN]);
    expect(outputColumn(table, 'execution_secs')![0]).to.equal(3);
    expect(outputColumn(table, 'list')).to.equal(undefined);
    expect(outputColumn(table, 'n')![1]).to.be.NaN;
    expect(table.parameters.get('mass')![0]).to.equal(2);
    const text = table.texts.get('text')!;
    expect([...text.codes].map((it) => text.values[it])).to.deep.equal(['a', '']);
  });

  it("the simulation's own execution_secs is not replaced", () => {
    const table = tableOf([{ status: 'Completed', outputs: [['execution_secs', 7]], executionSecs: 3 }]);
    expect(outputColumn(table, 'execution_secs')![0]).to.equal(7);
    expect(outputNames(table)).to.deep.equal(['execution_secs']);
  });

  it('a row that is added again has nothing of its first record', () => {
    const builder = new RunTableBuilder({ batchId: 'b1', method: 'monte_carlo', runs: 1 });
    const first = { row: 0, batchId: 'b0', telemetryLost: true, parameters: { p: 1 }, executionSecs: 1 } as const;
    const terminatedBy = { variable: 'v', condition: '> 3' };
    const outputs: [string, unknown][] = [
      ['y', 1],
      ['t', 'x'],
    ];
    builder.add({ ...first, status: 'Failed', reason: 'early_termination', errorMessage: 'm', terminatedBy, outputs });
    builder.add({ row: 0, status: 'Completed', outputs: [['z', 2]] });
    const table = builder.build();
    expect(classOf(table, 0)).to.equal('ok');
    expect([outputColumn(table, 'y')![0], table.executionSecs[0], table.parameters.get('p')![0]]).to.deep.equal([
      NaN,
      NaN,
      NaN,
    ]);
    expect([
      table.texts.get('t')!.codes[0],
      table.patterns.codes[0],
      table.ruleCodes[0],
      table.telemetryLost![0],
    ]).to.deep.equal([0, 0, 0, 0]);
    expect(batchOf(table, 0)).to.equal('b1');
  });

  it('selected runs keep their ids, and runs of a family their batch', () => {
    const runs = [
      { status: 'Completed' as const, batchId: 'b2' },
      { status: 'Completed' as const, batchId: 'b1' },
    ];
    const table = tableOf(runs, { runIds: Uint32Array.of(7, 90) });
    expect([runIdOf(table, 1), batchOf(table, 0), batchOf(table, 1)]).to.deep.equal([90, 'b2', 'b1']);
    expect(batchOf(tableOf([1]), 0)).to.equal('b1');
  });

  it('outputs beyond 200 are left out and named; texts beyond 1000 values share a category', () => {
    const many = Array.from({ length: 203 }, (_, i): [string, unknown] => [`o${i}`, i]);
    const table = tableOf([{ status: 'Completed', outputs: many }]);
    expect(table.outputs.size).to.equal(200);
    expect(table.omittedOutputs).to.deep.equal(['o200', 'o201', 'o202']);
    const texts = tableOf(
      Array.from({ length: 1003 }, (_, i) => ({ status: 'Completed' as const, outputs: [['t', `v${i}`]] as const })),
    );
    const { codes, values } = texts.texts.get('t')!;
    expect([values.length, values[codes[1000]!], codes[1002]]).to.deep.equal([1002, '(other values)', codes[1000]]);
  });

  it('a row outside the table is refused', () => {
    for (const row of [-1, 1, 0.5])
      expect(() =>
        new RunTableBuilder({ batchId: 'b', method: 'monte_carlo', runs: 1 }).add({ row, status: 'Completed' }),
      ).to.throw(RangeError, `row ${row} is not in a table of 1 runs`);
  });

  it('the header says how many runs are used and which are left out', () => {
    const header = answerHeader(tableOf([...times(66, 1), ...times(134, 'terminated')]));
    expect(header).to.deep.include({
      of: 200,
      n_used: 66,
      excluded: { terminated: 134 },
      prefix: { length: 200, of: 200 },
    });
    const sentence = 'statistics of 66 of 200 runs: 134 terminated early and left out';
    expect(usedRunsSentence(header)).to.equal(sentence);
    expect(header.warnings).to.deep.equal([{ code: 'runs-left-out', message: sentence }]);
    expect(answerHeader(tableOf([1])).warnings).to.deep.equal([]);
  });

  it('runs with results of other runs are counted in the header and said in its sentence, also of a joined table that has grown', () => {
    const reused: Run = { status: 'Completed', outputs: [['y', 1]], isReused: true };
    const layout = { batchId: 'b1', method: 'monte_carlo' as const, runs: 500, grows: { from: 2 } };
    const builder = new RunTableBuilder(layout);
    const rows = [1, 3, 400];
    for (const row of rows) builder.add({ row, ...reused });
    builder.add({ row: 3, status: 'Completed' });
    const header = answerHeader(builder.build());
    expect(header).to.deep.include({ of: 500, n_used: 3, reused: 2 });
    expect(header.warnings[1]).to.deep.equal({
      code: 'reused',
      message: '2 of 500 runs were not executed: they have the results of earlier runs',
    });
    expect(usedRunsSentence(header)).to.equal('statistics of 3 of 500 runs (2 reused): 497 open and left out');
    const joined = joinTables('b1', [
      { table: tableOf([1, reused]), replicate: 0 },
      { table: tableOf([1, 1]), replicate: 1 },
    ]);
    const one = answerHeader(joined);
    expect([one.reused, one.warnings]).to.deep.equal([
      1,
      [{ code: 'reused', message: '1 of 4 runs was not executed: it has the result of an earlier run' }],
    ]);
    expect(answerHeader(tableOf([1]))).not.to.have.property('reused');
  });

  it('the used and the excluded runs are all runs', () => {
    const table = tableOf([1, 2, 'lost', 'open', 3, 'cancelled']);
    for (const use of [
      {},
      { used: 1 },
      { prefixOnly: true },
      { classes: ['ok', 'lost'], prefixOnly: true, used: 1 },
    ] as const) {
      const { n_used: used, excluded, of } = answerHeader(table, use);
      expect(
        Object.values(excluded).reduce((sum, it) => sum + it, used),
        JSON.stringify(use),
      ).to.equal(of);
    }
    expect(answerHeader(table).warnings.map((it) => it.code)).to.deep.equal([
      'unfinished',
      'cancelled',
      'runs-left-out',
    ]);
  });
});
