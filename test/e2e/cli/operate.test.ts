import { expect } from 'chai';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readFileSync, writeFileSync } from 'node:fs';
import { capabilities } from '../../support/fake-api.ts';
import { post } from '../../support/http.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { study } from '../../support/studies.ts';

describe('cli: operation', () => {
  let folder: string;
  const running: Serving[] = [];
  const start = async (...args: string[]) => {
    const server = await serving(args);
    running.push(server);
    return server;
  };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-operate-'));
  });
  afterEach(async () => {
    for (const server of running.splice(0)) await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const submit = async ({ url }: Serving, runs = 3) =>
    ((await (await post(`${url}/jobs`, study({ runs }))).json()) as { batch_id: string }).batch_id;

  it('backs up while serving, restores, and continues from the backup', async () => {
    const server = await start('--data-dir', join(folder, 'data'));
    const batchId = await submit(server);
    const endpoint = ['--endpoint', server.url];
    const made = await simbatch(['backup', folder, ...endpoint, '-o', 'json']);
    expect(made.code, made.stderr).to.equal(0);
    const { file } = JSON.parse(made.stdout) as { file: string };
    expect(gunzipSync(readFileSync(file)).toString()).to.match(
      /^\{"simbatch_backup":1.*\n[^]*"sha256":"[0-9a-f]{64}"\}\n$/,
    );
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect((await simbatch(['backup', join(folder, 'plain'), ...endpoint])).code).to.equal(0);
    expect((await simbatch(['backup', join(folder, 'plain'), ...endpoint])).code, 'a file that exists').to.equal(73);
    expect((await readdir(folder)).filter((name) => name.endsWith('.partial'))).to.deep.equal([]);

    expect((await simbatch(['restore', file, '--data-dir', join(folder, 'data')])).code, 'in use').to.equal(73);
    const restored = await simbatch(['restore', file, '--data-dir', join(folder, 'again')]);
    expect(restored.code, restored.stderr).to.equal(0);
    const second = await start('--data-dir', join(folder, 'again'));
    const status = (await (await fetch(`${second.url}/batches/${batchId}`)).json()) as any;
    expect(status.jobs_by_status.Pending).to.equal(3);

    writeFileSync(join(folder, 'half'), readFileSync(join(folder, 'plain')).subarray(0, 300));
    expect((await simbatch(['restore', join(folder, 'half'), '--data-dir', join(folder, 'no')])).code).to.equal(73);
    expect((await simbatch(['restore', join(folder, 'none'), '--data-dir', join(folder, 'no')])).code).to.equal(66);
    expect(await readdir(folder)).not.to.contain('no');
  });

  it('deletes a study that has ended, and forgets a runner that is gone', async () => {
    const server = await start('--data-dir', folder);
    const endpoint = ['--endpoint', server.url];
    const batchId = await submit(server);
    expect((await simbatch(['delete', batchId, ...endpoint])).code, 'not ended').to.equal(75);
    expect((await simbatch(['cancel', batchId, '--yes', ...endpoint])).code).to.equal(0);
    expect((await simbatch(['delete', 'latest', '--yes', ...endpoint])).stdout).to.equal(
      `study ${batchId} is deleted\n`,
    );
    expect((await simbatch(['status', batchId, ...endpoint])).code).to.equal(66);
    await post(`${server.url}/runners`, { id: 'lab-3', instance: 'i', capabilities });
    expect((await simbatch(['forget', 'lab-3', ...endpoint])).code, 'connected').to.equal(75);
    await post(`${server.url}/runners/lab-3/sign-off`, { instance: 'i' });
    expect((await simbatch(['forget', 'lab-3', ...endpoint])).code, 'not agreed').to.equal(64);
    expect((await simbatch(['forget', 'lab-3', '--yes', ...endpoint])).stdout).to.equal('lab-3 was forgotten\n');
    expect((await simbatch(['forget', 'lab-3', ...endpoint])).code).to.equal(66);
  });

  it('assigns no run to the lost slots of a runner, and shows them and their remedy', async () => {
    const server = await start('--data-dir', folder);
    const endpoint = ['--endpoint', server.url];
    const runner = `${server.url}/runners/lab-3`;
    const four = { ...capabilities, max_concurrent_jobs: 4 };
    await post(`${server.url}/runners`, { id: 'lab-3', instance: 'i', capabilities: four });
    await submit(server);
    const refused = await post(`${runner}/heartbeat`, { instance: 'i', holding: [], slots_lost: -1 });
    expect(refused.status).to.equal(422);
    expect(await refused.text()).to.contain('slots_lost');

    await post(`${runner}/heartbeat`, { instance: 'i', holding: [], slots_lost: 4 });
    const none = (await (await post(`${runner}/claims`, { instance: 'i', max_jobs: 4 })).json()) as any;
    expect(none.assignments).to.deep.equal([]);
    const pool = await simbatch(['runners', ...endpoint]);
    expect(pool.stdout)
      .to.match(/lab-3 .* 0\/4 \(4 lost\) /)
      .and.to.contain('room for 0 runs at a time');
    const status = await simbatch(['status', 'latest', ...endpoint]);
    expect(status.stdout).to.contain('lab-3 lost 4 of the 4 slots of the pool');
    expect(status.stdout).to.contain('unmount the file system or restart the machine');

    await post(`${runner}/heartbeat`, { instance: 'i', holding: [], slots_lost: 2 });
    const two = (await (await post(`${runner}/claims`, { instance: 'i', max_jobs: 4 })).json()) as any;
    expect(two.assignments).to.have.length(2);

    await post(`${runner}/heartbeat`, { instance: 'i', holding: [] });
    const all = (await (await fetch(runner)).json()) as any;
    expect(all).to.not.have.property('slots_lost');
  });

  it('runners and status show the counted resources of runners and of the site, in use and waited for', async () => {
    const server = await start('--data-dir', folder, '--resource', 'comsol=2', '--resource', 'abaqus=3');
    const runner = `${server.url}/runners/lab-1`;
    await post(`${server.url}/runners`, {
      id: 'lab-1',
      instance: 'i',
      capabilities: { ...capabilities, max_concurrent_jobs: 4, resources: { gpu: 4 } },
    });
    const given: any = study({ runs: 5 });
    given.config.compute.resources = { gpu: 1, comsol: 1 };
    expect((await post(`${server.url}/jobs`, given)).status).to.equal(200);
    const claimed = (await (await post(`${runner}/claims`, { instance: 'i', max_jobs: 4 })).json()) as any;
    expect(claimed.assignments).to.have.length(2);
    const endpoint = ['--endpoint', server.url];
    const { stdout } = await simbatch(['runners', ...endpoint]);
    expect(stdout).to.match(/^RUNNER +STATUS +SLOTS +RESOURCES .*\nlab-1 +Busy +2\/4 +2\/4 gpu /);
    expect(stdout.trim().split('\n').slice(-3)).to.deep.equal([
      '1 connected, 0 offline, room for 4 runs at a time',
      'comsol 2 of 2 in use, 3 runs wait',
      'abaqus 0 of 3 in use',
    ]);
    const listed = JSON.parse((await simbatch(['runners', '-o', 'json', ...endpoint])).stdout);
    expect(listed.runners[0].resources_used).to.deep.equal({ gpu: 2, comsol: 2 });
    expect(listed.site_resources[0]).to.deep.include({ name: 'comsol', total: 2, used: 2, waiting: 3 });
    expect((await simbatch(['runners', '-o', 'csv', ...endpoint])).stdout).to.match(/2\/4 gpu/);
    expect((await simbatch(['status', ...endpoint])).stdout).to.contain('comsol 2 of 2 in use, 3 runs wait');
  });

  it('prefers flags to the environment, and reports its settings', async () => {
    const env = { SVC_DATA_DIR: folder, SVC_LOG_LEVEL: 'debug', SVC_PORT: '1' };
    const server = await serving(
      ['--max-runs', '5', '--max-body-mb', '1', '--retain-days', '30', '--max-retries', '0'],
      env,
    );
    running.push(server);
    expect(await (await fetch(`${server.url}/limits`)).json()).to.include({
      runs_per_batch: 5,
      submission_bytes: 1_048_576,
      retain_days: 30,
      default_max_retries: 0,
    });
    expect((await post(`${server.url}/jobs`, study({ runs: 6 }))).status).to.equal(422);
    expect((await post(`${server.url}/jobs`, JSON.stringify(study()) + ' '.repeat(1_048_576))).status).to.equal(413);
    expect(await readdir(folder)).to.contain('CURRENT');
    await server.stop();
    const lines = server.printed.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter((it) => it['msg'] === 'request').map((it) => it['status'])).to.deep.equal([200, 422, 413]);
    expect(server.printed.stdout.trim().split('\n')).to.have.length(1);
  });
});
