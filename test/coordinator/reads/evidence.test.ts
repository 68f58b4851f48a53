/** The facts in the evidence about a study at a coordinator: its code, look-ups, amendments, audits and history. */
import { expect } from 'chai';
import type { EvidenceReport, Report, Uuid } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { type ProbePlan, probePlan } from '../../../src/domain/probe/plan.ts';
import { Scene } from '../../support/scene.ts';

const DIGEST = 'a'.repeat(64);

describe('coordinator/reads/evidence-facts', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => scene.api.close());

  const evidence = async (batchId: Uuid): Promise<EvidenceReport> => {
    const found = await scene.api.answer({ name: 'evidence', batchId, query: {} }, { waitMs: 1e6 });
    if (found.state !== 'ready') throw new Error(`the answer is ${found.state}`);
    return JSON.parse(new TextDecoder().decode(found.body)) as EvidenceReport;
  };

  /** Executes the Pending runs of a study on a runner that names its code and the parameters that were looked up. */
  async function execute(
    id: string,
    batchId: Uuid,
    runs: number,
    outputs: (run: number) => Record<string, unknown> = (run) => ({ y: run }),
    digest = DIGEST,
    from = 0,
  ): Promise<void> {
    const code = { kind: 'entrypoint' as const, digest };
    const request = {
      instance: scene.instance(id),
      max_jobs: runs - from,
      wait_seconds: 0,
      engines: [{ name: '*', code }],
    };
    await scene.api.claim(id, request);
    for (let run = from; run < runs; run++) {
      const job_id = jobId(batchId, run);
      const result = {
        execution_time_secs: 1,
        output_files: [],
        metadata: outputs(run),
        telemetry_data: null,
        parameters_read: ['mass'],
      };
      const reports: Report[] = [
        { type: 'start', job_id, attempt: 1, code },
        { type: 'complete', job_id, attempt: 1, result },
      ];
      await scene.api.reports(id, { instance: scene.instance(id), reports });
    }
  }

  it('names code, machines, inputs that were read, the age of requirements, audits and interventions', async () => {
    await scene.register('r1', { slots: 4 });
    const batch = await scene.submit({ runs: 4 });
    await scene.api.pauseBatch(batch, 'a valve is checked');
    await scene.api.resumeBatch(batch);
    await execute('r1', batch, 4);
    await scene.api.amendJudgement(batch, {
      requirements: [{ name: 'small', output: 'y', condition: '< 10', probability: 0.5 }],
    });
    const { batch_id: audit } = await scene.api.auditBatch(batch, { fraction: 1 });
    const found = await evidence(batch);
    expect(found.executed.code.map((it) => [it.digest, it.runs, it.runners])).to.deep.equal([[DIGEST, 4, ['r1']]]);
    expect(found.executed.runners.map((it) => [it.id, it.registered])).to.deep.equal([['r1', true]]);
    const read = Object.fromEntries(found.inputs.map((it) => [it.name, it.read]));
    expect(read['mass']).to.equal('read');
    expect(Object.values(read)).to.include('never');
    expect(found.asked.stated).to.deep.include({ name: 'small', runs_ended: 4, at: found.asked.stated[0]?.at });
    expect(found.limits.join('\n'))
      .to.include('small was stated after 4 runs had ended')
      .and.to.include('never looked up');
    expect(found.audits.map((it) => [it.batch_id, it.runs, it.compared])).to.deep.equal([[audit, 4, 0]]);
    expect(found.limits.join('\n')).to.include('1 spot check has runs that are not compared');
    expect(found.history?.events.find((it) => it.type === 'paused')?.reason).to.equal('a valve is checked');
    expect(found.executed).to.include({ reused_runs: 0, parent: null });
    expect((await evidence(audit)).executed.parent).to.deep.equal({ batch_id: batch, relation: 'audit' });
  });

  it('takes the effect of inputs from a probe with the same inputs and code, and from no other one', async () => {
    await scene.register('r1', { slots: 20 });
    const batch = await scene.submit({ runs: 4 });
    await execute('r1', batch, 4);
    const effects = async () => Object.fromEntries((await evidence(batch)).inputs.map((it) => [it.name, it.effect]));
    const plan = probePlan(await scene.api.submission(batch));
    const names = plan.inputs.map(({ name }) => name);
    const unknown = Object.fromEntries(names.map((name) => [name, 'unknown']));
    const probe = async (rows: ProbePlan['rows'], digest: string): Promise<Uuid> => {
      const { batch_id: id } = await scene.api.submit(plan.submission);
      await scene.api.appendRound(id, { key: 'probe', rows: [...rows], draws: rows.map(() => 0) });
      await scene.api.closeBatch(id);
      await execute('r1', id, rows.length, (run) => ({ y: rows[run]?.['mass'] }), digest);
      return id;
    };
    expect(await effects()).to.deep.equal(unknown);
    await probe(plan.rows, 'b'.repeat(64));
    await probe(
      plan.rows.map((row) => ({ ...row, mass: row['mass']! + 1 })),
      DIGEST,
    );
    expect(await effects()).to.deep.equal(unknown);
    const id = await probe(plan.rows, DIGEST);
    expect(await effects()).to.deep.equal({
      ...Object.fromEntries(names.map((name) => [name, 'none'])),
      mass: 'changes',
    });
    expect((await evidence(batch)).inputs.map((it) => it.probe)).to.deep.equal(names.map(() => id));
  });

  it('a study has the finding of its probe after a restart too, until the probe is deleted', async () => {
    await scene.register('r1', { slots: 20 });
    const found = async (id: Uuid): Promise<string | undefined> =>
      (await scene.api.findings(id)).find(({ code }) => code === 'parameter-without-effect')?.message;
    const batch = await scene.submit({ runs: 4 });
    const plan = probePlan(await scene.api.submission(batch));
    const names = plan.inputs.map(({ name }) => name).filter((name) => name !== 'mass');
    const { batch_id: probe } = await scene.api.submit(plan.submission);
    await scene.api.appendRound(probe, { key: 'probe', rows: [...plan.rows], draws: plan.rows.map(() => 0) });
    await scene.api.pauseBatch(probe);
    await execute('r1', batch, 4);
    await scene.api.resumeBatch(probe);
    const outputs = (run: number): Record<string, unknown> => ({ y: plan.rows[run]?.['mass'] });
    await execute('r1', probe, 2, outputs);
    expect(await found(batch), 'the probe has not ended').to.equal(undefined);
    await scene.api.closeBatch(probe);
    await execute('r1', probe, plan.rows.length, outputs, DIGEST, 2);
    const message = await found(batch);
    expect(message).to.include(`no output at`).and.to.include(probe);
    for (const name of names.slice(0, 3)) expect(message).to.include(JSON.stringify(name));
    expect(message).not.to.include('"mass"');
    // Another name, label and number of runs: the same simulation, inputs and code.
    const renamed = await scene.submit({ runs: 2, name: 'other' });
    expect(await found(renamed), 'no code is known yet').to.equal(undefined);
    await execute('r1', renamed, 2);
    expect(await found(renamed)).to.equal(message);
    await scene.restart();
    expect(await found(batch)).to.equal(message);
    await scene.api.deleteBatch(probe);
    expect(await found(batch)).to.equal(undefined);
    expect([...scene.store.disk.values()].filter((it) => it === JSON.stringify([probe]))).to.deep.equal([]);
  });

  it('is there for a study that has no run yet, and says so', async () => {
    const found = await evidence(await scene.submit({ runs: 2 }));
    expect(found.limits).to.include('The code is not known: no run has started.');
    expect(found.limits).to.include('2 runs have not ended: every figure is provisional.');
    expect(found.asked).to.deep.equal({ requirements: 0, precisions: 0, stated: [] });
  });
});
