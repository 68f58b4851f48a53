/** Where a runner takes its credential from, and that no process of a simulation can read it there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freshSite } from '../../support/fresh-site.ts';
import type { FakeCoordinator } from '../../support/fake-coordinator.ts';
import { PROGRAM } from '../../support/program.ts';
import { SIMULATION, type Site } from '../../support/runner-process.ts';

describe('runner: credentials', () => {
  let fake: FakeCoordinator;
  let site: Site;
  freshSite((it) => ({ fake, site } = it));

  const registered = () => fake.until('it is registered', () => fake.registrations.length === 1);
  const tokenFile = (text: string, mode = 0o600): string => {
    const path = join(site.folder, 'token');
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };

  it('SVC_TOKEN cannot be read in /proc/<pid>/environ once the runner is registered', async function () {
    if (!existsSync('/proc/self/environ')) return this.skip();
    const runner = site.start(fake.url, [], { SVC_TOKEN: 'from-the-environment', OTHER: 'kept' });
    await registered();
    expect([...fake.authorizations]).to.deep.equal(['Bearer from-the-environment']);
    const environ = readFileSync(`/proc/${String(runner.process.pid)}/environ`, 'utf8');
    expect(environ).to.include('OTHER=kept').and.not.to.include('from-the-environment');
    expect(runner.log).not.to.include('stays readable').and.not.to.include('from-the-environment');
  });

  it('takes the credential from --token-file, and warns when other users can read it', async () => {
    const runner = site.start(fake.url, ['--token-file', tokenFile('from-a-file\n', 0o644)]);
    await registered();
    expect([...fake.authorizations]).to.deep.equal(['Bearer from-a-file']);
    expect(runner.log).to.include('can be read by other users; run: chmod 600');
  });

  it('prefers --token-file to SVC_TOKEN, and says so', async () => {
    const runner = site.start(fake.url, ['--token-file', tokenFile('from-a-file')], { SVC_TOKEN: 'other' });
    await registered();
    expect([...fake.authorizations]).to.deep.equal(['Bearer from-a-file']);
    expect(runner.log).to.include('token_file and SVC_TOKEN are both given; token_file is used');
  });

  it('takes the credential from an open descriptor', async () => {
    const fd = openSync(tokenFile('from-a-descriptor'), 'r');
    const args = ['runner', '--endpoint', fake.url, '--runner-id', 'r1', '--entrypoint', SIMULATION, '--token-fd', '3'];
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: site.folder,
      stdio: ['ignore', 'ignore', 'ignore', fd],
    });
    await registered();
    expect([...fake.authorizations]).to.deep.equal(['Bearer from-a-descriptor']);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it("takes the credential svc_token of systemd's credentials directory", async () => {
    const directory = join(site.folder, 'credentials');
    mkdirSync(directory);
    writeFileSync(join(directory, 'svc_token'), 'from-systemd\n', { mode: 0o400 });
    site.start(fake.url, [], { CREDENTIALS_DIRECTORY: directory });
    await registered();
    expect([...fake.authorizations]).to.deep.equal(['Bearer from-systemd']);
  });

  const unusable: [what: string, text: string, message: RegExp][] = [
    ['empty', ' \n', /token_file \S+ is empty; it must hold the token/],
    ['of two words', 'a b', /has more than one word/],
    ['too long', 'x'.repeat(5000), /is longer than 4096 bytes/],
  ];
  for (const [what, text, message] of unusable) {
    it(`ends at the start when the file is ${what}`, async () => {
      const runner = site.start(fake.url, ['--token-file', tokenFile(text)]);
      expect(await runner.exit()).to.equal(78);
      expect(runner.log).to.match(message).and.not.to.include('xxxx');
    });
  }

  it('ends at the start when the descriptor is not open, or the file is missing', async () => {
    for (const [args, message] of [
      [['--token-fd', '77'], /token_fd 77 cannot be read/],
      [['--token-file', 'nowhere'], /token_file \S+nowhere cannot be read: .*; name a file/],
    ] as const) {
      const runner = site.start(fake.url, args);
      expect(await runner.exit()).to.equal(78);
      expect(runner.log).to.match(message);
    }
  });
});
