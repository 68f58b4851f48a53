import { expect } from 'chai';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../../src/client/client.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { openStore } from '../../src/coordinator/kernel/storage/open-store.ts';
import { systemClock } from '../../src/base/clock.ts';
import { commandHere } from '../support/command-here.ts';
import { capabilities } from '../support/fake-api.ts';
import { listen, type TestServer } from '../support/http.ts';
import type { Outcome } from '../support/program.ts';
import { study } from '../support/studies.ts';

const simbatch = (...args: string[]): Promise<Outcome & { code: number }> => commandHere('snapshot', ...args);

describe('simbatch snapshot', () => {
  let folder: string;
  let coordinator: Coordinator;
  let server: TestServer;
  let first: string;
  const file = (name: string): string => join(folder, name);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-snapshot-'));
    coordinator = await openCoordinator(await openStore(file('data')), systemClock);
    server = await listen({ coordinator });
    const client = new Client({ endpoint: server.url });
    // A seed that no double holds: it must come through to the last digit.
    first = (await client.submit(study({ runs: 5, maxRetries: 1, seed: 9_007_199_254_740_993n }))).batch_id;
    await client.submit(study({ runs: 1_000_000 }));
    await client.register({ id: 'r1', capabilities: { ...capabilities, max_concurrent_jobs: 6 }, instance: 'i' });
    const { assignments } = await client.claim('r1', { instance: 'i', max_jobs: 6 });
    const reports = assignments.flatMap(({ job, attempt }) => [{ type: 'start' as const, job_id: job.id, attempt }]);
    await client.reports('r1', { instance: 'i', reports: reports.slice(0, 4) });
    const result = { execution_time_secs: 1, output_files: [], metadata: { apogee_m: 1, '__proto__ ': 'a\u2028b' } };
    const [one, two] = assignments as [(typeof assignments)[0], (typeof assignments)[0]];
    await client.complete(one.job.id, { runner_id: 'r1', attempt: 1, result });
    await client.fail(two.job.id, { runner_id: 'r1', attempt: 1, reason: 'exit', error_message: 'exit code 1' });
  });
  after(async () => {
    coordinator.releaseWaiting();
    await server.close(1_000);
    await coordinator.close();
    await rm(folder, { recursive: true });
  });

  const records = async (name: string): Promise<unknown[]> =>
    (JSON.parse(await readFile(file(name), 'utf8')) as { records: unknown[] }).records;

  it('exports everything, replays it and imports it into a new data directory, where all is as it was', async () => {
    const exported = await simbatch('export', '--endpoint', server.url, file('all.json'));
    expect(exported).to.include({ code: 0, stderr: '' });
    const replayed = await simbatch('replay', file('all.json'));
    expect(replayed.stdout).to.match(/9 actors, \d+ events replayed: all as recorded/);
    expect(replayed.code).to.equal(0);
    expect((await simbatch('import', file('all.json'), '--data-dir', file('new'))).code).to.equal(0);
    const copy = await openCoordinator(await openStore(file('new')), systemClock);
    try {
      const { records: listing } = await copy.exportSnapshot();
      const again: unknown[] = [];
      for await (const chunk of listing.chunks)
        for (const { key, json } of chunk) again.push({ key, value: JSON.parse(json) as unknown });
      expect(again).to.deep.equal(await records('all.json'));
      expect((await copy.submission(first)).config.monte_carlo.seed).to.equal(9_007_199_254_740_993n);
      for (const { key } of again as { key: string }[]) {
        if (!key.startsWith('job/')) continue;
        expect(await copy.job(key.slice(4))).to.deep.equal(await coordinator.job(key.slice(4)));
      }
    } finally {
      await copy.close();
    }
  });

  it('exports one batch with its runners, which then hold nothing else', async () => {
    await simbatch('export', '--endpoint', server.url, '--batch', first, file('one.json'));
    const kept = (await records('one.json')) as { key: string; value: any }[];
    expect(kept.filter((it) => it.key.startsWith('batch/')).map((it) => it.key)).to.deep.equal([`batch/${first}`]);
    const runner = kept.at(-1)!;
    expect(runner.key).to.equal('runner/r1');
    for (const { jobId } of runner.value.held) expect(jobId.slice(0, 28)).to.equal(first.slice(0, 28));
    expect((await simbatch('replay', file('one.json'))).code).to.equal(0);
  });

  it('inspects the state, the history and the possible next events', async () => {
    await simbatch('export', '--endpoint', server.url, file('all.json'));
    const { stdout } = await simbatch('inspect', file('all.json'), '-o', 'json');
    const { actors } = JSON.parse(stdout) as {
      actors: { actor: string; state: string; history: string[]; possible: any[] }[];
    };
    const running = actors.find((it) => it.state === 'Running' && it.actor.startsWith('job/'))!;
    expect(running.history.join()).to.match(/CLAIM \(runnerId r1\).*START \(runnerId r1, attempt 1\)/);
    expect(running.possible).to.deep.include({ event: 'FAIL (exit) by r1', to: 'Pending' });
    expect(running.possible).to.deep.include({ event: 'COMPLETE by r1', to: 'Completed' });
    expect(running.possible.map((it) => it.event).join()).to.not.match(/CLAIM/);
    const single = await simbatch('inspect', file('all.json'), '--actor', 'runner/r1');
    expect(single.stdout).to.match(/runner\/r1 is Busy: holds \d jobs[^]*DRAIN -> Maintenance/);
    expect((await simbatch('inspect', file('all.json'), '--actor', 'runner/r2')).code).to.equal(66);
  });

  it('says where reality and record part, and exits with 1', async () => {
    await simbatch('export', '--endpoint', server.url, file('all.json'));
    const text = await readFile(file('all.json'), 'utf8');
    await writeFile(file('changed.json'), text.replace('"retries":1', '"retries":0'));
    const { code, stdout } = await simbatch('replay', file('changed.json'));
    expect(stdout).to.match(/^job\/.*: retries is 0 in the record and 1 now\n/);
    expect(code).to.equal(1);
  });

  it('imports nothing from a file that cannot be trusted, nor over anything', async () => {
    await simbatch('export', '--endpoint', server.url, file('all.json'));
    const text = await readFile(file('all.json'), 'utf8');
    const before = (await readdir(folder)).filter((it) => it.startsWith('import'));
    const refused: [string, RegExp][] = [
      [text.slice(0, -200), /snapshot cannot be used: (line \d+ is not valid JSON|it is truncated)/],
      [text.replace('"format":1', '"format":7'), /format 7, this program knows up to 1/],
      [text.replace('"running":', '"running":9,"x":'), /is inconsistent/],
    ];
    for (const [changed, expected] of refused) {
      await writeFile(file('bad.json'), changed);
      const { code, stderr } = await simbatch('import', file('bad.json'), '--data-dir', file('import'));
      expect(stderr).to.match(expected);
      expect(code).to.equal(65);
    }
    expect((await readdir(folder)).filter((it) => it.startsWith('import'))).to.deep.equal(before);
    const used = await simbatch('import', file('all.json'), '--data-dir', file('data'));
    expect(used.stderr).to.match(/is not empty/);
    expect(used.code).to.equal(73);
    // Of the named directory, not of the temporary one.
    const below = join(file('all.json'), 'data');
    const cannot = await simbatch('import', file('all.json'), '--data-dir', below);
    expect(cannot.stderr).to.match(/all\.json\/data['" ]/);
    expect(cannot.stderr).to.not.match(/making/);
    expect(cannot.code).to.equal(73);
  });

  it('leaves no file when there is no such batch, or no coordinator', async () => {
    const unknown = '01900000-0000-8000-8000-000000000000';
    expect((await simbatch('export', '--endpoint', server.url, '--batch', unknown, file('no.json'))).code).to.equal(66);
    expect((await simbatch('export', '--endpoint', 'http://127.0.0.1:9', file('no.json'))).code).to.equal(69);
    expect((await readdir(folder)).filter((it) => it.startsWith('no'))).to.deep.equal([]);
  });
});
