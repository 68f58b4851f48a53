/** The commands that make a study of another one, and those that change the flow of a study. */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capabilities } from '../../support/fake-api.ts';
import { post } from '../../support/http.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { rareStudy } from '../../support/rounds.ts';
import { study } from '../../support/studies.ts';

describe('cli: studies that grow', () => {
  let folder: string;
  let server: Serving;
  let endpoint: string[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-growth-'));
    server = await serving(['--data-dir', join(folder, 'data')]);
    endpoint = ['--endpoint', server.url];
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const json = async (...args: string[]): Promise<any> => {
    const { code, stdout, stderr } = await simbatch([...args, ...endpoint, '-o', 'json']);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout);
  };

  it('submits labels, lists studies by them, and shows the family of a study', async () => {
    const file = join(folder, 'study.json');
    await writeFile(file, JSON.stringify({ ...study({ runs: 4 }), labels: { team: 'gnc', campaign: 'q3' } }));
    const { batch_id: first } = await json('submit', file, '--label', 'campaign=q4', '--label', 'note=a, b');
    expect((await json('status', first)).batch.labels).to.deep.equal({ team: 'gnc', campaign: 'q4', note: 'a, b' });
    const listed = await json('studies', '--label', 'campaign=q4', '--label', 'note=a, b');
    expect(listed.map((it: { id: string }) => it.id)).to.deep.equal([first]);
    expect(await json('studies', '--label', 'campaign=q4', '--label', 'team=other')).to.deep.equal([]);
    expect((await simbatch(['studies', '--label', 'campaign', ...endpoint])).code).to.equal(64);

    const extended = await simbatch(['extend', first, '--runs', '6', '--name', 'more', ...endpoint]);
    expect(extended.stdout, extended.stderr).to.match(/^2 further runs \(4-5\) of \S+ submitted as study \S+\n$/);
    const { batch_id: rerun } = await json('rerun', first, '--run-ids', '0-1', '--simulation-version', '2');
    const { batch_id: comparison } = await json('compare', first, '--container-image', 'other:1');
    const shown = (await simbatch(['status', first, ...endpoint])).stdout;
    expect(shown).to.match(/^label +campaign=q4$/m);
    expect(shown).to.match(/^has extension +\S+$/m);
    expect(shown).to.match(new RegExp(`^has rerun +${rerun}$`, 'm'));
    expect(shown).to.match(new RegExp(`^has comparison +${comparison}$`, 'm'));
    expect((await simbatch(['status', rerun, ...endpoint])).stdout).to.match(new RegExp(`^rerun of +${first}$`, 'm'));
  });

  it('reaches the studies that were submitted with a study of rare events, and refuses to extend an open one', async () => {
    const file = join(folder, 'rare.json');
    await writeFile(file, JSON.stringify(rareStudy({ studies: 2 })));
    const { studies } = await json('submit', file);
    const [first, second] = studies as [string, string];
    const paused = await simbatch(['pause', first, ...endpoint]);
    expect(paused.stdout).to.equal(`study ${first} is Pending, paused\n`);
    expect(paused.stderr).to.include(`the same holds for study ${second}, which was submitted with it`);
    expect((await json('status', second)).batch.paused).to.equal(true);
    const refused = await simbatch(['extend', first, '--runs', '100', ...endpoint]);
    expect(refused).to.include({ stdout: '' });
    expect(refused.stderr).to.match(/is not extended: study \S+ is Pending, and rounds are appended until its end/);
    const asked = await simbatch(['cancel', first, ...endpoint]);
    expect(asked.stderr).to.match(
      /cancel study \S+ "a study" and 1 study submitted with it: 200 runs that have not ended/i,
    );
    const cancelled = await simbatch(['cancel', first, '--yes', ...endpoint]);
    expect(cancelled.stdout).to.equal(`study ${first} is Cancelled\n`);
    expect(cancelled.stderr).to.include(`study ${second}, which was submitted with it, is cancelled too`);
  });

  it('creates one study for repeated commands with one key, and explains a refusal', async () => {
    const { batch_id: first } = (await (await post(`${server.url}/jobs`, study({ runs: 4 }))).json()) as any;
    const made = await json('extend', first, '--runs', '5', '--idempotency-key', 'again');
    expect(await json('extend', first, '--runs', '5', '--idempotency-key', 'again')).to.deep.equal(made);
    const refused = await simbatch(['rerun', first, '--state', 'Failed,Timeout', ...endpoint]);
    expect(refused).to.include({ code: 65, stdout: '' });
    expect(refused.stderr).to.match(/selects no run: of the 4 runs of the study, none is Failed or Timeout/);
    expect((await simbatch(['extend', first, '--runs', '4', ...endpoint])).stderr).to.match(/give more than 5/);
  });

  it('extracts outputs of finished runs by a file, lists what was extracted, and explains a refusal', async () => {
    const capable = { ...capabilities, max_concurrent_jobs: 4, features: ['histories', 'extraction'] };
    await post(`${server.url}/runners`, { id: 'x', instance: 'i', capabilities: capable });
    const executed = async (metadataOf: (run: number) => object | undefined): Promise<void> => {
      const claim = await post(`${server.url}/runners/x/claims`, { instance: 'i', max_jobs: 4 });
      for (const { job, attempt } of ((await claim.json()) as any).assignments) {
        const about = { runner_id: 'x', attempt };
        const metadata = metadataOf(job.run_config.run_id);
        await post(`${server.url}/jobs/${job.id}/start`, about);
        if (metadata === undefined)
          await post(`${server.url}/jobs/${job.id}/fail`, { ...about, reason: 'files-gone', error_message: 'no file' });
        else {
          const telemetry_data = `/out/${job.batch_id}/${String(job.run_config.run_id).padStart(8, '0')}/attempt-1/telemetry.parquet`;
          const result = { execution_time_secs: 1, output_files: [], metadata, telemetry_data };
          await post(`${server.url}/jobs/${job.id}/complete`, { ...about, result });
        }
      }
    };
    const { batch_id: first } = (await (
      await post(`${server.url}/jobs`, { ...study({ runs: 3 }), policy: { priority: 9 } })
    ).json()) as any;
    await executed((run) => ({ miss: run }));
    const none = await simbatch(['extract', first, ...endpoint]);
    expect([none.code, none.stderr]).to.deep.equal([
      0,
      'nothing was extracted of this study: ask with --derived, --histories or --with\n',
    ]);

    const file = join(folder, 'peaks.yaml');
    await writeFile(file, 'name: high\nderived:\n  - { name: peak, take: max, telemetry: z }\n');
    const started = await simbatch(['extract', first, '--derived', file, '--where', 'outputs.miss >= 1', ...endpoint]);
    expect(started.stdout, started.stderr).to.match(/^high of 2 runs of \S+ submitted as study \S+\n$/);
    expect(started.stderr).to.match(/^warning: the study has stored at most 10 samples per second/m);
    await executed((run) => (run === 2 ? undefined : { peak: 7 }));
    const { stdout } = await simbatch(['extract', first, ...endpoint]);
    expect(stdout)
      .to.match(/^high +\S+ +Completed +2 +1 +1$/m)
      .and.match(/^high: nothing of 1 run \(2\): no file$/m);
    const { rows, warnings } = await json('table', first, '--columns', 'run_id,outputs.high.peak');
    expect(rows.map((it: any) => it['outputs.high.peak'])).to.deep.equal([null, 7, null]);
    expect(warnings.map((it: any) => it.message)).to.include('high: nothing of 1 run (2): no file');

    const list = join(folder, 'curves.json');
    await writeFile(list, JSON.stringify([{ variable: 'z', at: { points: [0, 1] } }]));
    expect(await json('extract', first, '--histories', list, '--run-ids', '0')).to.include({
      name: 'x1',
      total_jobs: 1,
    });
    const again = await simbatch(['extract', first, '--derived', file, ...endpoint]);
    expect([again.code, again.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 65 && text.includes('choose another one'),
    );
    await writeFile(file, 'outputs: []\n');
    expect((await simbatch(['extract', first, '--derived', file, ...endpoint])).stderr).to.match(
      /has the member "outputs"/,
    );
    await writeFile(file, 'derived: [\n');
    expect((await simbatch(['extract', first, '--derived', file, ...endpoint])).code).to.equal(65);
  });

  it('audits a study on another runner, and exits with 4 when a run differs', async () => {
    const capable = { ...capabilities, max_concurrent_jobs: 4 };
    const register = (id: string) => post(`${server.url}/runners`, { id, instance: 'i', capabilities: capable });
    const complete = async (id: string, miss: number, count: number): Promise<void> => {
      const claim = await post(`${server.url}/runners/${id}/claims`, { instance: 'i', max_jobs: count });
      const { assignments } = (await claim.json()) as any;
      expect(assignments).to.have.length(count);
      for (const { job, attempt } of assignments) {
        const about = { runner_id: id, attempt };
        await post(`${server.url}/jobs/${job.id}/start`, about);
        const result = { execution_time_secs: 1, output_files: [], metadata: { miss_m: miss } };
        await post(`${server.url}/jobs/${job.id}/complete`, { ...about, result });
      }
    };
    const requirements = [{ name: 'near', output: 'miss_m', condition: '< 5', probability: 0.9, confidence: 0.9 }];
    const submission = study({ runs: 3, policy: { priority: 9 }, requirements });
    const { batch_id: first } = (await (await post(`${server.url}/jobs`, submission)).json()) as any;
    await register('lab-1');
    await complete('lab-1', 1, 3);
    expect((await simbatch(['audit', first, ...endpoint])).code, 'no audit yet').to.equal(64);
    await register('lab-2');
    const started = await simbatch(['audit', first, '--fraction', '1', '--seed', '7', ...endpoint]);
    expect(started.stdout, started.stderr).to.match(
      /^3 runs of \S+ drawn with seed 7, submitted again as study \S+\n$/,
    );
    await complete('lab-2', 2, 3);
    const shown = await simbatch(['audit', first, ...endpoint]);
    expect(shown.code).to.equal(4);
    expect(shown.stdout).to.match(/^3 of 3 runs compared give other outputs \(on another runner\)\n/);
    expect(shown.stdout).to.match(/^ +0 +ok +lab-1 -> lab-2 +miss_m/m);
    expect(shown.stdout).to.match(/^lab-1 -> lab-2: 3 of 3 differ$/m);
    const latest = (await json('studies')).at(-1).id as string;
    const again = await simbatch(['audit', latest, '-o', 'json', ...endpoint]);
    expect(JSON.parse(again.stdout)).to.include({ audited: first, differing: 3, same_runner: 0 });
    const watched = await simbatch(['watch', latest, ...endpoint]);
    expect(watched.code, watched.stderr).to.equal(4);
    expect(watched.stdout)
      .to.match(/^3 of 3 runs compared give other outputs/m)
      .and.not.match(/near|Not enough runs/);
  });

  it('pauses, resumes and releases a study, and resumes a runner by the same command', async () => {
    const policy = { canary_runs: 1 };
    const { batch_id: batch } = (await (await post(`${server.url}/jobs`, study({ runs: 4, policy }))).json()) as any;
    const paused = await simbatch(['pause', batch, '--reason', 'a look', ...endpoint]);
    expect(paused.stdout).to.equal(`study ${batch} is Pending, paused: a look\n`);
    expect((await simbatch(['status', batch, ...endpoint])).stdout).to.match(/^paused +a look$/m);
    expect((await simbatch(['resume', 'latest', ...endpoint])).stdout).to.equal(`study ${batch} is Pending\n`);
    expect(await json('release', batch, '--reason', 'known')).to.include({ release_reason: 'known' });
    await post(`${server.url}/runners`, { id: 'cafe1', instance: 'i', capabilities });
    expect((await json('drain', 'cafe1')).status).to.equal('Maintenance');
    expect((await json('resume', 'cafe1')).status).to.equal('Idle');
    expect((await simbatch(['resume', 'no-such-runner', ...endpoint])).code).to.equal(66);
    expect((await simbatch(['cancel', batch, '--yes', ...endpoint])).code).to.equal(0);
    expect((await simbatch(['pause', batch, ...endpoint])).code, 'ended').to.equal(75);
  });
});
