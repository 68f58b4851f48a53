/** Sets of files of checkpoints: linked while a simulation replaces them, and brought from a store whole or not at all. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { LIMITS } from '../../../src/contract/limits.ts';
import { downloadCheckpoint, type StoredCheckpoint } from '../../../src/runner/checkpoints/checkpoint-download.ts';
import { linkSet, lookAt } from '../../../src/runner/checkpoints/checkpoint-set.ts';
import { StoredCheckpoints } from '../../../src/runner/checkpoints/stored-checkpoints.ts';

describe('runner/checkpoints: sets of files', () => {
  let around: string;
  let root: string;
  let directory: string;
  beforeEach(() => {
    around = mkdtempSync(join(tmpdir(), 'simbatch-sets-'));
    root = join(around, 'run');
    mkdirSync(root);
    directory = join(root, 'attempt-2');
    mkdirSync(directory);
  });
  afterEach(() => rmSync(around, { recursive: true }));

  it('are linked whole, and are none where a file is gone or has changed', async () => {
    for (const name of ['a', 'b']) writeFileSync(join(directory, name), name);
    const look = (await lookAt(directory))!;
    const folder = join(root, 'linked');
    expect(await linkSet(directory, look, folder)).to.equal(true);
    expect(readdirSync(folder).map((it) => readFileSync(join(folder, it), 'utf8'))).to.have.members(['a', 'b']);
    writeFileSync(join(directory, 'b'), 'longer');
    expect(await linkSet(directory, look, folder), 'changed').to.equal(false);
    rmSync(join(directory, 'b'));
    expect(await linkSet(directory, look, folder), 'gone').to.equal(false);
  });

  it('that cannot be linked are a fault', async () => {
    mkdirSync(join(directory, 'folder'));
    const look = new Map([['folder', { bytes: 1, version: '1' }]]);
    const error = await linkSet(directory, look, join(root, 'linked')).catch((it: unknown) => it);
    expect(error).to.be.instanceOf(Error);
  });

  const EMPTY = createHash('sha256').digest('hex');
  const file = (path: string, sha256 = EMPTY) => ({ path, bytes: 0, sha256, url: 'http://127.0.0.1:9/' });
  const fetched = async (files: StoredCheckpoint['files'], maxBytes = 0): Promise<string> => {
    const stop = new AbortController().signal;
    const stored: StoredCheckpoint = { attempt: 1, files };
    return downloadCheckpoint(directory, stored, { maxBytes, clock: systemClock, stop }).then(
      () => 'here',
      (error: Error) => error.message,
    );
  };

  it('of as many bytes as the limit are brought, and none of one more', async () => {
    expect(await fetched([file('state'), file('in/folder')])).to.equal('here');
    expect(readdirSync(join(root, 'attempt-1'), { recursive: true })).to.have.members(['state', 'in', 'in/folder']);
    expect(await fetched([{ ...file('more'), bytes: 1 }])).to.match(/^it has 1 bytes, more than 0/);
  });

  const refused: [title: string, files: StoredCheckpoint['files'], why: RegExp][] = [
    ['a path that leaves the folder', [file('../../escaped')], /^its path "\.\.\/\.\.\/escaped" /],
    ['an absolute path', [file('/escaped')], /^its path "\/escaped" /],
    ['another content', [file('state', 'f'.repeat(64))], /^"state" has another content than was sent$/],
    ['a path that is given twice', [file('state'), file('state')], /^EEXIST/],
    [
      'too many files',
      Array.from({ length: LIMITS.checkpointFiles + 1 }, (_, at) => file(String(at))),
      /^it has 1001 files$/,
    ],
  ];
  for (const [title, files, why] of refused)
    it(`of the store are refused for ${title}, and nothing is left`, async () => {
      expect(await fetched(files)).to.match(why);
      expect(readdirSync(root)).to.deep.equal(['attempt-2']);
      expect(readdirSync(around)).to.deep.equal(['run']);
      expect(existsSync('/escaped')).to.equal(false);
    });

  for (const [endsAtMs, maxMs, expected] of [
    [undefined, undefined, 40_000],
    [1, undefined, 7_000],
    [undefined, 1, 7_000],
    [1, 1, 7_000],
  ])
    it(`may take ${expected} ms at the end of a runner whose machine ends at ${endsAtMs ?? 'no time'}, after ${maxMs ?? 'no time'}`, () => {
      const config = { lifetime: { endsAtMs, maxMs, marginMs: 7_000 } };
      expect(new StoredCheckpoints({ config } as never).handBackMs).to.equal(expected);
    });
});
