/** Faults of the machine as the program prints them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { simbatch } from '../../support/program.ts';

const REMEDY = 'name the file of the simulation: a path without arguments, not a command looked up in PATH';

describe('runner: faults of the machine', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-machine-'));
    writeFileSync(join(folder, 'plain'), '');
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('are printed by the program, one line per fault', async () => {
    const args = ['--endpoint', 'ftp://x', '--entrypoint', `a=${folder}/plain`, '--entrypoint', `b=${folder}/none`];
    const ended = await simbatch(['runner', ...args, '--output-root', `${folder}/out`]);
    expect(ended.stderr.replaceAll(folder, 'HERE').split('\n')).to.deep.equal([
      'simbatch: --endpoint: endpoint is "ftp://x" and must begin with http:// or https://, e.g. http://127.0.0.1:7070',
      '--entrypoint: a_entrypoint is "HERE/plain", but HERE/plain is not executable; try: chmod +x HERE/plain',
      `--entrypoint: b_entrypoint is "HERE/none", but HERE/none does not exist; ${REMEDY}`,
      '',
    ]);
    expect(ended.code).to.equal(78);
  });
});
