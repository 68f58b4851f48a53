/** Studies that are judged anew and continued, with the real program: what it prints, what it refuses, and what a repair and an import keep. */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BatchSubmission, Judgement } from '../../../src/contract/types.ts';
import { capabilities } from '../../support/fake-api.ts';
import { post } from '../../support/http.ts';
import { serving, simbatch, type Outcome, type Serving } from '../../support/program.ts';
import { study } from '../../support/studies.ts';

const CLOSE = { name: 'close', output: 'miss_m', condition: '< 50', probability: 0.5, confidence: 0.6 };
const SAFE = { ...CLOSE, name: 'safe', condition: '< 90' };
const UUID = '[0-9a-f-]{36}';

describe('cli: studies that are continued', () => {
  let folder: string;
  let server: Serving;
  let endpoint: string[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-continue-'));
    await serve('data');
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function serve(data: string): Promise<void> {
    server = await serving(['--data-dir', join(folder, data)]);
    endpoint = ['--endpoint', server.url];
    const capable = { ...capabilities, max_concurrent_jobs: 100 };
    await post(`${server.url}/runners`, { id: 'r1', instance: data, capabilities: capable });
    instance = data;
  }
  let instance = '';

  const inFile = async (name: string, value: object): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, JSON.stringify(value));
    return file;
  };
  const command = (...args: string[]): Promise<Outcome> => simbatch([...args, ...endpoint]);
  const submit = async (submission: BatchSubmission, ...options: string[]): Promise<Outcome> =>
    command('submit', await inFile('study.json', submission), '--continue', ...options);
  const created = async (submission: BatchSubmission): Promise<string> => {
    const { stdout, stderr } = await submit(submission);
    return new RegExp(`^submitted \\d+ runs as study (${UUID})$`, 'm').exec(stdout)?.[1] ?? expect.fail(stderr);
  };
  const judgement = async (id: string): Promise<Judgement> =>
    (await (await fetch(`${server.url}/batches/${id}/judgement`)).json()) as Judgement;
  const stated = async (id: string) =>
    (await judgement(id)).requirements.map((it) => [it.name, it.stated_at.runs_ended]);

  /** Executes every run that waits; returns how many there were. */
  async function execute(): Promise<number> {
    const claim = await post(`${server.url}/runners/r1/claims`, { instance, max_jobs: 100 });
    const { assignments } = (await claim.json()) as { assignments: { job: { id: string }; attempt: number }[] };
    for (const { job, attempt } of assignments) {
      const about = { runner_id: 'r1', attempt };
      await post(`${server.url}/jobs/${job.id}/start`, about);
      const result = { execution_time_secs: 1, output_files: [], metadata: { miss_m: 1 } };
      expect((await post(`${server.url}/jobs/${job.id}/complete`, { ...about, result })).status).to.equal(200);
    }
    return assignments.length;
  }

  it('submits, continues, amends, extends and submits anew, and says each time what became of the study', async () => {
    const named = { name: 'landing', runs: 4 };
    const first = await submit(study(named));
    const [, id = ''] = new RegExp(`^submitted 4 runs as study (${UUID})$`, 'm').exec(first.stdout) ?? [];
    expect(first.stderr).to.contain(`study ${id} is new`);
    expect(await execute()).to.equal(4);

    const same = await submit(study(named));
    expect(same.stdout, same.stderr).to.equal(`study ${id} has 4 runs\n`);
    expect(same.stderr).to.contain(`study ${id} is continued: it has 4 runs; nothing is executed`);

    const judged = await submit({ ...study({ ...named, requirements: [CLOSE] }), labels: { campaign: 'q4' } });
    expect(judged.stdout).to.equal(`study ${id} has 4 runs\n`);
    expect(judged.stderr).to.contain(
      `study ${id} is continued: requirements, labels amended; it has 4 runs; nothing is executed`,
    );
    expect(await execute()).to.equal(0);
    expect(await stated(id)).to.deep.equal([['close', 4]]);
    const verdict = await command('verdict', id);
    expect(verdict.stdout, verdict.stderr).to.match(/4 runs/);
    expect(JSON.parse((await command('verdict', id, '-o', 'json')).stdout).requirements[0].stated_at).to.include({
      runs_ended: 4,
    });

    const more = await submit({ ...study({ ...named, runs: 7, requirements: [CLOSE] }), labels: { campaign: 'q4' } });
    const [, extension = ''] =
      new RegExp(`^3 further runs of ${id} submitted as study (${UUID})$`, 'm').exec(more.stdout) ?? [];
    expect(more.stderr).to.contain(`study ${id} is continued: 3 further runs`);
    expect(await execute()).to.equal(3);
    // Before its own runs; the study still says when.
    expect(await stated(extension)).to.deep.equal([['close', 0]]);
    expect(await stated(id)).to.deep.equal([['close', 4]]);

    const fewer = await submit(study({ ...named, runs: 2, maxRetries: 5 }));
    expect(fewer.stderr).to.contain(
      'requirements, labels amended; it has 7 runs, more than the 2 asked for; nothing is executed; it keeps its max_retries',
    );

    const heavier = { dispersions: { mass: { distribution: { type: 'normal', mean: 120, std_dev: 2 } } } } as const;
    const other = await submit(study({ ...named, seed: 43, config: heavier }), '-o', 'json');
    const answer = JSON.parse(other.stdout);
    expect(answer.continuation).to.deep.include({ created: true, previous: id, runs: 4 });
    expect(other.stderr).to.contain(`study ${answer.batch_id} is another study than ${id}; changed: seed, inputs.mass`);
    expect(await execute()).to.equal(4);
  });

  it('amends a study from a file or the standard input, once for each key, and refuses another revision', async () => {
    const id = await created(study({ runs: 2, seed: 7 }));
    const file = await inFile('amendment.json', { requirements: [CLOSE], labels: { campaign: 'a' } });
    const before = await command('amend', id, file);
    expect(before.stdout, before.stderr).to.match(
      new RegExp(
        `^study ${id} has revision 1 of its judgement: 1 requirement, 0 declared outputs, 1 label\n  close: stated before any run had ended, .+\n  labels: campaign=a\n$`,
      ),
    );
    expect(await execute()).to.equal(2);
    const both = await inFile('both.json', { requirements: [CLOSE, SAFE] });
    for (const _ of ['once', 'again']) {
      const after = await command('amend', id, both, '--idempotency-key', `amend-${id}`);
      expect(after.stdout, after.stderr).to.match(/revision 2 of its judgement: 2 requirements/);
      expect(after.stdout).to.match(/^ {2}close: stated before any run had ended/m);
      expect(after.stdout).to.match(/^ {2}safe: stated when 2 runs had ended/m);
    }
    const late = await command('amend', id, file, '--revision', '1');
    expect(late).to.include({ code: 75, stdout: '' });
    expect(late.stderr).to.contain(
      `the judgement of study ${id} has the revision 2, not 1: it was amended meanwhile; read it, and amend that one`,
    );
    expect((await judgement(id)).revision).to.equal(2);
  });

  it('refuses amendments that name something else, in words that name the member and the remedy', async () => {
    const id = await created(study({ runs: 2, seed: 8 }));
    const refused = async (value: object): Promise<Outcome> => {
      const outcome = await command('amend', id, await inFile('bad.json', value));
      expect(outcome).to.deep.include({ stdout: '', code: 65 });
      return outcome;
    };
    expect((await refused(study())).stderr).to.match(
      /bad\.json has the member "name"; an amendment has requirements, outputs, labels alone, and a whole study file is continued by simbatch submit --continue/,
    );
    expect((await refused({})).stderr).to.contain('bad.json has no member');
    expect((await refused({ requirements: [{ ...CLOSE, probability: 2 }] })).stderr).to.match(
      /the coordinator refused the amendment: 1 fault\n\s*\/requirements\/0\/probability is 2; it must be below 1/,
    );
    expect((await refused({ requirements: [CLOSE, CLOSE] })).stderr).to.match(/\/requirements\/1/);
    const stop = await post(`${server.url}/batches/${id}/judgement`, { requirements: [CLOSE], stop_when: 'settled' });
    expect(stop.status).to.equal(422);
    expect(JSON.stringify(await stop.json())).to.contain(
      'the rule by which a study stops is fixed before its first run; submit another study with it',
    );
    const key = await command('submit', join(folder, 'study.json'), '--continue', '--idempotency-key', 'k');
    expect(key).to.include({ code: 64, stdout: '' });
    expect(key.stderr).to.contain('--idempotency-key has no meaning with --continue');
    expect((await command('amend', '0'.repeat(8), await inFile('ok.json', { labels: {} }))).code).to.equal(66);
    expect((await judgement(id)).revision).to.equal(0);
    await execute();
  });

  it('continues by ?continue=true, the same for every repeat and for clients at once', async () => {
    const jobs = (submission: object, query = '?continue=true') => post(`${server.url}/jobs${query}`, submission);
    const submission = study({ runs: 3, seed: 9 });
    const answers = await Promise.all([jobs(submission), jobs(submission), jobs(submission)]);
    const ids = await Promise.all(answers.map(async (it) => ((await it.json()) as { batch_id: string }).batch_id));
    expect(new Set(ids).size).to.equal(1);
    const grown = {
      ...submission,
      config: { ...submission.config, monte_carlo: { ...submission.config.monte_carlo, runs: 5 } },
    };
    const both = await Promise.all([jobs(grown), jobs(grown)]);
    const added = await Promise.all(
      both.map(async (it) => ((await it.json()) as any).continuation.extension?.total_jobs),
    );
    expect(added.filter((it) => it !== undefined)).to.deep.equal([2]);
    expect(await execute()).to.equal(5);
    const plain = (await (await jobs(submission, '')).json()) as { batch_id: string };
    expect(plain.batch_id).to.not.equal(ids[0]);
    expect(plain).to.not.have.property('continuation');
    const bad = await jobs(submission, '?continue=maybe');
    expect(bad.status).to.equal(400);
    expect(JSON.stringify(await bad.json())).to.match(/continue.*maybe/);
    const faulty = await jobs({ ...submission, requirements: [{ ...CLOSE, probability: 2 }] });
    expect(faulty.status).to.equal(422);
    expect((await judgement(ids[0]!)).requirements).to.deep.equal([]);
    await execute();
  });

  it('keeps amendments and finds the study again after a repair, an import and a replay of its export', async () => {
    const submission = study({ runs: 3, seed: 10 });
    const id = await created({ ...submission, requirements: [CLOSE] });
    await execute();
    await submit({ ...submission, requirements: [CLOSE, SAFE] });
    const kept = await judgement(id);
    expect(await stated(id)).to.deep.equal([
      ['close', 0],
      ['safe', 3],
    ]);
    const exported = join(folder, 'export.json');
    expect((await command('snapshot', 'export', exported, '--batch', id)).code).to.equal(0);
    const replay = await simbatch(['snapshot', 'replay', exported]);
    expect(replay.code, replay.stdout + replay.stderr).to.equal(0);
    expect(await server.stop()).to.equal(0);
    const offline = async (...args: string[]): Promise<void> => {
      const { code, stdout, stderr } = await simbatch(args);
      expect(code, stdout + stderr).to.equal(0);
    };
    const at = (name: string): string[] => ['--data-dir', join(folder, name)];
    await offline('verify', ...at('data'));
    await offline('repair', join(folder, 'repaired'), ...at('data'));
    await offline('snapshot', 'import', exported, ...at('imported'));
    for (const data of ['repaired', 'imported']) {
      await offline('verify', ...at(data));
      await serve(data);
      expect(await judgement(id), data).to.deep.equal(kept);
      const again = await submit({ ...submission, requirements: [CLOSE, SAFE] });
      expect(again.stdout, again.stderr).to.equal(`study ${id} has 3 runs\n`);
      expect((await judgement(id)).revision).to.equal(1);
      expect(await server.stop()).to.equal(0);
      await offline('verify', ...at(data));
    }
  });
});
