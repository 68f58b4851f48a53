/** A study on a warm runner with the real coordinator, while its runner, forkservers and simulations are killed. */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../../../src/client/client.ts';
import type { JobResult } from '../../../../src/client/client.ts';
import { serving } from '../../../support/program.ts';
import { pythonFault } from '../../../support/runner-modes.ts';
import { lives, Site } from '../../../support/runner-process.ts';
import { study } from '../../../support/studies.ts';

const RUNS = 60;
const SIMULATION = `
import json, os, time
with open(os.environ["SVC_RUN_CONFIG"]) as file: run = json.load(file)
time.sleep(0.05)
with open(os.path.join(os.environ["SVC_OUTPUT_DIR"], "metadata.json"), "w") as file:
    json.dump({"run_id": run["run_id"], "doubled": run["parameters"]["mass"] * 2}, file)
`;

/** Living processes with this parent. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent && lives(pid);
      } catch {
        return false;
      }
    });
}

describe('runner/launch: kills under a warm study', function () {
  let site: Site;
  let coordinator: ChildProcess | undefined;
  before(function () {
    if (pythonFault() !== undefined || !readdirSync('/proc').includes('self')) return this.skip();
  });
  beforeEach(() => {
    site = new Site();
  });
  afterEach(async () => {
    coordinator?.kill('SIGKILL');
    await site.clean();
  });

  it('no run is lost or doubled when the runner, the forkserver and simulations are killed', async () => {
    const started = await serving(['--data-dir', join(site.folder, 'data')]);
    coordinator = started.child;
    const url = started.url;
    const client = new Client({ endpoint: url });
    const entrypoint = join(site.folder, 'sim.py');
    writeFileSync(entrypoint, SIMULATION);
    const start = () => site.start(url, ['--warm', '--entrypoint', entrypoint, '--max-concurrent-jobs', '3']);
    let runner = start();
    const submitted = study({ runs: RUNS });
    const { batch_id } = await client.submit(submitted);
    const completed = async () => (await client.batch(batch_id)).batch.completed_jobs;
    const until = async (count: number) => {
      while ((await completed()) < count) await pause(10);
    };
    const forkserver = async (): Promise<number> => {
      for (;;) {
        const [pid] = childrenOf(runner.process.pid ?? 0);
        if (pid !== undefined) return pid;
        await pause(5);
      }
    };
    const everKilled: number[] = [];
    const kill = (pid: number | undefined): void => {
      if (pid === undefined) return;
      everKilled.push(pid);
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself meanwhile.
      }
    };
    for (const goal of [4, 16, 28]) {
      await until(goal);
      kill(childrenOf(await forkserver())[0]);
      await until(goal + 4);
      const server = await forkserver();
      const runs = childrenOf(server);
      kill(server);
      await until(goal + 8);
      // The forkserver's runs did not outlive it.
      expect(runs.filter(lives)).to.deep.equal([]);
    }
    const server = await forkserver();
    everKilled.push(server, ...childrenOf(server));
    await runner.end('SIGKILL');
    while (lives(server)) await pause(5);
    runner = start();
    await until(RUNS);
    const { batch, jobs_by_status } = await client.batch(batch_id);
    expect(batch).to.include({ status: 'Completed', completed_jobs: RUNS, failed_jobs: 0 });
    expect(jobs_by_status).to.include({ Completed: RUNS, Pending: 0, Running: 0 });
    const results: JobResult[] = [];
    for await (const result of client.batchResults(batch_id)) results.push(result);
    const runs = results.map((it) => Number(it.metadata['run_id'])).toSorted((a, b) => a - b);
    expect(runs).to.deep.equal(Array.from({ length: RUNS }, (_, run) => run));
    let retries = 0;
    for await (const job of client.jobs({ batch_id: [batch_id] })) {
      retries += job.retries;
      const result = results.find((it) => it.metadata['run_id'] === job.run_config.run_id);
      expect(result?.metadata['doubled']).to.equal(2 * Number(job.run_config.parameters['mass']));
    }
    // A killed simulation has failed by a signal; a killed forkserver or runner uses up no retry.
    expect(retries).to.be.at.most(3);
    expect(await runner.end('SIGTERM')).to.equal(0);
    expect(everKilled.filter(lives)).to.deep.equal([]);
  });
});
