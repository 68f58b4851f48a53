/** The identity of the code of an engine against an independent reference, in real repositories of git and without. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { CodeFolder, identityOf } from './looked.ts';

const BYTES = Buffer.from('model-\xff.py', 'latin1');

describe('runner/code: the identity of files', () => {
  let code: CodeFolder;
  beforeEach(() => {
    code = new CodeFolder();
  });
  afterEach(() => {
    code.remove();
  });
  const at = (path: string): string => join(code.folder, path);

  /** A repository `sim` with one commit. */
  function repository(files: Record<string, string> = {}): string {
    code.write({ 'sim/run.py': 'print(1)\n', ...files });
    code.git('sim', 'init', '--quiet');
    return code.commit('sim');
  }

  /** By git, but for untracked files of output, which do not count as code. */
  function isDirty(): boolean {
    const lines = code.git('sim', 'status', '--porcelain', '--untracked-files=all', '--', '.').split('\n');
    return lines.some((it) => it !== '' && !/^\?\? (.*\/)?([^/]*\.log|nohup\.out|slurm-[^/]*\.out)$/.test(it));
  }

  /** Each case changes a committed repository; the digest is that of the reference, and `dirty` as git has it. */
  const CASES: readonly { name: string; change: () => void; files: number; dirty: boolean }[] = [
    { name: 'a clean commit', change: () => {}, files: 4, dirty: false },
    { name: 'a changed file', change: () => code.write({ 'sim/lib/a.py': 'A = 2\n' }), files: 4, dirty: true },
    {
      name: 'a change of the same size',
      change: () => code.write({ 'sim/run.py': 'print(2)\n' }),
      files: 4,
      dirty: true,
    },
    { name: 'an untracked file', change: () => code.write({ 'sim/new.py': '' }), files: 5, dirty: true },
    {
      name: 'an ignored file',
      change: () => code.write({ 'sim/x.log': '', 'sim/lib/out/y': '' }),
      files: 4,
      dirty: false,
    },
    {
      name: 'files with the output of programs, which no rule ignores',
      change: () =>
        code.write({ 'sim/nohup.out': 'a', 'sim/slurm-17.out': 'b', 'sim/lib/runner.LOG': '', 'sim/lib/all.log': 'c' }),
      // Names of other cases are not theirs.
      files: 5,
      dirty: true,
    },
    {
      name: 'an ignored file that is tracked',
      change: () => {
        code.write({ 'sim/x.log': 'kept' });
        code.git('sim', 'add', '--force', 'x.log');
        code.commit('sim');
      },
      files: 5,
      dirty: false,
    },
    { name: 'a removed file', change: () => unlinkSync(at('sim/lib/a.py')), files: 3, dirty: true },
    {
      name: 'a staged change',
      change: () => {
        code.write({ 'sim/run.py': 'print(3)\n' });
        code.git('sim', 'add', 'run.py');
      },
      files: 4,
      dirty: true,
    },
    { name: 'a file that was touched', change: () => utimesSync(at('sim/run.py'), 1, 1), files: 4, dirty: false },
    { name: 'a link to a file', change: () => symlinkSync('run.py', at('sim/link.py')), files: 5, dirty: true },
    { name: 'a link to a folder', change: () => symlinkSync('lib', at('sim/other')), files: 5, dirty: true },
    { name: 'a link to nothing', change: () => symlinkSync('absent', at('sim/none')), files: 5, dirty: true },
    {
      name: 'committed links',
      change: () => {
        symlinkSync('lib', at('sim/other'));
        symlinkSync('run.py', at('sim/link.py'));
        code.commit('sim');
      },
      files: 6,
      dirty: false,
    },
    {
      name: 'a name that is not UTF-8',
      change: () => writeFileSync(Buffer.concat([Buffer.from(at('sim/')), BYTES]), ''),
      files: 5,
      dirty: true,
    },
    {
      name: 'names in the order of their bytes',
      change: () =>
        code.write({ 'sim/b.py': '1', 'sim/B.py': '2', 'sim/b/a.py': '3', 'sim/é.py': '4', 'sim/b-a.py': '5' }),
      files: 9,
      dirty: true,
    },
    {
      name: 'an index of format 4',
      change: () => {
        code.git('sim', 'update-index', '--index-version', '4');
        code.write({ 'sim/lib/b.py': '' });
        code.git('sim', 'add', '--all');
      },
      files: 5,
      dirty: true,
    },
    {
      name: 'refs in one file',
      change: () => void code.git('sim', 'pack-refs', '--all'),
      files: 4,
      dirty: false,
    },
    {
      name: 'rules in .git/info/exclude and of the user',
      change: () => {
        code.write({ 'sim/.git/info/exclude': 'secret*\n', 'home/.config/git/ignore': '*.tmp\n' });
        code.write({ 'sim/secret.py': '', 'sim/a.tmp': '' });
      },
      files: 4,
      dirty: false,
    },
  ];
  for (const { name, change, files, dirty } of CASES) {
    it(`is that of the reference: ${name}`, async () => {
      repository({ 'sim/lib/a.py': 'A = 1\n', 'sim/.gitignore': '*.log\n', 'sim/lib/.gitignore': 'out/\n' });
      change();
      const identity = await code.identity('sim/run.py');
      expect(identity).to.deep.include({ kind: 'entrypoint', ...code.reference('sim'), files });
      expect(identity.git).to.deep.equal({
        commit: code.git('sim', 'rev-parse', 'HEAD').trim(),
        dirty,
        describe: code.git('sim', 'describe', '--tags', '--always', 'HEAD').trim(),
      });
      expect(dirty).to.equal(isDirty());
    });
  }

  it('is that of the reference in drawn folders', async () => {
    const name = fc.constantFrom('a', 'b', 'c.py', 'd.log', 'e', '.f');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((it) => it.join('/'));
    const rule = fc.constantFrom('*.log', '/a', 'b/', '!c.py', 'e', '**/b', 'a/*', '!d.log', '[a-c]', 'c.*');
    const files = fc.array(fc.tuple(path, fc.constantFrom('1', '2', '33')), { maxLength: 12 });
    const rules = fc.array(fc.tuple(fc.constantFrom('', 'a/', 'b/', 'e/a/'), fc.array(rule, { maxLength: 3 })), {
      maxLength: 3,
    });
    const drawn = fc.record({ files, rules, later: files, forced: fc.array(path, { maxLength: 2 }) });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ files: first, rules: ignored, later, forced }) => {
        rmSync(at('sim'), { recursive: true, force: true });
        repository();
        const put = (all: readonly (readonly [string, string])[]): void => {
          for (const [file, text] of all) {
            try {
              code.write({ [`sim/${file}`]: text });
            } catch {
              // A file is where the folder would be, or the other way round.
            }
          }
        };
        put(ignored.map(([folder, lines]) => [`${folder}.gitignore`, `${lines.join('\n')}\n`]));
        put(first);
        for (const file of forced) {
          try {
            code.git('sim', 'add', '--force', file);
          } catch {
            // There is none.
          }
        }
        code.commit('sim');
        put(later);
        const identity = await code.identity('sim/run.py');
        expect(identity).to.deep.include(code.reference('sim'));
        expect(identity.git?.dirty).to.equal(isDirty());
      }),
      { numRuns: 25, seed: 7 },
    );
  });

  it('has the files of submodules, and sees their changes', async () => {
    code.write({ 'module/m.py': 'M = 1\n' });
    code.git('module', 'init', '--quiet');
    code.commit('module');
    repository();
    code.git('sim', 'submodule', '--quiet', 'add', at('module'), 'm');
    code.commit('sim');
    const look = code.look('sim/run.py');
    const clean = identityOf(await look.look());
    expect(clean).to.deep.include(code.reference('sim'));
    expect(clean.git?.dirty).to.equal(false);
    code.write({ 'sim/m/m.py': 'M = 2\n' });
    const changed = identityOf(await look.look());
    expect(changed).to.deep.include(code.reference('sim'));
    expect(changed.digest).not.to.equal(clean.digest);
    expect(changed.git?.dirty).to.equal(true);
  });

  it('is that of a worktree and of a folder inside a repository', async () => {
    repository({ 'sim/inner/run.py': 'print(1)\n', 'sim/inner/a.py': '' });
    code.git('sim', 'tag', 'v1');
    code.git('sim', 'worktree', 'add', '--quiet', at('tree'), '-b', 'other');
    code.write({ 'tree/inner/a.py': 'changed' });
    const commit = code.commit('tree');
    const identity = await code.identity('tree/inner/run.py');
    expect(identity).to.deep.include({ ...code.reference('tree/inner'), files: 2, root: at('tree/inner') });
    expect(identity.git).to.deep.include({ commit, dirty: false });
    expect(identity.git?.describe).to.match(/^v1-1-g[0-9a-f]+$/);
    // A change outside of the folder does not change the code.
    code.write({ 'tree/run.py': 'other' });
    expect(await code.identity('tree/inner/run.py')).to.deep.equal(identity);
  });

  it('without git has the files of the same language, and no others', async () => {
    code.write({
      'sim/run.py': '1',
      'sim/lib/a.py': '2',
      'sim/data.csv': '3',
      'sim/.hidden/b.py': '4',
      'sim/__pycache__/c.py': '5',
      'sim/venv/pyvenv.cfg': '',
      'sim/venv/lib/d.py': '6',
      'sim/out/e.py': '7',
    });
    const identity = await code.identity('sim/run.py', { own: ['sim/out'] });
    expect(identity).to.include({ files: 2 });
    expect(identity).not.to.have.property('git');
    code.write({ 'sim/data.csv': 'changed', 'sim/out/e.py': 'changed' });
    expect(await code.identity('sim/run.py', { own: ['sim/out'] })).to.deep.equal(identity);
    code.write({ 'sim/program': '8' });
    expect(await code.identity('sim/program')).to.include({ files: 1 });
  });

  it('has the files of patterns instead, with the commit', async () => {
    repository({ 'sim/model/a.dat': '1', 'sim/model/deep/b.dat': '2', 'sim/notes.txt': '3' });
    const globs = ['run.py', 'model/**'];
    const look = code.look('sim/run.py', { globs });
    const identity = identityOf(await look.look());
    expect(identity).to.include({ files: 3 });
    expect(identity.git?.dirty).to.equal(false);
    code.write({ 'sim/notes.txt': 'changed' });
    expect(identityOf(await look.look())).to.deep.equal(identity);
    code.write({ 'sim/model/deep/b.dat': 'changed' });
    const changed = identityOf(await look.look());
    expect(changed.digest).not.to.equal(identity.digest);
    expect(changed.git?.dirty).to.equal(true);
    expect(await code.look('sim/run.py', { globs: ['absent/*'] }).look()).to.deep.equal({
      fault: `no file matches absent/* in ${at('sim')}`,
    });
  });

  it('reads no pipe, and leaves out what cannot be read', async function () {
    repository();
    const clean = await code.identity('sim/run.py');
    execFileSync('mkfifo', [at('sim/pipe')]);
    expect(await code.identity('sim/run.py')).to.deep.equal(clean);
    if (process.getuid?.() === 0) return;
    code.write({ 'sim/secret.py': '1' });
    chmodSync(at('sim/secret.py'), 0);
    expect(await code.identity('sim/run.py')).to.include({
      digest: clean.digest,
      note: '1 code file cannot be read and is not in the digest',
    });
  });

  it('is that of the entrypoint alone beyond 256 MiB and beyond 5,000 files, and says so', async () => {
    repository();
    const alone = await code.identity('sim/run.py');
    code.write({ 'sim/huge.bin': '' });
    truncateSync(at('sim/huge.bin'), 256 * 1024 * 1024);
    const huge = await code.identity('sim/run.py');
    expect(huge).to.include({ digest: alone.digest, files: 1 });
    expect(huge.note).to.equal(
      'only the entrypoint, since the code files have more than 256 MiB: name the code files in <engine>_code',
    );
    unlinkSync(at('sim/huge.bin'));
    code.write(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`sim/many/${n}.py`, ''])));
    const many = await code.identity('sim/run.py');
    expect(many).to.include({ digest: alone.digest, files: 1 });
    expect(many.note).to.include('there are more than 5000 code files');
  });

  it('sees each change at the next look, also a change that restores size and time, and a change of the list', async () => {
    repository();
    const look = code.look('sim/run.py');
    code.aheadMs = 10_000;
    const seen = new Set([identityOf(await look.look()).digest]);
    const next = async (change: () => void): Promise<void> => {
      change();
      const { digest } = identityOf(await look.look());
      expect(digest).to.equal(code.reference('sim').digest);
      expect(seen).not.to.include(digest);
      seen.add(digest);
      expect(identityOf(await look.look()).digest).to.equal(digest);
    };
    utimesSync(at('sim/run.py'), 1_000, 1_000);
    await look.look();
    await next(() => {
      code.write({ 'sim/run.py': 'print(9)\n' });
      utimesSync(at('sim/run.py'), 1_000, 1_000);
    });
    await next(() => code.write({ 'sim/added.py': '' }));
    await next(() => {
      code.write({ 'sim/next': 'print(8)\n' });
      renameSync(at('sim/next'), at('sim/run.py'));
    });
    await next(() => unlinkSync(at('sim/added.py')) ?? code.write({ 'sim/b/c/d.py': '' }));
    await next(() => code.write({ 'sim/b/.gitignore': 'c\n' }));
  });

  it('shares a look with calls that come before it, and for a few times its own duration with those that ask for lately', async () => {
    repository();
    // Each reading of the clock takes a millisecond, so that a look does.
    let nowMs = 0;
    const pausesMs: number[] = [];
    const after = (ms: number, action: () => void): (() => void) => {
      pausesMs.push(ms);
      nowMs += ms;
      queueMicrotask(action);
      return () => {};
    };
    const clock = { now: () => Date.now() + 10_000, monotonicMs: () => (nowMs += 1), after };
    const look = code.look('sim/run.py', { clock });
    await look.look();
    await look.look();
    const [first, second, third] = await Promise.all([look.look(), look.look(), look.look('lately')]);
    expect(second).to.equal(first);
    expect(third).to.equal(first);
    code.write({ 'sim/run.py': 'print(4)\n' });
    expect(await look.look('lately')).to.equal(first);
    const changed = await look.look();
    expect(identityOf(changed).digest).to.equal(code.reference('sim').digest).and.not.equal(identityOf(first).digest);
    expect(pausesMs).not.to.be.empty;
    nowMs += 5_000;
    code.write({ 'sim/run.py': 'print(5)\n' });
    expect(identityOf(await look.look('lately')).digest).to.equal(code.reference('sim').digest);
    // A look that has begun is not shared by a later call: the first files may have been read already.
    nowMs += 5_000;
    const begun = look.look();
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    const later = look.look();
    expect(await later).not.to.equal(await begun);
  });

  it('changes its commit when the same bytes are committed, and asks git at most once a minute', async () => {
    const before = repository();
    code.write({ 'sim/run.py': 'print(2)\n' });
    const look = code.look('sim/run.py');
    const dirty = identityOf(await look.look());
    expect(dirty.git).to.include({ commit: before, dirty: true });
    const commit = code.commit('sim');
    const unknown = identityOf(await look.look());
    expect(unknown.digest).to.equal(dirty.digest);
    expect(unknown.git).to.deep.equal({ commit, dirty: null, describe: null });
    code.aheadMs = 61_000;
    expect(identityOf(await look.look()).git).to.include({ commit, dirty: false });
  });

  it('leaves out a file that may not be read, and says so; an entrypoint that may not be read has none', async function () {
    code.write({ 'sim/run.py': 'print(1)\n', 'sim/secret.py': 'KEY = 1\n' });
    chmodSync(code.folder, 0o755);
    chmodSync(at('sim/secret.py'), 0);
    const looked = await code.lookAsOther('sim/run.py');
    if (looked === undefined) return this.skip();
    chmodSync(at('sim/secret.py'), 0o600);
    unlinkSync(at('sim/secret.py'));
    expect(looked).to.deep.include({ digest: (await code.identity('sim/run.py')).digest, files: 1 });
    expect(looked.note).to.equal('1 code file cannot be read and is not in the digest');
    chmodSync(at('sim/run.py'), 0);
    expect(await code.lookAsOther('sim/run.py')).to.deep.equal({
      fault: `the entrypoint ${at('sim/run.py')} cannot be read`,
    });
  });

  it('has none when the entrypoint cannot be read', async () => {
    code.write({ 'sim/other.py': '' });
    expect(await code.look('sim/run.py').look()).to.deep.equal({
      fault: `the entrypoint ${at('sim/run.py')} cannot be read`,
    });
    expect(await code.look('absent/run.py').look())
      .to.have.property('fault')
      .that.includes('ENOENT');
  });
});
