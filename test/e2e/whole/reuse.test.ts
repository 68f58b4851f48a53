/** Studies that take results of finished runs, with a real coordinator, which is killed, and a real runner: executed runs are counted by the simulation. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client, type JobResult } from '../../../src/client/client.ts';
import { serving } from '../../support/program.ts';
import { simbatch } from '../../support/program.ts';
import { awkSimulation } from '../../support/simulations/awk.ts';
import { Site } from '../../support/runner-process.ts';
import { study, type StudyOptions } from '../../support/studies.ts';

const REUSE: StudyOptions = { policy: { reuse: 'all' } };
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

describe('e2e/whole: reuse', () => {
  let site: Site;
  let coordinator: ChildProcess;
  let port = '0';
  let client: Client;
  before(async () => {
    site = new Site();
    mkdirSync(join(site.folder, 'sim'));
    await startCoordinator();
    client = new Client({ endpoint: `http://127.0.0.1:${port}` });
    replaceProgram(1);
    site.startApart('r1', client.endpoint, ['--entrypoint', join(site.folder, 'sim', 'sim.sh')]);
  });
  after(async () => {
    coordinator?.kill('SIGKILL');
    await site?.clean();
  });

  async function startCoordinator(): Promise<void> {
    ({ child: coordinator, port } = await serving(['--data-dir', join(site.folder, 'data'), '--port', port]));
  }

  async function killCoordinator(): Promise<void> {
    coordinator.kill('SIGKILL');
    await once(coordinator, 'exit');
    await startCoordinator();
  }

  /** A model of 17 digits, which counts its executions in a file outside the code; the versions have the same name and length. */
  function replaceProgram(version: number): void {
    const next = join(site.folder, 'sim', 'next');
    const model = `sin(number("mass")) * exp(number("wind")) / ${version}`;
    const script = awkSimulation(`{"miss":%.17g,"version":${version}}`, model, join(site.folder, 'executed'));
    writeFileSync(next, script, { mode: 0o755 });
    renameSync(next, join(site.folder, 'sim', 'sim.sh'));
  }

  const executions = (): number[] => {
    const file = join(site.folder, 'executed');
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8').trim().split('\n').map(Number);
  };

  async function until(batchId: string, count: number): Promise<void> {
    for (let tries = 0; ; tries++) {
      const { batch } = await client.batch(batchId);
      if (batch.completed_jobs >= count) return;
      expect(batch.failed_jobs, 'failed runs').to.equal(0);
      if (tries > 4_000) throw new Error(`${batch.completed_jobs} of ${count} runs have completed`);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  }

  /** Lets a study end. Returns the runs that were executed meanwhile, in order. */
  async function finish(batchId: string, count: number, meanwhile = async (): Promise<void> => {}): Promise<number[]> {
    const before = executions().length;
    await meanwhile();
    await until(batchId, count);
    return executions()
      .slice(before)
      .sort((a, b) => a - b);
  }

  const submit = async (name: string, runs: number, options: StudyOptions = {}): Promise<string> =>
    (await client.submit(study({ name, runs, seed: 7, timeoutSecs: 0, ...options }))).batch_id;

  async function resultsOf(batchId: string): Promise<object[]> {
    const results: JobResult[] = [];
    for await (const it of client.batchResults(batchId)) results.push(it);
    return results.map(({ metadata, code }) => ({ metadata, code }));
  }
  const reusedOf = async (batchId: string): Promise<number | undefined> =>
    (await client.batch(batchId)).batch.reused_jobs;

  let [first, second, control, audit] = ['', '', '', ''];

  it('executes the 60 further runs of 160 alone, also over the kill of the coordinator, with the results of 160 executed ones to the bit', async () => {
    first = await submit('first', 100);
    expect(await finish(first, 100)).to.deep.equal(range(0, 100));
    second = await submit('second', 160, REUSE);
    const executed = await finish(second, 160, async () => {
      await until(second, 40);
      await killCoordinator();
    });
    // A run that was running when the coordinator died is not executed again: its runner reports it.
    expect(executed).to.deep.equal(range(100, 160));
    expect(await reusedOf(second)).to.equal(100);
    control = await submit('control', 160);
    expect(await finish(control, 160)).to.deep.equal(range(0, 160));
    expect(await reusedOf(control)).to.equal(undefined);
    expect(await resultsOf(second)).to.deep.equal(await resultsOf(control));
    await killCoordinator();
    const third = await submit('third', 160, REUSE);
    expect(await finish(third, 160)).to.deep.equal([]);
    expect(await resultsOf(third)).to.deep.equal(await resultsOf(control));
  });

  it('says it in the first line of the answer, in the command line, and about a file of its runs', async () => {
    const said = '100 of 160 runs were not executed: they have the results of earlier runs';
    expect((await client.analysis.ask('answer', second)).sentence).to.equal(`OK: all 160 runs completed. ${said}.`);
    const lines = async (...args: string[]): Promise<string[]> => {
      const { code, stdout, stderr } = await simbatch(args);
      expect(code, stderr).to.equal(0);
      return stdout.split('\n');
    };
    const used = 'statistics of 160 of 160 runs (100 reused)';
    const [line] = await lines('summary', second, '--endpoint', client.endpoint);
    expect(line).to.equal(`OK: all 160 runs completed. ${said}.`);
    const file = join(site.folder, 'runs.parquet');
    await lines('table', second, '--file', file, '--endpoint', client.endpoint);
    expect(await lines('summary', '--from', file)).to.include(used);
  });

  it('compares a drawn part of the runs that were not executed with another execution', async () => {
    ({ batch_id: audit } = await client.auditBatch(second, { fraction: 0.1, reused: true }));
    const executed = await finish(audit, 10);
    expect(executed).to.have.lengthOf(10);
    expect(
      executed.every((it) => it < 100),
      'a run that was executed is drawn',
    ).to.equal(true);
    expect(await client.auditAnswer(audit)).to.include({ runs: 10, compared: 10, differing: 0 });
  });

  it('takes no result of a program with the same name, version and length and other bytes', async () => {
    replaceProgram(2);
    const changed = await submit('changed', 160, REUSE);
    expect(await finish(changed, 160)).to.deep.equal(range(0, 160));
    expect((await resultsOf(changed)).every((it) => JSON.stringify(it).includes('"version":2'))).to.equal(true);
    expect(await reusedOf(changed)).to.equal(undefined);
    replaceProgram(1);
    const back = await submit('back', 160, REUSE);
    expect(await finish(back, 160)).to.deep.equal([]);
    expect(await resultsOf(back)).to.deep.equal(await resultsOf(control));
  });

  it('takes no result of a deleted study', async () => {
    const kept = await resultsOf(second);
    // Ten runs of the first study were executed by the audit, too.
    for (const it of [first, control, audit]) await client.deleteBatch(it);
    const later = await submit('later', 160, REUSE);
    // Runs 100 to 159 were executed in the second study, which is still there.
    expect(await finish(later, 160)).to.deep.equal(range(0, 100));
    expect(await resultsOf(later)).to.deep.equal(kept);
    expect(await resultsOf(second)).to.deep.equal(kept);
  });
});
