/** The compiled code of the real program: kept for the next start by a Node that can, and compiled again where it is damaged. */
import { expect } from 'chai';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simbatch } from '../../support/program.ts';

const CAN_KEEP = 'enableCompileCache' in module;

describe('cli: compiled code', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-compiled-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const help = async (env: Record<string, string> = {}): Promise<string> => {
    const { code, stdout, stderr } = await simbatch(['sample', '--help'], { TMPDIR: folder, ...env });
    expect(code, stderr).to.equal(0);
    expect(stderr).to.equal('');
    return stdout;
  };
  /** The texts of the files, by path. */
  async function kept(): Promise<Map<string, string>> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name));
    return new Map(await Promise.all(paths.map(async (it) => [it, await readFile(it, 'latin1')] as const)));
  }

  it('is kept where Node can, and a damaged file of it changes nothing', async () => {
    const printed = await help();
    const first = await kept();
    if (!CAN_KEEP) return void expect([...first.keys()]).to.deep.equal([]);
    expect(first.size).to.be.above(5);
    expect(await help()).to.equal(printed);
    expect(await kept()).to.deep.equal(first);
    let n = 0;
    for (const [path, text] of first)
      await writeFile(path, [text.slice(0, text.length / 2), '', text.replaceAll(/[a-z]/g, '~')][n++ % 3]!, 'latin1');
    expect(await help()).to.equal(printed);
  });

  it('is not kept against the wish of the user', async () => {
    await help({ NODE_DISABLE_COMPILE_CACHE: '1' });
    expect([...(await kept()).keys()]).to.deep.equal([]);
  });
});
