import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canMakeCertificates, makeCertificate } from '../../support/certificate.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';

describe('cli: access', () => {
  let folder: string;
  let server: Serving | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-door-'));
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    await rm(folder, { recursive: true, force: true });
  });
  const token = async (...args: string[]) =>
    (await simbatch(['token', 'create', '--data-dir', folder, ...args])).stdout.trim();

  it('refuses an address of other machines without tokens', async () => {
    const { code, stderr } = await simbatch(['serve', '--host', '0.0.0.0', '--port', '0', '--data-dir', folder]);
    expect(code).to.equal(64);
    expect(stderr).to.contain('simbatch token create').and.to.contain('--allow-unauthenticated');
  });

  it('listens for other machines when a token exists, and requires it', async () => {
    const mine = await token('--scope', 'read');
    server = await serving(['--host', '0.0.0.0', '--data-dir', folder]);
    const url = server.url.replace('0.0.0.0', '127.0.0.1');
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    expect((await fetch(`${url}/jobs`)).status).to.equal(401);
    expect((await simbatch(['jobs', '--endpoint', url], { SVC_TOKEN: mine })).code).to.equal(0);
    expect((await simbatch(['jobs', '--endpoint', url])).code).to.equal(77);
    expect(await server.stop()).to.equal(0);
    expect(server.printed.stderr).to.contain('unencrypted');
    expect(server.printed.stderr + server.printed.stdout).not.to.contain(mine.slice(13));
    expect(server.printed.stdout.trim().split('\n')).to.have.length(1);
  });

  it('lists tokens without their secrets, and refuses a revoked token without a restart', async () => {
    server = await serving(['--data-dir', folder]);
    expect((await fetch(`${server.url}/jobs`)).status).to.equal(200);
    const mine = await token('--runner', 'lab-1', '--expires', '2', '--name', 'the lab');
    const listed = await simbatch(['token', 'list', '--data-dir', folder, '-o', 'json']);
    expect(JSON.parse(listed.stdout)).to.have.length(1);
    expect(JSON.parse(listed.stdout)[0]).to.include({ name: 'the lab', runner_id: 'lab-1', id: mine.slice(4, 12) });
    expect(listed.stdout).not.to.contain(mine.slice(13)).and.not.to.contain('hash');
    const status = async (want: number) => {
      const headers = { authorization: `Bearer ${mine}`, 'content-type': 'application/json' };
      for (let tries = 0; tries < 100; tries++) {
        const body = '{"instance":"i","holding":[]}';
        const answer = await fetch(`${server?.url}/runners/lab-1/heartbeat`, { method: 'POST', headers, body });
        if (answer.status === want) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect.fail(`never answered ${want}`);
    };
    await status(404);
    expect((await simbatch(['token', 'revoke', mine, '--data-dir', folder])).code).to.equal(0);
    await status(401);
  });

  for (const [what, args, code] of [
    ['a scope that does not exist', ['create', '--scope', 'admin'], 64],
    ['a runner id that cannot be one', ['create', '--runner', 'a b'], 64],
    ['a runner for another scope', ['create', '--scope', 'read', '--runner', 'r1'], 64],
    ['no time at all', ['create', '--expires', '0'], 64],
    ['a prefix without the scope launch', ['create', '--prefix', 'lab-', '--scope', 'read'], 64],
    ['a prefix that is not of runner ids', ['create', '--prefix', 'a b'], 64],
    ['a token that does not exist', ['revoke', 'abc'], 66],
  ] as const) {
    it(`simbatch token refuses ${what}`, async () => {
      expect((await simbatch(['token', ...args, '--data-dir', folder])).code).to.equal(code);
    });
  }

  describe('with a certificate', () => {
    before(function () {
      if (!canMakeCertificates()) this.skip();
    });

    it('speaks HTTPS with clients that know the certificate', async () => {
      const { cert, key } = await makeCertificate(folder, 'own');
      server = await serving(['--tls-cert', cert, '--tls-key', key, '--data-dir', join(folder, 'data')]);
      expect(server.url).to.match(/^https:/);
      const known = await simbatch(['batches', '--endpoint', server.url], { NODE_EXTRA_CA_CERTS: cert });
      expect(known.code, known.stderr).to.equal(0);
      const unknown = await simbatch(['batches', '--endpoint', server.url]);
      expect(unknown.code).to.equal(69);
      expect(unknown.stderr).to.contain('NODE_EXTRA_CA_CERTS');
      const plain = await simbatch(['batches', '--endpoint', server.url.replace('https', 'http')]);
      expect(plain.code).to.equal(69);
      expect((await simbatch(['batches', '--endpoint', server.url], { NODE_EXTRA_CA_CERTS: cert })).code).to.equal(0);
      expect(await server.stop()).to.equal(0);
    });

    it('is rejected when certificate and key do not match', async () => {
      const { cert, key } = await makeCertificate(folder, 'own');
      await writeFile(join(folder, 'empty.pem'), '');
      const data = ['--data-dir', join(folder, 'data'), '--port', '0'];
      for (const [args, code] of [
        [['--tls-cert', cert], 64],
        [['--tls-key', key], 64],
        [['--tls-cert', cert, '--tls-key', join(folder, 'empty.pem')], 78],
        [['--tls-cert', cert, '--tls-key', join(folder, 'none.pem')], 66],
      ] as const) {
        expect((await simbatch(['serve', ...args, ...data])).code, args.join(' ')).to.equal(code);
      }
    });
  });
});
