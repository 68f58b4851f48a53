/** Functions of studies on a runner: read once, checked against their digest, never half written; the plan of a run with one. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { functionEngine } from '../../../src/runner/functions/engine.ts';
import { FunctionFiles } from '../../../src/runner/functions/function-files.ts';

const DATA = Buffer.from('a function');
const SHA256 = createHash('sha256').update(DATA).digest('hex');

describe('runner/functions/function-files', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'simbatch-functions-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('reads a function once, however many runs start together or later', async () => {
    let reads = 0;
    const files = new FunctionFiles(join(folder, 'own'), async () => {
      reads += 1;
      return DATA.toString('base64');
    });
    await Promise.all(Array.from({ length: 5 }, () => files.fetch('b', SHA256)));
    await files.fetch('b', SHA256);
    const path = files.pathOf(SHA256);
    expect(path).to.equal(join(folder, 'own', `${SHA256}.pickle`));
    expect(readFileSync(path)).to.deep.equal(DATA);
    expect(statSync(path).mode & 0o077).to.equal(0);
    expect(reads).to.equal(1);
  });

  it('keeps nothing that does not have the digest of the study', async () => {
    const files = new FunctionFiles(folder, async () => Buffer.from('another').toString('base64'));
    const error = await files.fetch('b', SHA256).then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).to.equal('the function of study b does not have the digest of its study');
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('reads again after a failure', async () => {
    let fails = true;
    const files = new FunctionFiles(folder, async () => {
      if (fails) throw new Error('away');
      return DATA.toString('base64');
    });
    await files.fetch('b', SHA256).catch(() => {});
    fails = false;
    await files.fetch('b', SHA256);
    expect(readFileSync(files.pathOf(SHA256))).to.deep.equal(DATA);
  });

  it('an interpreter without cloudpickle has a fault with the command that installs it', async () => {
    const engine = await functionEngine({ executable: 'false', version: '3.11.7' });
    expect(engine).to.deep.equal({
      fault: 'false cannot import cloudpickle; try: false -m pip install cloudpickle',
    });
    expect(await functionEngine(undefined))
      .to.have.property('fault')
      .that.includes('there is no Python');
    const found = await functionEngine({ executable: 'true', version: '3.11.7' });
    expect(found).to.have.property('name', 'python-functions-3.11');
  });
});
