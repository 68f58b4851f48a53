/** The table of a probe as an answer of the coordinator: that of `simbatch probe`, or why there is none. */
import { expect } from 'chai';
import type { Report, StudyProbe, Uuid } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { type ProbePlan, probePlan } from '../../../src/domain/probe/plan.ts';
import { probeTable, type ProbeRun } from '../../../src/domain/probe/table.ts';
import { Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

describe('coordinator/answers: the table of a probe', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('r1', { slots: 100 });
  });
  afterEach(() => scene.api.close());

  const asked = async (batchId: Uuid): Promise<StudyProbe> => {
    const found = await scene.api.answer({ name: 'probe', batchId, query: {} }, { waitMs: 1e6 });
    if (found.state !== 'ready') throw new Error(`the answer is ${found.state}`);
    return JSON.parse(new TextDecoder().decode(found.body)) as StudyProbe;
  };

  const end = (id: Uuid, run: number, report: object): Report[] => [
    { type: 'start', job_id: jobId(id, run), attempt: 1 },
    { job_id: jobId(id, run), attempt: 1, ...report } as Report,
  ];
  const completed = (metadata: object, read?: 'all' | string[]) => ({
    type: 'complete',
    result: {
      execution_time_secs: 1,
      output_files: [],
      metadata,
      telemetry_data: null,
      ...(read === undefined ? {} : { parameters_read: read }),
    },
  });
  const report = (id: Uuid, runs: number[], of: (run: number) => object) =>
    scene.api.reports('r1', {
      instance: scene.instance('r1'),
      reports: runs.flatMap((run) => end(id, run, of(run))),
    });
  const append = (id: Uuid, rows: ProbePlan['rows']) =>
    scene.api.appendRound(id, { key: 'probe', rows: [...rows], draws: rows.map(() => 0) });

  const planned = (corners = false): ProbePlan => probePlan(study({ runs: 9 }), corners);

  for (const corners of [false, true])
    it(`is that of simbatch probe, ${corners ? 'with' : 'without'} corners, with outputs that have no column`, async () => {
      const plan = planned(corners);
      const { batch_id: id } = await scene.api.submit(plan.submission);
      await append(id, plan.rows);
      await scene.api.closeBatch(id);
      const names = plan.inputs.map(({ name }) => name);
      const outputsOf = (run: number) => ({ y: plan.rows[run]![names[0]!]!, list: [run === 2 ? 1 : 0], text: 'a' });
      const runs = await scene.claim('r1', 100);
      expect(runs.length).to.equal(plan.rows.length);
      expect((await asked(id)).reason).to.equal(
        `the probe has not ended: ${runs.length} of ${runs.length} runs are open`,
      );
      await report(id, runs.slice(1), (run) =>
        run === 3 ? { type: 'fail', reason: 'invalid', error_message: 'no' } : completed(outputsOf(run), [names[0]!]),
      );
      expect((await asked(id)).reason).to.equal(`the probe has not ended: 1 of ${runs.length} runs are open`);
      await report(id, [0], (run) => completed(outputsOf(run)));
      const results = runs.map((run): ProbeRun => {
        if (run === 3) return { run_id: run, class: 'crashed', outputs: {} };
        const read = run === 0 ? {} : { parameters_read: [names[0]!] };
        return { run_id: run, class: 'ok', outputs: outputsOf(run), ...read };
      });
      const { nominal, inputs, corners: shown, ...rest } = await asked(id);
      const expected = probeTable(plan, results);
      expect({ nominal, inputs, ...(shown === undefined ? {} : { corners: shown }) }).to.deep.equal(expected);
      expect(inputs.map(({ effect }) => effect)).to.deep.equal(['some', 'some', ...names.slice(2).map(() => 'none')]);
      expect(inputs.map(({ read }) => read)).to.deep.equal(['read', ...names.slice(1).map(() => 'never')]);
      expect(rest.reason).to.equal(null);
      expect(rest.sentence).to.match(
        new RegExp(`^probe of ${names.length} inputs in ${runs.length} runs: never read: ${names[1]!}`),
      );
    });

  it('is not there for other studies, whatever their label and rows, and the reason is', async () => {
    const plain = await scene.submit({ runs: 2 });
    const labelled = (await scene.api.submit({ ...study({ runs: 2 }), labels: { probe: 'mine' } })).batch_id;
    for (const id of [plain, labelled])
      expect(await asked(id)).to.deep.include({
        nominal: null,
        inputs: [],
        reason: 'the study is not a probe; simbatch probe executes one of a study',
        sentence: 'no table of a probe: the study is not a probe; simbatch probe executes one of a study',
      });
    for (const id of [plain, labelled]) await scene.api.cancelBatch(id);
    const plan = planned();
    const [other, none] = [
      (await scene.api.submit(plan.submission)).batch_id,
      (await scene.api.submit(plan.submission)).batch_id,
    ];
    const notProbed =
      'the rows of the study are not those of a probe: a nominal run, then each input alone low and high';
    expect((await asked(none)).reason).to.equal('the probe has no runs yet');
    await scene.api.cancelBatch(none);
    const rows = plan.rows.map((row) => ({ ...plan.rows[1]!, ...row }));
    rows[2] = { ...rows[1]! };
    rows[1] = Object.fromEntries(Object.entries(rows[1]!).map(([name, value]) => [name, value + 1]));
    await append(other, rows);
    const runs = await scene.claim('r1', 100);
    await report(other, runs, () => completed({ y: 1 }));
    expect((await asked(other)).reason).to.equal(notProbed);
  });

  const long: [which: string, isLong: (run: number) => boolean][] = [
    ['the nominal run, beside each change,', (run) => run === 0],
    ['all runs together', (run) => run > 0],
  ];
  for (const [which, isLong] of long)
    it(`is not there where the outputs of ${which} would be too much`, async () => {
      const plan = planned();
      const { batch_id: id } = await scene.api.submit(plan.submission);
      await append(id, plan.rows);
      const runs = await scene.claim('r1', 100);
      const text = 'x'.repeat(Math.ceil((16 * 1024 * 1024) / (runs.length - 1)));
      await report(id, runs, (run) => completed({ text: isLong(run) ? text : 'x' }));
      expect((await asked(id)).reason).to.match(
        /^the outputs of its runs are too large for one table; read them one by one/,
      );
    });
});
