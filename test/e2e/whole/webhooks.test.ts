/** Webhooks of the real program: options, a kill between the commit of an event and its delivery, and secrets that stay secret. */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import { Client } from '../../../src/client/client.ts';
import type { StudyNotification } from '../../../src/contract/types.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { study } from '../../support/studies.ts';

const KEY = 'a-key-of-thirty-two-characters-!';

interface Received {
  id: string;
  body: string;
  isSigned: boolean;
}

describe('e2e: webhooks', () => {
  let directory: string;
  let server: Server;
  let received: Received[];
  let doesAnswer: boolean;
  let running: Serving | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(os.tmpdir(), 'simbatch-webhooks-'));
    await writeFile(join(directory, 'key'), `${KEY}\n`, { mode: 0o600 });
    received = [];
    doesAnswer = true;
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const { 'webhook-id': id = '', 'webhook-timestamp': at = '', 'webhook-signature': signature } = request.headers;
        const expected = createHmac('sha256', KEY)
          .update(`${String(id)}.${String(at)}.${body}`)
          .digest('base64');
        received.push({ id: String(id), body, isSigned: signature === `v1,${expected}` });
        if (doesAnswer) response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true, force: true });
  });

  const url = (): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/path-hidden`;
  const start = async (...args: string[]): Promise<Serving> =>
    (running = await serving(
      ['--data-dir', join(directory, 'data'), '--notify-secret-file', join(directory, 'key'), ...args],
      {
        SVC_NOTIFY_URL: url(),
      },
    ));
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  it('repeats after kill -9 the request that was in flight, with the same id and body, and shows no secret', async () => {
    doesAnswer = false;
    const first = await start('--public-url', 'https://simbatch.example/');
    const { batch_id } = await new Client({ endpoint: first.url }).submit(study({ name: 'killed', runs: 0 }));
    // The receiver has the request and does not answer it.
    await until(() => received.length === 1);
    const ended = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await ended;
    doesAnswer = true;
    const second = await start('--public-url', 'https://simbatch.example/');
    await until(() => received.length === 2);
    expect(received.map((it) => it.isSigned)).to.deep.equal([true, true]);
    expect(received[1]).to.deep.equal(received[0]);
    const { data } = JSON.parse(received[0]!.body) as StudyNotification;
    expect(data).to.deep.include({
      event_id: `${batch_id}.ended`,
      link: `https://simbatch.example/#/batches/${batch_id}`,
    });
    const client = new Client({ endpoint: second.url });
    await until(() => second.printed.stderr.includes('a notification was not delivered'));
    for (;;) {
      const { by_status } = await client.launching.notifications();
      if (by_status['Delivered'] === 1) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const doctor = await simbatch(['doctor', '--endpoint', second.url]);
    expect(doctor.stdout, doctor.stderr).to.match(/ok +webhooks +http:\/\/127\.0\.0\.1:\d+: 1 delivered/);
    await second.stop();
    const printed = [first, second].map((it) => it.printed.stdout + it.printed.stderr).join('') + doctor.stdout;
    expect(printed).not.to.contain(KEY).and.not.to.contain('path-hidden');
    for (const file of await readdir(join(directory, 'data'), { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = await readFile(join(file.parentPath, file.name), 'latin1');
      expect(bytes.includes(KEY) || bytes.includes('path-hidden'), file.name).to.equal(false);
    }
  });

  it('refuses addresses, secrets and combinations that are not usable, and does not repeat the address', async () => {
    const data = ['--data-dir', join(directory, 'data')];
    const short = join(directory, 'short');
    await writeFile(short, 'too short');
    const cases: [args: string[], says: RegExp][] = [
      [['--notify-url', 'hooks.example/hidden'], /an address of --notify-url is not an http\(s\) address/],
      [['--notify-url', 'ftp://hooks.example/hidden'], /is not an http\(s\) address/],
      [['--notify-url', 'https://me:hidden@hooks.example'], /has a user name or password/],
      [
        ['--notify-url', Array.from({ length: 6 }, (_, at) => `http://h${String(at)}.example`).join(',')],
        /has 6 addresses; give at most 5/,
      ],
      [['--notify-secret-file', short], /without --notify-url/],
      [['--notify-url', 'http://h.example', '--notify-secret-file', short], /key of 9 bytes; 24 to 64/],
      [['--notify-url', 'http://h.example', '--notify-secret-file', join(directory, 'none')], /cannot be read: ENOENT/],
      [['--notify-url', 'http://h.example', '--public-url', 'nowhere'], /an address of --public-url/],
    ];
    for (const [args, says] of cases) {
      const { code, stderr } = await simbatch(['serve', '--port', '0', ...data, ...args]);
      expect(stderr, args.join(' ')).to.match(says).and.not.to.contain('hidden');
      expect(code).to.equal(78);
    }
  });
});
