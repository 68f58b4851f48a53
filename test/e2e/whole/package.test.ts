/** The npm package: packed, installed in an empty folder, and used there as a program and as a library. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot, packageVersion } from '../../../src/base/package.ts';

const INSTALL_MS = 300_000;

/** Runs a command to its end and returns its exit code and everything it printed. */
function run(command: string, args: readonly string[], cwd: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
    child.stderr.on('data', (piece: Buffer) => (output += piece.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

describe('e2e/package', function () {
  this.timeout(INSTALL_MS);
  let folder = '';
  let program = '';

  before(async function () {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-package-'));
    // `npm test` has built dist/; packing must not build it again below the running tests.
    const packed = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], packageRoot);
    expect(packed.code, packed.output).to.equal(0);
    const home = join(folder, 'project');
    await mkdir(home);
    await writeFile(join(home, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n');
    const archive = join(folder, `simbatch-${packageVersion}.tgz`);
    const installed = await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', archive], home);
    const isOffline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH/.test(installed.output);
    if (installed.code !== 0 && isOffline && process.env['SIMBATCH_REQUIRE_ALL'] === undefined) this.skip();
    expect(installed.code, installed.output).to.equal(0);
    program = join(home, 'node_modules', '.bin', 'simbatch');
  });
  after(async () => {
    if (folder !== '') await rm(folder, { recursive: true, force: true });
  });

  it('prints its version as an installed program', async () => {
    const { code, output } = await run(program, ['--version'], folder);
    expect({ code, output: output.trim() }).to.deep.equal({ code: 0, output: packageVersion });
  });

  it('runs the demo from the installed package and leaves results in the current directory', async () => {
    const { code, output } = await run(program, ['demo', '6'], folder);
    expect(code, output).to.equal(0);
    expect(output).to.match(/Completed in /);
    const [demo = ''] = await readdir(join(folder, 'output'));
    expect(await readdir(join(folder, 'output', demo))).to.include('results.csv');
  });

  it('offers the typed client as a library', async () => {
    const script =
      "import { Client } from 'simbatch'; console.log(typeof new Client({ endpoint: 'http://127.0.0.1:1' }).submit)";
    const { code, output } = await run(
      process.execPath,
      ['--input-type=module', '-e', script],
      join(folder, 'project'),
    );
    expect({ code, output: output.trim() }).to.deep.equal({ code: 0, output: 'function' });
  });
});
