/** Why a program does not start, in words. */
import { expect } from 'chai';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchFault } from '../../../src/runner/launch/engine.ts';

describe('runner/launch/engine', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-engine-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const cases: [code: string | undefined, words: RegExp][] = [
    ['ENOENT', /^\/no\/program does not exist$/],
    ['EACCES', /^\/no\/program may not be executed by this user$/],
    [
      'ENOEXEC',
      /^\/no\/program is not a program for this machine \(a script needs a first line such as #!\/bin\/sh\)$/,
    ],
    ['E2BIG', /^container\.environment is too large/],
    ['EMFILE', /^too many files are open on this machine$/],
    ['ENFILE', /^too many files are open on this machine$/],
    ['EAGAIN', /^the machine has no room for another process$/],
    ['ENOMEM', /^the machine has no room for another process$/],
    ['EIO', /^\/no\/program could not be started: EIO$/],
    [undefined, /^\/no\/program could not be started: unknown reason$/],
  ];
  for (const [code, words] of cases)
    it(`says what ${code ?? 'no code'} means`, async () => {
      expect(await launchFault(code, '/no/program', folder)).to.match(words);
    });

  it('names the folder or the interpreter that does not exist', async () => {
    const script = join(folder, 'run');
    writeFileSync(script, '#!/no/interpreter -u\n');
    chmodSync(script, 0o755);
    expect(await launchFault('ENOENT', script, join(folder, 'none'))).to.equal(
      `the working directory ${join(folder, 'none')} does not exist`,
    );
    expect(await launchFault('ENOENT', script, folder)).to.equal(
      `the interpreter "/no/interpreter" in the first line of ${script} does not exist`,
    );
  });
});
