/** A folder with code for tests: git, the look of the runner at it, and the digest by the independent reference. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../../src/base/clock.ts';
import { packageRoot } from '../../../../src/base/package.ts';
import type { CodeIdentity } from '../../../../src/contract/types.ts';
import { CodeLook, type CodeLookOptions } from '../../../../src/runner/code/code-look.ts';
import { GitProgram } from '../../../../src/runner/code/git-program.ts';

const REFERENCE = join(packageRoot, 'test/e2e/runner/code/reference.py');

export class CodeFolder {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'simbatch-code-'));
  readonly env: Record<string, string>;
  /** How far the clock of looks is ahead: files count as settled then. */
  aheadMs = 0;

  constructor() {
    // The settings of the machine's own user do not matter.
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: join(this.folder, 'home'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.org',
    };
    mkdirSync(join(this.folder, 'home'));
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), text);
    }
  }

  git(at: string, ...args: string[]): string {
    const options = ['-c', 'protocol.file.allow=always', '-c', 'init.defaultBranch=main'];
    return execFileSync('git', [...options, ...args], {
      cwd: join(this.folder, at),
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  commit(at: string): string {
    this.git(at, 'add', '--all');
    this.git(at, 'commit', '--quiet', '--allow-empty', '-m', 'a change');
    return this.git(at, 'rev-parse', 'HEAD').trim();
  }

  /** A look at the code of an entrypoint, with files that are older than the coarsest times. */
  look(
    entrypoint: string,
    more: { globs?: readonly string[]; own?: readonly string[]; clock?: CodeLookOptions['clock'] } = {},
  ): CodeLook {
    const clock = more.clock ?? {
      now: () => systemClock.now() + this.aheadMs,
      monotonicMs: () => systemClock.monotonicMs() + this.aheadMs,
      after: (ms: number, action: () => void) => systemClock.after(ms, action),
    };
    const { globs, own = [] } = more;
    const git = new GitProgram(clock, this.env);
    return new CodeLook({
      entrypoint: join(this.folder, entrypoint),
      globs,
      own: own.map((it) => join(this.folder, it)),
      clock,
      git,
    });
  }

  /**
   * The identity, or why there is none, as a user sees it for whom permissions hold: root reads every file. Undefined where that user cannot read
   * this program.
   */
  async lookAsOther(entrypoint: string): Promise<(Partial<CodeIdentity> & { fault?: string }) | undefined> {
    const script = `
      import { CodeLook } from ${JSON.stringify(import.meta.resolve('../../../../src/runner/code/code-look.js'))};
      import { GitProgram } from ${JSON.stringify(import.meta.resolve('../../../../src/runner/code/git-program.js'))};
      import { systemClock as clock } from ${JSON.stringify(import.meta.resolve('../../../../src/base/clock.js'))};
      const git = new GitProgram(clock, { PATH: process.env.PATH, HOME: '/nonexistent' });
      const look = new CodeLook({ entrypoint: ${JSON.stringify(join(this.folder, entrypoint))}, globs: undefined, own: [], clock, git });
      const looked = await look.look();
      console.log(JSON.stringify(looked.code ?? looked));`;
    const isRoot = process.getuid?.() === 0;
    const child = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
      ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
    });
    if (child.status === 0) return JSON.parse(child.stdout) as Partial<CodeIdentity>;
    if (isRoot && /EACCES|ERR_MODULE_NOT_FOUND/.test(child.stderr)) return undefined;
    throw new Error(child.stderr);
  }

  async identity(
    entrypoint: string,
    more: { globs?: readonly string[]; own?: readonly string[] } = {},
  ): Promise<CodeIdentity> {
    return identityOf(await this.look(entrypoint, more).look());
  }

  /** The digest of the code in a folder, and its number of files. */
  reference(at: string): { digest: string; files: number } {
    const printed = execFileSync('python3', [REFERENCE, join(this.folder, at)], { env: this.env, encoding: 'utf8' });
    const [digest = '', files] = printed.trim().split(' ');
    return { digest, files: Number(files) };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function identityOf(looked: Awaited<ReturnType<CodeLook['look']>>): CodeIdentity {
  if ('code' in looked) return looked.code;
  throw new Error(looked.fault);
}
