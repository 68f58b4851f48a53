/** A copy of the compiled program in a temporary folder, in which single files are replaced while tests run on it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';

export interface TestRun {
  /** Of Mocha: the number of failed tests. Null when the run was ended because it took too long. */
  code: number | null;
  output: string;
}

export class ProgramCopy {
  readonly #root = mkdtempSync(join(tmpdir(), 'simbatch-bugs-'));

  constructor() {
    for (const name of readdirSync(packageRoot)) {
      if (name !== 'dist') symlinkSync(join(packageRoot, name), join(this.#root, name));
    }
    cpSync(join(packageRoot, 'dist'), join(this.#root, 'dist'), { recursive: true });
    // In place of the bundle: the processes of tests load the files that are replaced.
    writeFileSync(join(this.#root, 'dist/bin/simbatch.js'), "import '../src/cli/programs/simbatch.js';\n");
  }

  /** Replaces the text of a file below `dist/` while `work` runs. */
  async with<T>(file: string, change: (text: string) => string, work: () => Promise<T>): Promise<T> {
    const path = join(this.#root, 'dist', file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, change(original));
    try {
      return await work();
    } finally {
      writeFileSync(path, original);
    }
  }

  /**
   * Runs test files below `dist/test/` with Mocha.
   * @param args further arguments of Mocha
   * @param limitMs the run is ended after this time
   */
  async run(tests: readonly string[], args: readonly string[] = [], limitMs = 600_000): Promise<TestRun> {
    const mocha = join(packageRoot, 'node_modules/mocha/bin/mocha.js');
    const files = tests.map((it) => join('dist/test', it));
    const child = spawn(process.execPath, [mocha, ...args, ...files], {
      cwd: this.#root,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    // Mocha and the processes that its tests have started are one group.
    const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), limitMs);
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(timer);
    return { code, output };
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}
