/** A study whose simulation is replaced between two runs, with a real coordinator and a real runner: cold, warm, pinned. */
import type { ChildProcess } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../../../../src/client/client.ts';
import type { JobResult, Runner } from '../../../../src/client/client.ts';
import type { BatchSubmission } from '../../../../src/contract/types.ts';
import { serving } from '../../../support/program.ts';
import { pythonFault } from '../../../support/runner-modes.ts';
import { Site } from '../../../support/runner-process.ts';
import { study } from '../../../support/studies.ts';
import { CodeFolder } from './looked.ts';

const RUNS = 40;
const BEFORE = 20;

/** Each run says in its metadata which version executed it. */
const PYTHON = (version: number): string => `
import json, os
with open(os.environ["SVC_RUN_CONFIG"]) as file:
    run = json.load(file)["run_id"]
with open(os.path.join(os.environ["SVC_OUTPUT_DIR"], "metadata.json"), "w") as file:
    json.dump({"version": ${version}, "run_id": run}, file)
`;
const NODE = (version: number): string => `
const { readFileSync, writeFileSync } = require('node:fs');
const { run_id } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
writeFileSync(process.env.SVC_OUTPUT_DIR + '/metadata.json', JSON.stringify({ version: ${version}, run_id }));
`;

const MODES = [
  { name: 'cold Python', file: 'sim.py', text: PYTHON, args: [] },
  { name: 'a warm Python', file: 'sim.py', text: PYTHON, args: ['--warm'] },
  { name: 'a Node that waits', file: 'sim.cjs', text: NODE, args: ['--warm'] },
];

describe('runner/code: a study whose simulation is replaced', function () {
  // Many processes on a machine that may be busy.
  this.timeout(900_000);
  let site: Site;
  let code: CodeFolder;
  let coordinator: ChildProcess;
  let client: Client;
  before(function () {
    if (pythonFault() !== undefined) return this.skip();
  });
  beforeEach(async () => {
    site = new Site();
    code = new CodeFolder();
    const started = await serving(['--data-dir', join(site.folder, 'data')]);
    coordinator = started.child;
    client = new Client({ endpoint: started.url });
  });
  afterEach(async () => {
    coordinator?.kill('SIGKILL');
    await site?.clean();
    code?.remove();
  });

  const start = (file: string, args: readonly string[]): void => {
    const entrypoint = join(code.folder, 'sim', file);
    site.start(client.endpoint, ['--entrypoint', entrypoint, '--max-concurrent-jobs', '1', ...args]);
  };

  /** Replaces the simulation as an editor does, while nothing runs. */
  function replace(file: string, text: string): void {
    writeFileSync(join(code.folder, 'sim', 'next'), text);
    renameSync(join(code.folder, 'sim', 'next'), join(code.folder, 'sim', file));
  }

  async function until<T>(what: string, read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
    for (let tries = 0; ; tries++) {
      const value = await read();
      if (holds(value)) return value;
      if (tries > 8_000) throw new Error(`${what}: ${JSON.stringify(value)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  const completed = (batchId: string, count: number): Promise<unknown> =>
    until(
      `${String(count)} runs`,
      () => client.batch(batchId),
      (it) => it.batch.completed_jobs >= count,
    );

  /** Pauses the study when so many runs have completed, replaces the code, and resumes it. */
  async function replaceBetween(batchId: string, file: string, text: string): Promise<number> {
    await completed(batchId, BEFORE - 5);
    await client.pauseBatch(batchId);
    const paused = await until(
      'no active run',
      () => client.batch(batchId),
      (it) => it.jobs_by_status.Running + it.jobs_by_status.Claimed === 0,
    );
    replace(file, text);
    await client.resumeBatch(batchId);
    return paused.batch.completed_jobs;
  }

  async function resultsOf(batchId: string): Promise<JobResult[]> {
    const results: JobResult[] = [];
    for await (const it of client.batchResults(batchId)) results.push(it);
    return results;
  }

  for (const { name, file, text, args } of MODES) {
    it(`reports both versions with their commits, and each run has its own: ${name}`, async () => {
      code.write({ [`sim/${file}`]: text(1) });
      code.git('sim', 'init', '--quiet');
      const commit = code.commit('sim');
      start(file, args);
      const { batch_id: id } = await client.submit(study({ runs: RUNS, seed: 1 }));
      const before = await replaceBetween(id, file, text(2));
      await completed(id, RUNS);
      const versions = await client.analysis.codeVersions(id);
      expect(
        versions.map((it) => [it.kind, it.git?.commit, it.git?.dirty, it.runs, it.first_run_id, it.runners]),
      ).to.deep.equal([
        ['entrypoint', commit, false, before, 0, ['r1']],
        ['entrypoint', commit, true, RUNS - before, before, ['r1']],
      ]);
      const names = versions.map(({ digest }) => digest?.slice(0, 12));
      // The result of a run names the version that it executed.
      for (const { metadata, code: own } of await resultsOf(id))
        expect(own).to.equal(names[Number(metadata['version']) - 1]);
      const [finding] = (await client.findings(id)).filter((it) => it.code === 'code-changed');
      expect(finding?.severity).to.equal('warning');
      for (const it of names) expect(finding?.message).to.include(it);
      expect(finding?.message).to.include(commit.slice(0, 7));
      const page = await client.analysis.tablePage(id, {
        columns: ['run_id', 'code'],
        where: `code = '${names[1] ?? ''}'`,
      });
      expect(page.table.rows.length).to.equal(RUNS - before);
      const [job] = (await client.jobsPage({ batch_id: [id], run_id: [RUNS - 1] })).items;
      const { attempts } = await client.jobHistory(job?.id ?? '');
      expect(attempts.map((it) => it.code)).to.deep.equal([names[1]]);
    });

    it(`executes no run with another code than the pinned one, says who is left out, and continues with it: ${name}`, async () => {
      code.write({ [`sim/${file}`]: text(1) });
      start(file, args);
      const pinned: BatchSubmission = { ...study({ runs: RUNS, seed: 1 }), policy: { code: 'pin' } };
      const { batch_id: id } = await client.submit(pinned);
      const before = await replaceBetween(id, file, text(2));
      const [finding] = await until(
        'the finding',
        async () => (await client.findings(id)).filter((it) => it.code === 'code-differs'),
        (it) => it.length > 0,
      );
      expect(finding).to.deep.include({ severity: 'blocked', runners: ['r1'] });
      expect((await client.batch(id)).batch.completed_jobs).to.equal(before);
      replace(file, text(1));
      await completed(id, RUNS);
      expect((await client.analysis.codeVersions(id)).map(({ runs }) => runs)).to.deep.equal([RUNS]);
      expect((await resultsOf(id)).map((it) => it.metadata['version'])).to.deep.equal(
        Array.from({ length: RUNS }, () => 1),
      );
    });
  }

  it('states the code of its engines when it registers and when it claims', async () => {
    code.write({ 'sim/sim.py': PYTHON(1) });
    start('sim.py', []);
    const digestOf = ({ engines }: Runner): string | undefined => engines?.[0]?.code?.digest;
    const registered = await until(
      'a runner',
      async () => (await client.runners()).runners[0],
      (it) => it !== undefined,
    );
    expect(registered?.engines?.map(({ name }) => name)).to.deep.equal(['*']);
    const { digest } = await code.identity('sim/sim.py');
    expect(registered && digestOf(registered)).to.equal(digest);
    replace('sim.py', PYTHON(2));
    const { batch_id: id } = await client.submit(study({ runs: 3, seed: 1 }));
    await completed(id, 3);
    const changed = await code.identity('sim/sim.py');
    await until(
      'its new code',
      () => client.runner('r1'),
      (it) => digestOf(it) === changed.digest,
    );
  });
});
