/** Renewal of certificates in a running server; invalid files change nothing. */
import { expect } from 'chai';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { CertificateFiles } from '../../../src/cli/commands/server/serve/certificate-files.ts';
import type { CertificatePair } from '../../../src/http/security/certificate.ts';
import { canMakeCertificates, connected, makeCertificate, readPair, shownBy } from '../../support/certificate.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { serving, type Serving } from '../../support/program.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const MINUTE_MS = 60_000;
const fingerprint = ({ cert }: CertificatePair): string => new X509Certificate(cert).fingerprint256;

describe('cli: renewal of a certificate', () => {
  let folder: string;
  let files: CertificatePair;
  /** Two valid pairs, and a third certificate to make invalid ones. */
  let first: CertificatePair;
  let second: CertificatePair;
  let other: CertificatePair;

  before(async function () {
    if (!canMakeCertificates()) this.skip();
    folder = await mkdtemp(join(tmpdir(), 'simbatch-certificate-'));
    files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    const made = await Promise.all(['first', 'second', 'other'].map((it) => makeCertificate(folder, it)));
    [first, second, other] = (await Promise.all(made.map(readPair))) as [
      CertificatePair,
      CertificatePair,
      CertificatePair,
    ];
  });
  beforeEach(() => write(first));
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  async function write({ cert, key }: CertificatePair): Promise<void> {
    await writeFile(files.cert, cert);
    await writeFile(files.key, key);
  }

  /** Sends a request on an open connection, and keeps it open. */
  async function statusOn(socket: TLSSocket): Promise<string> {
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return answer.toString().slice(0, 12);
  }

  describe('by reading the files', () => {
    let server: TestServer;
    let world: SimulatedClock;
    let lines: { level: string; facts: Record<string, unknown>; message: string }[];
    let looking: CertificateFiles;
    let end: () => void;

    beforeEach(async () => {
      world = new SimulatedClock();
      lines = [];
      looking = new CertificateFiles(files);
      server = await listen({ tls: looking.inUse });
      const record = (level: string) => (facts: object, message: string) =>
        void lines.push({ level, facts: facts as Record<string, unknown>, message });
      const log = { info: record('info'), error: record('error') };
      end = looking.keepFresh({ take: (pair) => server.renewCertificate(pair), world, log });
    });
    afterEach(async () => {
      end();
      await server.close(0);
    });

    it('uses new files for new connections, and keeps open connections', async () => {
      const open = await connected(server.port);
      expect(await shownBy(server.port)).to.equal(fingerprint(first));
      await world.advance(3 * MINUTE_MS);
      expect(lines, 'nothing has changed').to.deep.equal([]);
      await write(second);
      expect(await shownBy(server.port)).to.equal(fingerprint(first));
      await world.advance(MINUTE_MS);
      expect(await shownBy(server.port)).to.equal(fingerprint(second));
      expect(open.getPeerCertificate().fingerprint256).to.equal(fingerprint(first));
      expect(await statusOn(open)).to.equal('HTTP/1.1 200');
      open.destroy();
      expect(lines.map((it) => it.message)).to.deep.equal(['a renewed certificate is in use']);
      expect(JSON.stringify(lines)).not.to.contain('PRIVATE KEY');
      await write(first);
      await world.advance(MINUTE_MS);
      expect(await shownBy(server.port), 'and again').to.equal(fingerprint(first));
    });

    it('shows the new certificate to clients that resume an earlier session', async () => {
      const open = await connected(server.port, { maxVersion: 'TLSv1.2' });
      const session = open.getSession();
      const again = await connected(server.port, { maxVersion: 'TLSv1.2', session });
      expect(again.isSessionReused(), 'sessions are resumed otherwise').to.equal(true);
      await write(second);
      await world.advance(MINUTE_MS);
      const anew = await connected(server.port, { maxVersion: 'TLSv1.2', session });
      expect(anew.isSessionReused()).to.equal(false);
      expect(anew.getPeerCertificate().fingerprint256).to.equal(fingerprint(second));
      for (const it of [open, again, anew]) it.destroy();
    });

    const half = (text: string): string => text.slice(0, text.length / 2);
    const SPOILT: [what: string, spoil: () => Promise<void>, why: RegExp][] = [
      ['a key that is not yet the new one', () => write({ ...second, key: first.key }), /not the key of/],
      ['a certificate that is not yet the new one', () => write({ ...second, cert: first.cert }), /not the key of/],
      ['half a certificate', () => write({ ...second, cert: half(second.cert) }), /cannot be used/],
      ['half a chain', () => write({ ...second, cert: second.cert + half(other.cert) }), /cannot be used/],
      ['half a key', () => write({ ...second, key: half(second.key) }), /cannot be used/],
      ['an empty certificate', () => write({ ...second, cert: '' }), /cannot be used/],
      ['an empty key', () => write({ ...second, key: '' }), /cannot be used/],
      ['no certificate', () => rm(files.cert), /ENOENT/],
      ['no key', () => rm(files.key), /ENOENT/],
    ];
    for (const [what, spoil, why] of SPOILT) {
      it(`${what}: the previous certificate stays in use, which is logged once, until a valid one appears`, async () => {
        await spoil();
        await world.advance(3 * MINUTE_MS);
        expect(await shownBy(server.port)).to.equal(fingerprint(first));
        expect(lines.map((it) => [it.level, it.message])).to.deep.equal([
          ['error', 'the previous certificate stays in use'],
        ]);
        expect(lines[0]?.facts['reason']).to.match(why);
        looking.lookNow();
        expect(lines, 'who asks is logged').to.have.length(2);
        await write(second);
        await world.advance(MINUTE_MS);
        expect(await shownBy(server.port)).to.equal(fingerprint(second));
        expect(lines.map((it) => it.level)).to.deep.equal(['error', 'error', 'info']);
      });
    }

    it('logs nothing for restored files, and logs a new fault again', async () => {
      const spoilt = { ...second, key: first.key };
      for (const pair of [spoilt, first, spoilt]) {
        await write(pair);
        await world.advance(MINUTE_MS);
      }
      expect(lines.map((it) => it.level)).to.deep.equal(['error', 'error']);
    });

    it('rejects a certificate for a server without one', async () => {
      const plain = await listen();
      expect(() => plain.renewCertificate(first)).to.throw('started without a certificate');
      await plain.close(0);
    });
  });

  describe('by SIGHUP', () => {
    let server: Serving;
    beforeEach(async function () {
      // Windows has no SIGHUP.
      if (process.platform === 'win32') this.skip();
      const args = ['--tls-cert', files.cert, '--tls-key', files.key, '--data-dir', join(folder, 'data')];
      server = await serving(args);
    });
    afterEach(async () => {
      await server?.stop();
    });

    /** Sends the signal and waits for the line that follows it. */
    async function hangUp(answer: string): Promise<void> {
      const from = server.printed.stderr.length;
      server.child.kill('SIGHUP');
      while (!server.printed.stderr.slice(from).includes(answer)) await once(server.child.stderr!, 'data');
    }

    it('uses a valid pair, logs the outcome, and continues', async () => {
      const port = Number(new URL(server.url).port);
      const open = await connected(port);
      await hangUp('the certificate has not changed');
      await write({ ...second, key: first.key });
      await hangUp('the previous certificate stays in use');
      expect(await shownBy(port)).to.equal(fingerprint(first));
      await write(second);
      await hangUp('a renewed certificate is in use');
      expect(await shownBy(port)).to.equal(fingerprint(second));
      expect(await statusOn(open)).to.equal('HTTP/1.1 200');
      open.destroy();
      expect(await server.stop()).to.equal(0);
    });
  });
});
