/** Sensitivity, attribution, comparison and `where` on run tables, with their headers. */
import { expect } from 'chai';
import { failingGroups } from '../../src/analysis/attribution/failing-groups.ts';
import { studyAttribution } from '../../src/analysis/attribution/study-attribution.ts';
import { compareStudies } from '../../src/analysis/compare/study-comparison.ts';
import { failurePatterns } from '../../src/analysis/failure-patterns.ts';
import { studySensitivity } from '../../src/analysis/sensitivity/study-sensitivity.ts';
import type { RunTable } from '../../src/analysis/table/run-table.ts';
import { evaluateWhere } from '../../src/analysis/where/evaluate.ts';
import { parseWhere } from '../../src/analysis/where/parse.ts';
import { whereColumns } from '../../src/analysis/where/table-columns.ts';
import { uniformSource } from './synthetic.ts';
import { type Run, tableOf } from './tables.ts';

const RULE = { variable: 'max_nz', condition: '> 3.8' };

/** 200 runs: nz grows with the gust, a rule ends runs above 3.8, one run each crashed, was lost, was cancelled and is open. */
function study(shift = 0): RunTable {
  const uniform = uniformSource(21);
  const runs = Array.from({ length: 200 }, (_, row): Run => {
    const parameters = { gust: 30 * uniform(), mass: 10 + uniform() };
    const nz = parameters.gust / 7 + 0.1 * uniform() + shift;
    if (row === 3) return { status: 'Failed', reason: 'exit', parameters, errorMessage: 'segfault at 0x12' };
    if (row === 4) return { status: 'Failed', reason: 'infrastructure', parameters };
    if (row === 5) return { status: 'Cancelled', parameters };
    if (row === 6) return 'open';
    if (nz <= 3.8)
      return {
        status: 'Completed',
        parameters,
        outputs: [
          ['nz', nz],
          ['phase', nz > 2 ? 'late' : 'early'],
        ],
      };
    return { status: 'Failed', reason: 'early_termination', parameters, outputs: [['nz', 3.8]], terminatedBy: RULE };
  });
  return tableOf(runs);
}

const table = study();
const count = (groups: Int8Array): number[] => [1, 0, -1].map((group) => groups.filter((it) => it === group).length);
const classCount = (name: number): number => table.classes.filter((it) => it === name).length;
const [COMPLETED, TERMINATED] = [classCount(0), classCount(1)] as const;

describe('analysis on run tables', () => {
  it('judges sensitivity on completed runs alone and says so first', () => {
    const found = studySensitivity(table, 'nz');
    expect(found.n_used).to.equal(COMPLETED);
    expect(found.excluded).to.deep.equal({ terminated: TERMINATED, crashed: 1, lost: 1, cancelled: 1, open: 1 });
    expect(found.sentence).to.match(
      new RegExp(
        `^statistics of ${COMPLETED} of 200 runs: ${TERMINATED} terminated early, .* and left out; nz depends most on gust`,
      ),
    );
    expect(found.warnings.map((it) => it.code)).to.include.members(['unfinished', 'cancelled', 'runs-left-out']);
  });

  it('names the nearest output for an unknown one', () => {
    expect(() => studySensitivity(table, 'mz')).to.throw(
      RangeError,
      'output not found: the study has no output "mz"; did you mean "nz"?',
    );
  });

  it('attributes failures by default to classes that are failures of the run itself', () => {
    const found = studyAttribution(table);
    expect([found.failing, found.passing]).to.deep.equal([TERMINATED + 1, COMPLETED]);
    expect(found.excluded).to.deep.equal({ lost: 1, cancelled: 1, open: 1 });
    expect(found.parameters[0]).to.include({ name: 'gust', told_apart: true });
    expect(found.sentence).to.match(
      /^statistics of 197 of 200 runs: .* left out; of \d+ failing and \d+ passing runs: gust >= 2\d/,
    );
  });

  it('answers each class and pattern of failures by itself, where several have five runs or more', () => {
    const uniform = uniformSource(8);
    const runs = Array.from({ length: 300 }, (_, row): Run => {
      const parameters = { gust: uniform(), mass: uniform() };
      if (parameters.gust > 0.9)
        return { status: 'Failed', reason: 'exit', parameters, errorMessage: `broke at ${row}` };
      if (parameters.mass < 0.1) return { status: 'Failed', reason: 'exit', parameters, errorMessage: 'no lift' };
      if (row < 4) return { status: 'Timeout', reason: 'timeout', parameters, errorMessage: 'late' };
      return { status: 'Completed', parameters, outputs: [['y', 1]] };
    });
    const mixed = tableOf(runs);
    const { causes, failing } = studyAttribution(mixed);
    expect(causes.map((it) => [it.class, it.pattern, it.parameters.map(({ name }) => name)])).to.have.deep.members([
      ['crashed', 'broke at …', ['gust']],
      ['crashed', 'no lift', ['mass']],
    ]);
    expect(causes.map((it) => it.failing)).to.deep.equal(causes.map((it) => it.failing).toSorted((a, b) => b - a));
    expect(failing).to.equal(causes.reduce((sum, it) => sum + it.failing, 0) + 4);
    for (const { id, sentence } of causes) {
      const alone = studyAttribution(mixed, { failing: id });
      expect(alone.sentence.endsWith(sentence)).to.equal(true);
      expect(alone.causes).to.deep.equal([]);
    }
    expect(studyAttribution(table).causes).to.deep.equal([]);
  });

  it('chooses failing runs by class, requirement, pattern or expression', () => {
    const requirement = { name: 'nz-limit', output: 'nz', condition: '<= 3', probability: 0.9 };
    const over = table.outputs.get('nz')!.filter((it, row) => it > 3 && table.classes[row] === 0).length;
    const segfault = failurePatterns(table).find((it) => it.class === 'crashed')!.id;
    const choices: [failing: string, groups: number[]][] = [
      ['failed', [TERMINATED + 1, COMPLETED, 3]],
      ['terminated', [TERMINATED, COMPLETED, 4]],
      ['crashed', [1, COMPLETED, TERMINATED + 3]],
      ['nz-limit', [TERMINATED + over, COMPLETED - over, 4]],
      [segfault, [1, COMPLETED, TERMINATED + 3]],
      ['outputs.nz > 3 and class = ok', [over, COMPLETED - over, TERMINATED + 4]],
    ];
    for (const [failing, groups] of choices) {
      expect(count(failingGroups(table, failing, [requirement])), failing).to.deep.equal(groups);
    }
  });

  it('takes a run for which an expression is unknown into no group', () => {
    const groups = failingGroups(table, 'terminated_by = "max_nz > 3.8"');
    expect(count(groups)).to.deep.equal([TERMINATED, 0, 200 - TERMINATED]);
    expect(count(failingGroups(table, 'terminated_by is not null'))).to.deep.equal([
      TERMINATED,
      COMPLETED,
      200 - TERMINATED - COMPLETED,
    ]);
  });

  it('names the nearest choice for an unknown one', () => {
    expect(() => failingGroups(table, 'terminatd')).to.throw(RangeError, 'did you mean "terminated"?');
    expect(() => failingGroups(table, 'x9')).to.throw(
      RangeError,
      '"x9" is not a class, requirement or failure pattern; give one of failed, terminated,',
    );
    expect(() => failingGroups(table, 'outputs.mz > 3')).to.throw(
      'unknown column "outputs.mz"; did you mean "outputs.nz"?',
    );
  });

  it('compares two studies of the same parameters in pairs, in completed runs for outputs', () => {
    const found = compareStudies(
      { table, configuration: { simulation: { version: '1' } } },
      { table: study(0.2), configuration: { simulation: { version: '2' } } },
    );
    expect(found).to.include({ paired: true, batch_id: 'b1', pairs: 199, identical_runs: 0 });
    if (!found.paired) return;
    expect(found.configuration_changes).to.deep.equal([{ pointer: '/simulation/version', before: '1', after: '2' }]);
    expect(found.outputs.map((it) => it.name)).to.deep.equal(['nz']);
    expect(found.outputs[0]!.mean_difference).to.be.closeTo(0.2, 1e-9);
    expect(found.flips.mended).to.deep.equal([]);
    expect(found.flips.broke.length).to.equal(found.with.excluded.terminated! - TERMINATED);
    expect(found.outputs[0]!.pairs).to.equal(COMPLETED - found.flips.broke.length);
  });

  it('finds a study identical to itself, and refuses a study that joins replicates', () => {
    const same = compareStudies({ table, configuration: {} }, { table, configuration: {} });
    expect(same).to.include({ paired: true, identical_runs: COMPLETED });
    const family = tableOf([1, 2], { replicates: Uint16Array.of(0, 1), runIds: Uint32Array.of(0, 0) });
    const joined = () => compareStudies({ table: family, configuration: {} }, { table, configuration: {} });
    expect(joined).to.throw(
      RangeError,
      'studies not compared: b1 is read with its replicates; compare one study with one study',
    );
  });

  it('refuses a confidence that is not between 0 and 1', () => {
    const fault = 'confidence is 95: it must be between 0 and 1; give 0.95 for 95 %';
    const side = { table, configuration: {} };
    expect(() => studySensitivity(table, 'nz', 95)).to.throw(RangeError, fault);
    expect(() => studyAttribution(table, { confidence: 95 })).to.throw(RangeError, fault);
    expect(() => compareStudies(side, side, { confidence: 95 })).to.throw(RangeError, fault);
  });

  it('gives `where` the columns of the table', () => {
    const columns = whereColumns(table);
    expect([...columns.keys()]).to.deep.equal([
      'run_id',
      'replicate',
      'batch_id',
      'class',
      'execution_secs',
      'terminated_by',
      'parameters.gust',
      'parameters.mass',
      'outputs.nz',
      'outputs.phase',
    ]);
    const selected = (text: string): number =>
      evaluateWhere(parseWhere(text), columns, 200).reduce((sum, it) => sum + it, 0);
    expect(selected('run_id < 10 and class = open')).to.equal(1);
    expect(selected('batch_id = b1 and replicate = 0')).to.equal(200);
    expect(selected('outputs.phase = late and outputs.nz <= 2')).to.equal(0);
    expect(selected('outputs.phase in (late, early)')).to.equal(COMPLETED);
    expect(selected('terminated_by is not null')).to.equal(TERMINATED);
    expect(selected('execution_secs is null')).to.equal(200);
  });

  it('says that a condition on outputs sees partial values of runs that did not complete', () => {
    const found = studyAttribution(table, { failing: 'outputs.nz >= 3.8' });
    expect(found.failing).to.equal(TERMINATED);
    expect(found.warnings.map((it) => it.code)).to.include('partial-outputs');
    const ofCompleted = studyAttribution(table, { failing: 'outputs.nz >= 3 and class = ok' });
    expect(ofCompleted.warnings.map((it) => it.code)).to.not.include('partial-outputs');
  });
});
