/** Files of a store that are kept open while they have a name, so that LevelDB deletes them in no time. */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeldFiles } from '../../../../../src/coordinator/kernel/storage/leveldb/held-files.ts';
import { openLevelEngine } from '../../../../../src/coordinator/kernel/storage/leveldb/level-engine.ts';

const CALM_LOOKS = 50;

/** A clock whose timers end when the test says so. */
class Timers {
  #due: (() => void) | undefined;

  readonly after = (_: number, action: () => void): (() => void) => {
    expect(this.#due, 'one timer at a time').to.equal(undefined);
    this.#due = action;
    return () => (this.#due = undefined);
  };

  get isWaiting(): boolean {
    return this.#due !== undefined;
  }

  ring(): void {
    const due = this.#due;
    this.#due = undefined;
    due?.();
  }
}

/** The files in a directory that this process has open, those without a name marked; undefined where there is no `/proc`. */
function openFiles(directory: string): string[] | undefined {
  if (!existsSync('/proc/self/fd')) return undefined;
  const targets = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(join('/proc/self/fd', fd));
    } catch {
      return '';
    }
  });
  return targets.filter((it) => it.startsWith(`${directory}/`)).map((it) => it.slice(directory.length + 1));
}

describe('coordinator/kernel/storage/leveldb/held-files', () => {
  let directory = '';
  let timers = new Timers();
  let held = new HeldFiles('', timers);
  const look = (): Promise<void> => {
    timers.ring();
    return held.looked;
  };
  const create = (...names: string[]): void => names.forEach((it) => writeFileSync(join(directory, it), 'text'));
  const remove = (name: string): void => rmSync(join(directory, name));

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'simbatch-held-'));
    timers = new Timers();
    held = new HeldFiles(directory, timers);
  });
  afterEach(async () => {
    await held.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('opens logs and tables after a write, and closes those that were deleted', async () => {
    create('000004.log', '000005.ldb', 'CURRENT', 'MANIFEST-000002', 'LOG', 'LOCK', '000006.dbtmp');
    expect(timers.isWaiting, 'before the first write').to.equal(false);
    held.expectChanges();
    held.expectChanges();
    await look();
    expect(held.names).to.have.members(['000004.log', '000005.ldb']);
    remove('000004.log');
    const open = openFiles(directory);
    if (open !== undefined) expect(open).to.have.members(['000004.log (deleted)', '000005.ldb']);
    create('000007.log');
    await look();
    expect(held.names).to.have.members(['000005.ldb', '000007.log']);
    if (open !== undefined) expect(openFiles(directory)).to.have.members(['000005.ldb', '000007.log']);
  });

  it('keeps the 256 files with the greatest numbers', async () => {
    const numbers = Array.from({ length: 300 }, (_, at) => at + 999_900);
    create(...numbers.map((it) => `${String(it)}.ldb`));
    held.expectChanges();
    await look();
    expect(held.names).to.have.members(numbers.slice(44).map((it) => `${String(it)}.ldb`));
  });

  it('passes over a file that is gone by now, a named pipe and a directory that is gone', async () => {
    symlinkSync(join(directory, 'none'), join(directory, '000001.log'));
    execFileSync('mkfifo', [join(directory, '000002.log')]);
    create('000003.log');
    held.expectChanges();
    await look();
    expect(held.names).to.include('000003.log').and.not.include('000001.log');
    rmSync(directory, { recursive: true });
    await look();
    expect(held.names).to.deep.equal([]);
  });

  it('looks until nothing has changed for some time, and again after the next write', async () => {
    create('000001.log');
    held.expectChanges();
    let looks = 0;
    for (; timers.isWaiting; looks += 1) {
      if (looks === 20) create('000002.ldb');
      await look();
    }
    expect(looks).to.equal(21 + CALM_LOOKS);
    held.expectChanges();
    expect(timers.isWaiting).to.equal(true);
  });

  it('has no file open after a close in the middle of a look', async () => {
    create(...Array.from({ length: 20 }, (_, at) => `${String(at)}.ldb`));
    held.expectChanges();
    timers.ring();
    await held.close();
    held.expectChanges();
    expect({ names: held.names, isWaiting: timers.isWaiting }).to.deep.equal({ names: [], isWaiting: false });
    expect(openFiles(directory) ?? []).to.deep.equal([]);
  });

  it('keeps the log of a store open while it writes, and nothing after its end', async () => {
    const store = join(directory, 'store');
    const engine = await openLevelEngine(store);
    const isLogHeld = (): boolean =>
      (openFiles(store) ?? ['a.log', 'a.log']).filter((it) => it.endsWith('.log')).length === 2;
    while (!isLogHeld()) {
      await engine.write([['key', 'value']], { sync: false });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(engine.get('key')).to.equal('value');
    await engine.close();
    expect(openFiles(store) ?? []).to.deep.equal([]);
  });
});
