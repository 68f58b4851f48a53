/** Injects bugs into copies of the compiled program: a test that passes all the same would prove nothing. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';
import { INJECTED_BUGS, type InjectedBug } from './injected-bugs.ts';

describe('night/injected-bugs', () => {
  let copy = '';
  before(() => {
    copy = mkdtempSync(join(tmpdir(), 'simbatch-bugs-'));
    for (const name of readdirSync(packageRoot)) {
      if (name !== 'dist') symlinkSync(join(packageRoot, name), join(copy, name));
    }
    cpSync(join(packageRoot, 'dist'), join(copy, 'dist'), { recursive: true });
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  async function run(test: string): Promise<{ code: number | null; output: string }> {
    const mocha = join(packageRoot, 'node_modules/mocha/bin/mocha.js');
    const child = spawn(process.execPath, [mocha, '--timeout', '30000', join('dist/test', test)], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  for (const bug of INJECTED_BUGS) {
    it(`finds: ${bug.name}`, async () => {
      const { file, find, replace, test }: InjectedBug = bug;
      const path = join(copy, 'dist', file);
      const original = readFileSync(path, 'utf8');
      expect(original.split(find), `${file} has the text once`).to.have.length(2);
      writeFileSync(
        path,
        original.replace(find, () => replace),
      );
      try {
        const { code, output } = await run(test);
        expect(output, test).to.match(/\d+ failing/);
        expect(code).not.to.equal(0);
      } finally {
        writeFileSync(path, original);
      }
    });
  }

  it('passes without a bug', async () => {
    for (const test of new Set(INJECTED_BUGS.map((it) => it.test))) {
      const { code, output } = await run(test);
      expect(code, `${test}: ${output}`).to.equal(0);
    }
  });
});
