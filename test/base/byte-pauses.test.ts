/** Pauses of long writes: no turn of the event loop handles more than about a mebibyte of records. */
import { expect } from 'chai';
import { BytePauses } from '../../src/base/async/byte-pauses.ts';
import { CheckedStore } from '../../src/coordinator/kernel/storage/integrity/checked-store.ts';
import type { Engine } from '../../src/coordinator/kernel/storage/engine.ts';

const MIB = 1024 * 1024;

describe('base/async/byte-pauses', () => {
  it('pauses before the work that exceeds a mebibyte in this turn, and never before the first', async () => {
    const pauses = new BytePauses();
    const paused = [2 * MIB, 1, MIB / 2, MIB / 2, 10].map((it) => pauses.before(it) !== undefined);
    expect(paused).to.deep.equal([false, true, false, true, false]);
  });

  it('leaves turns to others while a store prepares a large group, whose records stay in their order', async () => {
    let [turns, before] = [0, -1];
    const written: string[] = [];
    const engine = {
      write: async (operations) => {
        if (before < 0) before = turns;
        for (const [key] of operations) written.push(key);
      },
    } as Pick<Engine, 'write'> as Engine;
    const store = new CheckedStore({ engine, directory: '', store: 's', last: undefined, sequence: 0 });
    let isOver = false;
    const tick = (): void => {
      turns += 1;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    const keys = Array.from({ length: 8 }, (_, at) => `!rows!${at}`);
    const first = store.write(keys.map((key) => [key, 'x'.repeat(MIB)] as const));
    const second = store.write([['!rows!last', 'y']]);
    await Promise.all([first, second]);
    isOver = true;
    expect(before).to.be.at.least(7);
    expect(written.filter((it) => it.startsWith('!rows!'))).to.deep.equal([...keys, '!rows!last']);
  });
});
