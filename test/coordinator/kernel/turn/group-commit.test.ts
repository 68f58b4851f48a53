/** The reports of a group commit: when turns wait for the disk. */
import { expect } from 'chai';
import { GroupCommit } from '../../../../src/coordinator/kernel/turn/group-commit.ts';
import { MemoryStore } from '../../../support/memory-store.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

describe('coordinator/kernel/turn/group-commit', () => {
  it('reports that turns wait until the last of them is on disk, also those that came during a write', async () => {
    const writes: (() => void)[] = [];
    const store = new MemoryStore(new Map(), { beforeWrite: () => new Promise((resolve) => writes.push(resolve)) });
    const reports: string[] = [];
    const groupCommit = new GroupCommit(store, new SimulatedClock(), {
      committed: ({ records }) => reports.push(`${records} on disk`),
      waiting: (areWaiting) => reports.push(areWaiting ? 'waiting' : 'none waits'),
      failed: (error) => reports.push(error.message),
    });
    const add = (key: string): Promise<void> => groupCommit.add([], new Map([[key, '1']]), []);
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const first = add('a').then(() => reports.push('a answered'));
    await settled();
    const second = add('b').then(() => reports.push('b answered'));
    writes.shift()!();
    await first;
    await settled();
    writes.shift()!();
    await second;
    expect(reports).to.deep.equal([
      'waiting',
      'waiting',
      '1 on disk',
      'a answered',
      '1 on disk',
      'none waits',
      'b answered',
    ]);
  });

  it('reports nothing for a turn without changes', async () => {
    const reports: boolean[] = [];
    const groupCommit = new GroupCommit(new MemoryStore(), new SimulatedClock(), {
      committed: () => {},
      waiting: (areWaiting) => reports.push(areWaiting),
      failed: () => {},
    });
    await groupCommit.add([], new Map(), []);
    expect(reports).to.deep.equal([]);
  });
});
