/** Canary studies with the real program: a coordinator, which is killed, a runner, and simulations of which the nominal run or a corner fails. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BatchSubmission, Uuid } from '../../../src/contract/types.ts';
import { shortId } from '../../../src/domain/ids.ts';
import { simbatch, type Outcome } from '../../support/program.ts';
import { Site as Runners } from '../../support/runner-process.ts';
import { study, type StudyOptions } from '../../support/studies.ts';
import { Site, until } from '../support.ts';

const MOST_MS = 120_000;
const NEAR = { name: 'near', output: 'miss', condition: '< 1000', probability: 0.5, confidence: 0.5 };

/** The version of the simulation says how it behaves. It notes each execution, and `waits` until the file `go` is there. */
const simulation = (folder: string): string => `
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const { parameters: { mass, wind }, metadata: { simulation_version: version } } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
appendFileSync(${JSON.stringify(join(folder, 'executed'))}, wind + '\\n');
const fail = (why) => { console.error(why); process.exit(3); };
if (version === 'broken') fail('drag.csv does not exist');
if (version === 'light' && mass < 96) fail('the mass is too low');
const end = () => writeFileSync(process.env.SVC_OUTPUT_DIR + '/metadata.json', JSON.stringify({ miss: mass + wind }));
const look = () => (existsSync(${JSON.stringify(join(folder, 'go'))}) ? end() : setTimeout(look, 20));
if (version === 'waits') look();
else end();
`;

describe('e2e/inputs: canary studies', () => {
  let site: Site;
  let runners: Runners;
  before(async () => {
    site = new Site();
    runners = new Runners();
    await site.start();
    mkdirSync(join(runners.folder, 'sim'));
    const entrypoint = join(runners.folder, 'sim', 'sim.cjs');
    writeFileSync(entrypoint, simulation(runners.folder));
    runners.startApart('r1', site.url, ['--entrypoint', entrypoint]);
  });
  after(async () => {
    await runners?.clean();
    await site?.clean();
  });

  const executed = (): string[] => {
    const file = join(runners.folder, 'executed');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  };
  const command = (...args: string[]): Promise<Outcome> => simbatch([...args, '--endpoint', site.url]);
  const guarded = (version: string, canary: 'nominal' | 'corners', more: StudyOptions = {}): BatchSubmission =>
    study({
      runs: 4,
      maxRetries: 0,
      requirements: [NEAR],
      ...more,
      policy: { canary, ...more.policy },
      config: { simulation: { version } },
    });
  const submitted = async (submission: BatchSubmission): Promise<[batch: Uuid, canary: Uuid]> => {
    const { batch_id: batch } = await site.client().submit(submission);
    return [batch, await canaryOf(batch)];
  };
  const canaryOf = async (batch: Uuid): Promise<Uuid> =>
    (await site.client().batch(batch)).batch.children!.find(({ relation }) => relation === 'probe')!.batch_id;
  const untilEnded = (batch: Uuid): Promise<void> =>
    until(async () => (await site.client().batch(batch)).batch.ended_at !== undefined, undefined, MOST_MS);
  const untilFailed = (batch: Uuid): Promise<void> =>
    until(async () => (await site.client().batch(batch)).batch.canary_failed === true, undefined, MOST_MS);

  it('executes the nominal run and the corners first, then the study, whose table and verdict have its own runs alone', async () => {
    const [batch, canary] = await submitted(guarded('good', 'corners'));
    await untilEnded(batch);
    const winds = executed();
    expect(winds).to.have.length(7);
    expect(new Set(winds.slice(0, 3))).to.deep.equal(new Set(['0', '-4.9', '4.9']));
    const status = await command('status', batch);
    expect(status.stdout).to.match(/^OK: /).and.to.contain(`has canary study  ${canary}`);
    expect(status.stdout).to.match(/canary-passed$/m);
    expect((await command('status', canary)).stdout).to.match(new RegExp(`^canary study of +${batch}$`, 'm'));
    const verdict = await command('verdict', batch);
    expect(verdict.code, verdict.stdout).to.equal(0);
    expect((await command('table', batch, '-o', 'csv')).stdout.trim().split('\n')).to.have.length(5);
  });

  for (const [version, canary, role, error, count] of [
    ['broken', 'nominal', 'every input at its median', 'drag.csv does not exist', 1],
    ['light', 'corners', 'all inputs low', 'the mass is too low', 3],
  ] as const)
    it(`starts no run after the run with ${role} has failed, and says why and what to do until a release`, async () => {
      const before = executed().length;
      const submission = guarded(version, canary);
      const [batch, canaryId] = await submitted(submission);
      await untilFailed(batch);
      const sentence = `Blocked: the canary run with ${role} has failed: ${error}; 4 runs must wait.`;
      const remedy = `see why with \`simbatch status ${shortId(canaryId)}\`; then cancel the study, correct the cause and submit a new one, or release its runs with \`simbatch release ${shortId(batch)}\``;
      const status = await command('status', batch);
      expect(status.stdout.split('\n')[0]).to.equal(sentence);
      expect(status.stdout).to.contain(`  -> ${remedy}`);
      const verdict = await command('verdict', batch);
      expect(verdict.code).to.equal(5);
      expect(verdict.stdout.split('\n').slice(0, 4)).to.deep.equal([
        sentence,
        `Show the canary study: simbatch status ${shortId(canaryId)}`,
        `Release the other runs: simbatch release ${shortId(batch)}`,
        `Cancel the study: simbatch cancel ${shortId(batch)}`,
      ]);
      expect((await command('status', canaryId)).stdout).to.contain(error);
      expect(executed(), 'executed').to.have.length(before + count);
      for (const name of ['watch', 'wait']) {
        const ended = await command(name, batch);
        expect(ended.code, name).to.equal(2);
        const lines = ended.stdout.trim().split('\n');
        expect(lines[0], name).to.equal(sentence);
        if (name === 'watch') expect(lines.at(-1)).to.equal(sentence);
        expect(ended.stdout).to.contain(`${submission.name}: Pending, its canary has failed - 4 Pending`);
      }
      expect((await command('release', batch, '--reason', 'the others are enough')).code).to.equal(0);
      expect((await command('watch', batch)).code).to.equal(version === 'broken' ? 2 : 0);
      expect(executed()).to.have.length(before + count + 4);
    });

  it('is not undone by kills of the coordinator while it runs, when it has ended, and when it is cancelled', async () => {
    const [batch] = await submitted(guarded('waits', 'corners'));
    const before = executed().length;
    await until(() => executed().length >= before + 3, undefined, MOST_MS);
    await site.kill();
    await site.start();
    expect((await command('status', batch)).stdout).to.contain('4 runs must wait until every run of the canary study');
    expect((await command('pause', batch)).code).to.equal(0);
    await site.kill();
    appendFileSync(join(runners.folder, 'go'), '');
    await site.start();
    await untilEnded(await canaryOf(batch));
    await site.kill();
    await site.start();
    expect((await command('status', batch)).stdout)
      .to.match(/Blocked: the study is paused/)
      .and.match(/canary-passed$/m);
    expect((await command('resume', batch)).code).to.equal(0);
    await untilEnded(batch);
    expect((await site.client().batch(batch)).jobs_by_status).to.include({ Completed: 4 });
    const [failing] = await submitted(guarded('broken', 'nominal'));
    await untilFailed(failing);
    await site.kill();
    await site.start();
    expect((await site.client().batch(failing)).batch).to.include({ status: 'Pending', canary_failed: true });
    expect((await command('cancel', failing, '--yes')).code).to.equal(0);
    expect((await site.client().batch(failing)).batch.status).to.equal('Cancelled');
  });

  it('is made anew where a study is continued with more runs; reuse and audits take none of its runs', async () => {
    const submission = { ...guarded('again', 'corners', { policy: { reuse: 'all' }, seed: 5 }) };
    const file = join(runners.folder, 'study.json');
    const submit = async (runs: number): Promise<Outcome> => {
      submission.config.monte_carlo.runs = runs;
      writeFileSync(file, JSON.stringify(submission));
      return command('submit', file, '--continue');
    };
    const idIn = ({ stdout }: Outcome): Uuid => /as study (\S+)$/m.exec(stdout)![1]!;
    const before = executed().length;
    const first = idIn(await submit(3));
    await untilEnded(first);
    expect(executed()).to.have.length(before + 6);
    expect((await submit(3)).stderr).to.contain('it has 3 runs; nothing is executed');
    const more = idIn(await submit(5));
    await untilEnded(more);
    expect(executed(), 'three canary runs and the two further ones').to.have.length(before + 11);
    expect((await site.client().batch(await canaryOf(more))).batch).to.include({ total_jobs: 3, status: 'Completed' });
    const [again] = await submitted({ ...submission, name: 'the same once more' });
    await untilEnded(again);
    expect((await site.client().batch(again)).batch).to.include({ reused_jobs: 5 });
    expect(executed(), 'canary runs are executed').to.have.length(before + 14);
    const audit = await command('audit', first, '--fraction', '1', '-o', 'json');
    const audited = (JSON.parse(audit.stdout) as { batch_id: Uuid }).batch_id;
    await untilEnded(audited);
    expect((await site.client().batch(audited)).batch).to.not.have.property('children');
    expect(executed()).to.have.length(before + 17);
  });

  it('is kept by verify, repair, export and import while it is open', async () => {
    const other = new Site();
    try {
      await other.start();
      const { batch_id: batch } = await other.client().submit(guarded('good', 'corners'));
      const { children } = (await other.client().batch(batch)).batch;
      const file = join(other.folder, 'export.json');
      const run = async (...args: string[]): Promise<void> => {
        const { code, stdout, stderr } = await simbatch(args);
        expect(code, stdout + stderr).to.equal(0);
      };
      await run('snapshot', 'export', file, '--endpoint', other.url);
      await other.kill('SIGTERM');
      await run('verify', '--data-dir', other.dataDir);
      await run('repair', join(other.folder, 'repaired'), '--data-dir', other.dataDir);
      await run('snapshot', 'import', file, '--data-dir', join(other.folder, 'imported'));
      for (const name of ['repaired', 'imported']) {
        await run('verify', '--data-dir', join(other.folder, name));
        const copy = new Site(join(other.folder, name));
        try {
          await copy.start();
          const { batch: found } = await copy.client().batch(batch);
          expect(found).to.include({ status: 'Pending' }).and.not.have.property('canary_failed');
          expect(found.children).to.deep.equal(children);
          const [finding] = await copy.client().findings(batch);
          expect(finding).to.include({ code: 'no-runner' });
        } finally {
          await copy.clean();
        }
      }
    } finally {
      await other.clean();
    }
  });
});
