/** The evidence about a study: the facts, and a limit for everything that is not known or not checked. */
import { expect } from 'chai';
import type { BatchSubmission, CodeVersion, EvidenceReport, Runner } from '../../../src/contract/types.ts';
import { EVIDENCE_FACTORS } from '../../../src/contract/enums.ts';
import type { EvidenceFacts } from '../../../src/analysis/evidence/facts.ts';
import { evidence } from '../../../src/analysis/questions/outcome/evidence.ts';
import { evidenceHtml } from '../../../src/report/evidence.ts';
import { study } from '../../support/studies.ts';
import { type Run, tableOf, times } from '../tables.ts';

const ID = '01a1fd51-c34f-8cf4-b177-584200000000';
const DIGEST = 'a'.repeat(64);
const HOSTILE = '<script>alert("x")</script>';

const version = (more: Partial<CodeVersion> = {}): CodeVersion => ({
  digest: DIGEST,
  kind: 'entrypoint',
  git: { commit: 'c'.repeat(40), dirty: false, describe: 'v1.2' },
  runs: 10,
  first_run_id: 0,
  runners: ['lab-1'],
  ...more,
});

const RUNNER = {
  id: 'lab-1',
  hostname: 'wind-tunnel-pc',
  capabilities: {
    max_concurrent_jobs: 1,
    cpu_cores: 8,
    memory_gb: 0,
    gpu_available: false,
    supported_simulation_types: ['*'],
    python_version: '3.11.2',
  },
} as unknown as Runner;

const facts = (more: Partial<EvidenceFacts> = {}): EvidenceFacts => ({
  batch: { id: ID, name: HOSTILE, status: 'Completed', config_hash: 'h'.repeat(64) } as EvidenceFacts['batch'],
  history: {
    batch_id: ID,
    events: [{ at: '2026-11-22T12:00:00Z', type: 'paused', reason: HOSTILE }],
    events_omitted: 0,
  },
  codeVersions: [version()],
  runners: [RUNNER],
  audits: [],
  auditsOmitted: 0,
  read: new Map(),
  effects: new Map(),
  stated: new Map(),
  ...more,
});

const submission = (more: Partial<BatchSubmission> = {}): BatchSubmission => ({
  ...study({ runs: 10, seed: 7, config: { dispersions: { mass: { source: 'scale, 2026-03' } } } }),
  requirements: [{ name: 'lands', output: 'y', condition: '<= 50', probability: 0.5 }],
  ...more,
});

interface Case {
  runs?: readonly Run[];
  facts?: Partial<EvidenceFacts> | null;
  submission?: Partial<BatchSubmission>;
}

async function reportOf({
  runs = times(10, 1),
  facts: known = {},
  submission: more = {},
}: Case = {}): Promise<EvidenceReport> {
  const found = await evidence.answer(
    { table: tableOf(runs, { batchId: ID }), submission: submission(more) },
    {},
    { table: tableOf(runs, { batchId: ID }), submission: submission(more) },
  );
  // As it leaves the worker.
  const passed = JSON.parse(JSON.stringify(found)) as typeof found;
  return evidence.conclude!(
    passed,
    known === null ? undefined : { status: 'Completed', findings: [], facts: facts(known) },
  );
}

describe('analysis/evidence', () => {
  it('has the facts: code, machines, inputs with their source, results, counts', async () => {
    const report = await reportOf({ runs: [...times(8, 1), 'crashed', 'lost'] });
    expect(report).to.include({ batch_id: ID, name: HOSTILE, status: 'Completed' });
    expect(report.executed.code).to.deep.equal([version()]);
    expect(report.executed.runners).to.deep.equal([
      {
        id: 'lab-1',
        registered: true,
        hostname: 'wind-tunnel-pc',
        cpu_cores: 8,
        memory_gb: null,
        versions: { python: '3.11.2' },
      },
    ]);
    const mass = report.inputs.find(({ name }) => name === 'mass');
    expect(mass).to.include({
      source: 'scale, 2026-03',
      varies: true,
      read: 'unknown',
      effect: 'unknown',
      probe: null,
    });
    expect(report.executed.design).to.match(/^monte_carlo, 10 runs; seed 7|latin_hypercube, 10 runs; seed 7/);
    expect(report.results).to.include({ n_used: 8, of: 10 });
    expect(report.convergence.map(({ output }) => output)).to.deep.equal(['y']);
    expect(report.counted.map((it) => [it.class, it.runs])).to.deep.equal([
      ['ok', 8],
      ['crashed', 1],
      ['lost', 1],
    ]);
    for (const it of report.counted.slice(1)) expect(it.verdicts).to.include('unknown');
    expect(report.factors.map(({ id }) => id)).to.deep.equal([...EVIDENCE_FACTORS]);
    // The columns of table 3 in appendix E of NASA-STD-7009A, and the last factor of the first edition.
    const names = `data pedigree, verification, validation, input pedigree, uncertainty characterization, results robustness,
      m&s history, m&s process/product management, people qualifications`;
    expect(report.factors.map(({ title }) => title.toLowerCase())).to.deep.equal(names.split(/,\s+/));
    for (const { to_state: open } of report.factors) expect(open).not.to.be.empty;
  });

  /** Each flaw has its sentence among the limits, and the same study without it has none. */
  const FLAWS: readonly { name: string; flawed: Case; sound?: Case; limit: RegExp }[] = [
    { name: 'open runs', flawed: { runs: [...times(9, 1), 'open'] }, limit: /1 run has not ended/ },
    { name: 'no requirement', flawed: { submission: { requirements: [] } }, limit: /declares no requirement/ },
    {
      name: 'a requirement of unknown age',
      flawed: {},
      sound: { facts: { stated: new Map([['lands', { runs_ended: 0, at: '2026-01-01T00:00:00Z' }]]) } },
      limit: /When lands was stated is not recorded/,
    },
    {
      name: 'a requirement that was stated late',
      flawed: { facts: { stated: new Map([['lands', { runs_ended: 4, at: '2026-01-01T00:00:00Z' }]]) } },
      limit: /lands was stated after 4 runs had ended/,
    },
    {
      name: 'unknown code',
      flawed: { facts: { codeVersions: [version({ digest: null, kind: 'unknown', runs: 3 })] } },
      limit: /code of 3 runs is not known/,
    },
    {
      name: 'two versions',
      flawed: { facts: { codeVersions: [version(), version({ digest: 'b'.repeat(64) })] } },
      limit: /2 different versions/,
    },
    {
      name: 'uncommitted changes',
      flawed: { facts: { codeVersions: [version({ git: { commit: 'c'.repeat(40), dirty: true, describe: null } })] } },
      limit: /1 version of the code has changes that are in no commit/,
    },
    {
      name: 'unknown changes',
      flawed: { facts: { codeVersions: [version({ git: { commit: 'c'.repeat(40), dirty: null, describe: null } })] } },
      limit: /differs from the commit is not known/,
    },
    {
      name: 'a digest of the entrypoint alone',
      flawed: { facts: { codeVersions: [version({ note: 'only the entrypoint' })] } },
      limit: /only the entrypoint/,
    },
    { name: 'a machine that is gone', flawed: { facts: { runners: [] } }, limit: /machines of lab-1 are not known/ },
    {
      name: 'no audit',
      flawed: {},
      sound: {
        facts: {
          audits: [
            {
              batch_id: ID,
              status: 'Completed',
              runs: 2,
              compared: 2,
              differing: 0,
              same_runner: 0,
              sentence: 'all 2 runs compared',
            } as EvidenceFacts['audits'][number],
          ],
        },
      },
      limit: /there is no spot check/,
    },
    {
      name: 'an audit that differs',
      flawed: {
        facts: {
          audits: [
            {
              batch_id: ID,
              status: 'Completed',
              runs: 2,
              compared: 2,
              differing: 1,
              same_runner: 0,
              sentence: '1 of 2 differs',
            } as EvidenceFacts['audits'][number],
          ],
        },
      },
      limit: /spot check found differences: 1 of 2 differs/,
    },
    {
      name: 'an input that is never read',
      flawed: { facts: { read: new Map([['mass', 'never']]) } },
      limit: /never looked up mass/,
    },
    {
      name: 'an input without effect',
      flawed: { facts: { effects: new Map([['mass', { effect: 'none', probe: ID }]]) } },
      limit: /No output changed with mass/,
    },
    {
      name: 'inputs without a source',
      flawed: { submission: study({ runs: 10, seed: 7 }) },
      limit: /No source is stated for .*mass/,
    },
    {
      name: 'a study that came of another one',
      flawed: { facts: { batch: { ...facts().batch, parent: { batch_id: ID, relation: 'extension' } } } },
      limit: /It is an extension of study/,
    },
    {
      name: 'reused runs',
      flawed: {
        runs: [...times(6, 1), ...times(4, { status: 'Completed', outputs: [['y', 1]], isReused: true })],
        facts: { batch: { ...facts().batch, reused_jobs: 4 } },
      },
      limit: /4 of 10 runs were not executed/,
    },
    { name: 'no coordinator', flawed: { facts: null }, limit: /coordinator was not asked/ },
  ];
  for (const { name, flawed, sound = {}, limit } of FLAWS)
    it(`says it: ${name}`, async () => {
      expect((await reportOf(flawed)).limits.filter((it) => limit.test(it))).to.have.length(1);
      if (flawed !== sound) {
        const without = (await reportOf(Object.keys(flawed).length === 0 ? sound : {})).limits;
        expect(without.filter((it) => limit.test(it))).to.deep.equal([]);
      }
    });

  it('is a page without scripts, with blank fields and every limit', async () => {
    const report = await reportOf();
    const page = evidenceHtml(report, {
      generatedAt: '2026-11-22T12:00:00Z',
      endpoint: 'http://lab:7070',
      version: '1',
    });
    expect(page).not.to.include('<script').and.not.to.include('undefined');
    // Every ± and every bracket has its meaning beside it.
    expect(page).to.match(/±[^<]*: ?95 %|95 % interval/);
    const blanks = report.factors.reduce((sum, it) => sum + it.to_state.length + 1, 0);
    const sourceless = report.inputs.filter(({ source }) => source === null).length;
    expect(page.split('class="blank"')).to.have.length(1 + blanks + sourceless);
    for (const { title } of report.factors) expect(page).to.include(title.replace('&', '&amp;'));
    for (const it of report.limits)
      expect(page).to.include(it.replaceAll('"', '&quot;').replaceAll("'", '&#39;').slice(0, 20));
  });
});
