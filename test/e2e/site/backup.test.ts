/** Backups: into files and folders, and a drill with a real object store: back up, verify, lose the data, restore, continue. */
import { AwsClient } from 'aws4fetch';
import { expect } from 'chai';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { post } from '../../support/http.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import type { S3Server } from '../../support/s3-server.ts';
import { study } from '../../support/studies.ts';
import { startSwift, swiftFault } from '../../support/swift.ts';
import { skipWithout } from '../support.ts';

const submitted = async ({ url }: Serving): Promise<string> =>
  ((await (await post(`${url}/jobs`, study({ runs: 3 }))).json()) as { batch_id: string }).batch_id;

const pendingRuns = async ({ url }: Serving, batchId: string): Promise<number> => {
  const answer = (await (await fetch(`${url}/batches/${batchId}`)).json()) as { jobs_by_status: { Pending: number } };
  return answer.jobs_by_status.Pending;
};

describe('cli: backups in files', () => {
  let folder: string;
  let server: Serving;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-backup-'));
    server = await serving(['--data-dir', join(folder, 'data')]);
    await submitted(server);
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const backup = (...args: string[]) => simbatch(['backup', ...args, '--endpoint', server.url]);

  it('verifies a file, and the newest one of a folder; a damaged and an old one are refused', async () => {
    const file = join(folder, 'one.ndjson');
    expect((await backup(file)).code).to.equal(0);
    const whole = await simbatch(['backup', 'verify', file]);
    expect(whole.stdout, whole.stderr).to.match(/one\.ndjson: \d+ records as of \S+, no faults\n$/);
    expect((await simbatch(['backup', 'verify', file, '--max-age', '1d'])).code).to.equal(0);
    const text = readFileSync(file, 'utf8');
    const old = join(folder, 'old.ndjson');
    writeFileSync(old, text);
    const asJson = await simbatch(['backup', 'verify', old, '-o', 'json']);
    expect(JSON.parse(asJson.stdout)).to.have.keys('file', 'records', 'created_at', 'age_secs');
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const late = await simbatch(['backup', 'verify', old, '--max-age', '1s']);
    expect([late.code, late.stderr]).to.satisfy(
      ([code, said]: [number, string]) => code === 1 && /more than 1s/.test(said),
    );
    writeFileSync(join(folder, 'cut.ndjson'), text.slice(0, -80));
    const cut = await simbatch(['backup', 'verify', join(folder, 'cut.ndjson')]);
    expect([cut.code, cut.stderr]).to.satisfy(
      ([code, said]: [number, string]) => code === 73 && said.includes('the backup cannot be used'),
    );
    writeFileSync(join(folder, 'changed.ndjson'), text.replace('"records"', '"records" '));
    const changed = text.replace(/\["!/, '["! ');
    writeFileSync(join(folder, 'changed.ndjson'), changed);
    expect((await simbatch(['backup', 'verify', join(folder, 'changed.ndjson')])).code).to.equal(73);
    expect((await simbatch(['backup', 'verify', join(folder, 'none')])).code).to.equal(66);
    expect((await simbatch(['backup', 'verify', folder])).code, 'a folder without backups').to.equal(66);
  });

  it('keeps the newest ones of a folder, and touches nothing else in it', async () => {
    const many = mkdtempSync(join(folder, 'many-'));
    const others = ['notes.txt', 'simbatch-before-upgrade.ndjson.gz', 'simbatch-2020-01-01.ndjson.gz'];
    for (const name of others) writeFileSync(join(many, name), '');
    for (let made = 0; made < 3; made += 1) expect((await backup(many, '--keep', '2')).code).to.equal(0);
    const left = readdirSync(many).filter((it) => !others.includes(it));
    expect(left).to.have.length(2);
    expect(readdirSync(many)).to.include.members(others);
    expect((await simbatch(['backup', 'verify', many])).stdout).to.include(left.toSorted().at(-1));
    expect((await backup(join(many, 'single'), '--keep', '2')).code, 'one file').to.equal(64);
  });

  it('takes the token from a file or from the credentials of systemd', async () => {
    const guarded = join(folder, 'guarded');
    const made = await simbatch(['token', 'create', '--scope', 'operate', '--name', 'backup', '--data-dir', guarded]);
    const closed = await serving(['--data-dir', guarded]);
    writeFileSync(join(folder, 'svc_token'), made.stdout, { mode: 0o600 });
    const call = (name: string, env: Record<string, string>) =>
      simbatch(['backup', join(folder, name), '--endpoint', closed.url], env);
    expect((await call('t0', {})).code).to.equal(77);
    expect((await call('t1', { SIMBATCH_TOKEN_FILE: join(folder, 'svc_token') })).code).to.equal(0);
    expect((await call('t2', { CREDENTIALS_DIRECTORY: folder })).code).to.equal(0);
    const missing = await call('t3', { SIMBATCH_TOKEN_FILE: join(folder, 'no-token') });
    expect([missing.code, missing.stderr]).to.satisfy(
      ([code, said]: [number, string]) => code === 78 && said.startsWith('simbatch: SIMBATCH_TOKEN_FILE '),
    );
    await closed.stop();
  });
});

describe('cli: backups in a real object store', () => {
  let folder: string | undefined;
  let store: S3Server | undefined;
  before(async function () {
    skipWithout(this, swiftFault());
    folder = mkdtempSync(join(tmpdir(), 'simbatch-drill-'));
    store = await startSwift(folder);
  });
  after(() => {
    store?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  it('a coordinator that lost its data directory continues from the newest backup', async () => {
    const { endpoint, credentials } = store!;
    const aws = new AwsClient({ ...credentials, service: 's3', region: 'us-east-1', retries: 0 });
    expect((await aws.fetch(`${endpoint}/backups`, { method: 'PUT' })).status).to.equal(200);
    const env = { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey };
    const access = ['--s3-endpoint', endpoint];
    const data = join(folder!, 'data');
    let server = await serving(['--data-dir', data]);
    const first = await submitted(server);
    const backup = async () =>
      await simbatch(['backup', 's3://backups/lab/', '--keep', '2', '--endpoint', server.url, ...access], env);
    for (let made = 0; made < 2; made += 1) expect((await backup()).code).to.equal(0);
    const second = await submitted(server);
    const newest = await backup();
    expect(newest.stdout, newest.stderr).to.match(
      /^s3:\/\/backups\/lab\/simbatch-\S+\.ndjson\.gz: \d+ records as of \S+; 1 older backup removed\n$/,
    );
    const name = newest.stdout.split(': ')[0]!;
    const again = await simbatch(['backup', name, '--endpoint', server.url, ...access], env);
    expect([again.code, again.stderr]).to.satisfy(
      ([code, said]: [number, string]) => code === 73 && said.includes('exists'),
    );
    const verified = await simbatch(['backup', 'verify', 's3://backups/lab/', '--max-age', '1h', ...access], env);
    expect(verified.stdout, verified.stderr).to.match(new RegExp(`^${name}: \\d+ records as of \\S+, no faults\\n$`));

    await server.stop();
    rmSync(data, { recursive: true });
    const restored = await simbatch(['restore', 's3://backups/lab/', '--data-dir', data, ...access], env);
    expect(restored.code, restored.stderr).to.equal(0);
    server = await serving(['--data-dir', data]);
    expect(await pendingRuns(server, first)).to.equal(3);
    expect(await pendingRuns(server, second)).to.equal(3);

    const { pathname } = new URL(name.replace('s3://', `${endpoint}/`));
    const bytes = Buffer.from(await (await aws.fetch(endpoint + pathname)).arrayBuffer());
    await aws.fetch(endpoint + pathname, { method: 'PUT', body: bytes.subarray(0, bytes.length - 20) });
    expect((await simbatch(['backup', 'verify', 's3://backups/lab/', ...access], env)).code, 'cut').to.equal(73);
    const none = await simbatch(['backup', 'verify', 's3://backups/none', ...access], env);
    expect(none.code, none.stderr).to.equal(66);
    const wrong = await simbatch(['backup', 's3://no-such-bucket/', '--endpoint', server.url, ...access], env);
    expect([wrong.code, wrong.stderr]).to.satisfy(
      ([code, said]: [number, string]) => code === 1 && said.includes('check the store, the bucket'),
    );
    await server.stop();
  });
});
