/** The question about a band: the runs that it has, its sources, what limits it, and names that a study does not have. */
import { expect } from 'chai';
import { HistoryBand } from '../../../src/contract/answers/band.ts';
import type { BatchConfig, TerminationCondition } from '../../../src/contract/types.ts';
import type { RunSamples } from '../../../src/analysis/table/drawn-telemetry.ts';
import { bandSample } from '../../../src/analysis/band/sample.ts';
import { band } from '../../../src/analysis/questions/band.ts';
import type { AnsweredStudy } from '../../../src/analysis/table/answered-study.ts';
import type { TableLayout } from '../../../src/analysis/table/layout.ts';
import { runIdOf } from '../../../src/analysis/table/run-table.ts';
import { strictFaults } from '../../support/strict-schema.ts';
import { study } from '../../support/studies.ts';
import { type Run, tableOf } from '../tables.ts';

const BATCH_ID = '0195a1b2-c3d4-8e5f-a012-345600000000';

const HISTORIES: BatchConfig['histories'] = [
  { variable: 'nz', at: { from: 0, to: 2, step: 1 }, units: 'g' },
  { name: 'late', variable: 'nz', at: { points: [5] } },
];

interface Scene {
  runs: Run[];
  /** The curve of each run. */
  curve?: (runId: number) => number[];
  layout?: Partial<TableLayout>;
  histories?: BatchConfig['histories'];
}

/** A study whose run i has the curve i, i + 1, i + 2, unless `curve` says otherwise. */
function sceneOf({ runs, curve = (i) => [i, i + 1, i + 2], layout, histories = HISTORIES }: Scene): AnsweredStudy {
  const table = tableOf(runs, { batchId: BATCH_ID, ...layout });
  const { config, ...rest } = study({ runs: runs.length });
  const condition: TerminationCondition = { variable: 'nz', condition: '> 200', description: '' };
  const samplesOf = (runId: number): RunSamples => {
    const values = Float64Array.from(curve(runId));
    return { startSecs: 0, endSecs: 2, variables: new Map([['nz', { secs: Float64Array.of(0, 1, 2), values }]]) };
  };
  return {
    table,
    submission: {
      ...rest,
      config: {
        ...config,
        histories,
        early_termination: { enabled: true, check_frequency_hz: 1, conditions: [condition] },
      },
      outputs: { peak: { units: 'g', censored: 'nz' } },
      requirements: [{ name: 'mild', output: 'peak', condition: '< 150', probability: 0.9, confidence: 0.9 }],
    },
    readHistory: async (name, rows, { from, to }) =>
      Float64Array.from(
        rows.flatMap((row) => (name === 'nz' ? curve(runIdOf(table, row)).slice(from, to) : [Number.NaN])),
      ),
    readTelemetry: async (options) => {
      const sample = bandSample(table, options);
      const runsOf = sample.rows.map((row) =>
        row === 3 ? { why: 'it has no telemetry' } : samplesOf(runIdOf(table, row)),
      );
      return { ...sample, runs: runsOf };
    },
  };
}

const ask = async (scene: Scene, query: Partial<Parameters<typeof band.answer>[1]> = {}): Promise<HistoryBand> => {
  const asked = sceneOf(scene);
  const found = await band.answer(asked, { history: 'nz', ...query }, asked);
  // As a client has it.
  const answer = JSON.parse(JSON.stringify(found)) as HistoryBand;
  expect(strictFaults(HistoryBand, answer)).to.deep.equal([]);
  return answer;
};

const fine = (count: number): Run[] => Array.from({ length: count }, (_, i) => i);
const codes = ({ warnings }: HistoryBand): string[] => warnings.map((it) => it.code);

describe('analysis/band: the question', () => {
  it('answers about all completed runs, with the failed ones of unknown values', async () => {
    const found = await ask({ runs: fine(100).map((it, i) => (i === 10 ? 'crashed' : i === 20 ? 'cancelled' : it)) });
    expect([found.of, found.n_used, found.excluded, found.unknown]).to.deep.equal([
      100,
      98,
      { crashed: 1, cancelled: 1 },
      2,
    ]);
    expect([found.source, found.sample, found.units, found.variable]).to.deep.equal(['history', null, 'g', 'nz']);
    expect([found.seconds, found.n, found.ended]).to.deep.equal([
      [0, 1, 2],
      [98, 98, 98],
      [0, 0, 0],
    ]);
    expect(found.quantiles.map((it) => it.p)).to.deep.equal([0.05, 0.5, 0.95]);
    expect([found.least.run_id[0], found.greatest.value[2], found.greatest.run_id[2]]).to.deep.equal([0, 101, 99]);
    expect(found.tolerance).to.include({ runs: 50 });
    expect(found.outlying.map((it) => it.replay)[0]).to.equal(`simbatch replay ${BATCH_ID}/99`);
    expect(found.sentence).to.equal(
      'band of nz over 98 of 100 runs at 3 points, 2 of unknown values beside them; at confidence 0.95 at least 90 % of future runs stay inside the tolerance band',
    );
    expect(found.reason).to.equal(null);
    expect(codes(found)).to.deep.equal(['cancelled', 'runs-left-out']);
  });

  it('has the limits of conditions and requirements on the variable', async () => {
    expect((await ask({ runs: fine(3) })).limits).to.deep.equal([
      { name: '> 200 ends the run', value: 200, kind: 'condition' },
      { name: '< 150 required: mild', value: 150, kind: 'requirement' },
    ]);
  });

  it('has the quantiles, confidence and coverage that are asked for', async () => {
    const found = await ask({ runs: fine(101) }, { quantiles: [0.9, 0], confidence: 0.5, coverage: 0.3 });
    expect(found.quantiles.map((it) => [it.p, it.value[0]])).to.deep.equal([
      [0.9, 90],
      [0, 0],
    ]);
    expect([found.confidence, found.coverage]).to.deep.equal([0.5, 0.3]);
    const wide = await ask({ runs: fine(101) }, { coverage: 0.9 });
    expect(wide.tolerance!.score).to.be.above(found.tolerance!.score);
  });

  it('leaves out completed runs without a value, and counts them', async () => {
    const found = await ask({
      runs: fine(10),
      curve: (i) => (i < 4 ? [] : [i, i]).concat([NaN, NaN, NaN]).slice(0, 3),
    });
    expect([found.n_used, found.excluded]).to.deep.equal([6, { no_value: 4 }]);
    expect(found.ended).to.deep.equal([4, 4, 10]);
    expect(found.quantiles[1]!.value).to.deep.equal([6.5, 6.5, null]);
  });

  it('uses the runs before the first open one while a study runs', async () => {
    const found = await ask({ runs: [...fine(10), 'open', ...fine(5)] });
    expect([found.n_used, found.excluded, found.prefix]).to.deep.equal([
      10,
      { open: 1, after_prefix: 5 },
      { length: 10, of: 16 },
    ]);
    expect(codes(found)).to.include('unfinished');
  });

  it('answers about the runs that are selected', async () => {
    const found = await ask({ runs: fine(100) }, { where: 'outputs.y >= 40' });
    expect([found.n_used, found.excluded, found.quantiles[1]!.value[0]]).to.deep.equal([
      60,
      { not_selected: 40 },
      69.5,
    ]);
    expect(found.tolerance).to.include({ runs: 30 });
  });

  it('has no tolerance band, and says why, where a selection leaves one half empty', async () => {
    const odd = await ask({ runs: fine(100) }, { where: 'run_id in (1, 3, 5)' });
    expect([odd.n_used, odd.tolerance, odd.runs_needed]).to.deep.equal([3, null, 58]);
    expect(odd.tolerance_reason).to.match(/no run with an even id/);
    expect(odd.sentence).to.match(/; no tolerance band: the selection has no run with an even id/);
  });

  it('says where the runs of a design are not independent', async () => {
    const found = await ask({ runs: fine(60), layout: { method: 'latin_hypercube' } });
    expect(codes(found)).to.include('not-independent');
    expect(found.tolerance).to.not.equal(null);
  });

  it('has a reason, and no values, of a study without runs that could be used', async () => {
    const open = Array.from({ length: 5 }, (): Run => 'open');
    const cases: [Scene, object, RegExp][] = [
      [{ runs: [] }, {}, /^the study has no runs yet$/],
      [{ runs: open }, {}, /^no run has ended before the first open one: 5 of 5 runs are open$/],
      [{ runs: [...open, ...fine(3)] }, {}, /5 of 8 runs are open/],
      [{ runs: ['crashed', 'lost'] }, {}, /^no selected run has completed$/],
      [{ runs: fine(4) }, { where: 'run_id > 100' }, /^no run that has ended is selected$/],
      [{ runs: fine(4) }, { history: 'late' }, /^no completed run has a value$/],
      [
        { runs: ['crashed', 'crashed', 'crashed', 3], histories: null },
        {},
        /^no telemetry could be read; run 3: it has no telemetry$/,
      ],
      [{ runs: open, histories: null }, { history: 'anything' }, /5 of 5 runs are open/],
    ];
    for (const [scene, query, reason] of cases) {
      const found = await ask(scene, query);
      expect(found.reason, String(reason)).to.match(reason);
      expect(found.sentence).to.equal(`no band of ${found.history}: ${found.reason}`);
      expect([found.tolerance, found.n_used]).to.deep.equal([null, 0]);
      expect(found.quantiles.flatMap((it) => it.value).filter((it) => it !== null)).to.deep.equal([]);
    }
  });

  it('reads the telemetry of drawn runs where the study has no such history, and says so', async () => {
    const found = await ask({ runs: fine(200).map((it, i) => (i === 5 ? 'lost' : it)), histories: null });
    expect([found.source, found.sample?.drawn_from, found.sample?.sampled]).to.deep.equal(['telemetry', 199, 64]);
    expect(found.n_used + found.unknown).to.equal(64);
    expect(found.excluded.not_drawn).to.equal(136);
    expect([found.seconds.length, found.units]).to.deep.equal([501, 'g']);
    expect(found.quantiles[1]!.value[500]! - found.quantiles[1]!.value[0]!).to.be.closeTo(2, 1e-9);
    expect(codes(found)).to.include('drawn-runs');
  });

  it('takes a drawn run that could not be read as one of unknown values', async () => {
    const found = await ask({ runs: fine(10), histories: null });
    expect([found.n_used, found.unknown, found.excluded]).to.deep.equal([9, 1, { not_read: 1 }]);
    expect(found.sample!.unread).to.deep.equal([{ run_id: 3, reason: 'it has no telemetry' }]);
  });

  it('takes a run that was ended by a rule as one of unknown values, although its telemetry can be read', async () => {
    const found = await ask({ runs: fine(10).map((it, i) => (i === 7 ? 'terminated' : it)), histories: null });
    expect([found.n_used, found.unknown, found.excluded]).to.deep.equal([8, 2, { not_read: 1, terminated: 1 }]);
  });

  it('refuses a name that is neither a history nor a variable that was read, with the nearest', async () => {
    const refusal = async (scene: Scene, history: string): Promise<string> => {
      const asked = sceneOf(scene);
      return Promise.resolve(band.answer(asked, { history }, asked)).then(
        () => 'answered',
        (error: Error) => error.message,
      );
    };
    expect(await refusal({ runs: fine(3) }, 'lat')).to.equal(
      'history not found: the study has no history "lat", nor do the 3 telemetry files that were read have such a variable; did you mean "late"?',
    );
    expect(await refusal({ runs: ['open'] }, 'altitude')).to.match(/0 telemetry files.*; give one of nz, late$/);
    expect(await refusal({ runs: fine(3), histories: null }, 'nzz')).to.match(/did you mean "nz"\?$/);
  });

  it('refuses more quantiles than it gives', () => {
    const quantiles = Array.from({ length: 21 }, (_, i) => i / 20);
    expect(() => band.check!({ history: 'nz', quantiles })).to.throw(RangeError, 'has 21 values: give at most 20');
    expect(() => band.check!({ history: 'nz', quantiles: quantiles.slice(1) })).to.not.throw();
  });
});
