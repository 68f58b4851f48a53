/** The studies in the memory of the analysis worker: which are read again, and which are dropped. */
import { expect } from 'chai';
import { StudyTables } from '../../../src/coordinator/answers/worker/study-tables.ts';
import type { KeptStudy } from '../../../src/coordinator/answers/worker/study.ts';

describe('coordinator/answers/worker/study-tables', () => {
  let reads: string[];
  /** Bytes of each study. */
  const sizes: Record<string, number> = { a: 40, b: 40, c: 40, large: 500 };
  let held: Promise<void>;
  beforeEach(() => {
    reads = [];
    held = Promise.resolve();
  });
  const open = (): StudyTables =>
    new StudyTables(async (batchId, known) => {
      reads.push(known === undefined ? batchId : `${batchId} again`);
      await held;
      return { version: '1', bytes: sizes[batchId]! } as KeptStudy;
    }, 100);

  it('keeps those that were used last, within the limit', async () => {
    const tables = open();
    for (const id of ['a', 'b', 'a', 'c', 'a', 'c', 'b']) await tables.of(id, '1');
    expect(reads).to.deep.equal(['a', 'b', 'c', 'b']);
    expect(tables.bytes).to.equal(80);
  });

  it('keeps the study in use, even when it is larger than the limit', async () => {
    const tables = open();
    for (const id of ['a', 'large', 'large']) await tables.of(id, '1');
    expect(reads).to.deep.equal(['a', 'large']);
    await tables.of('a', '1');
    expect(tables.bytes).to.equal(40);
  });

  it('drops no study while it is read', async () => {
    const tables = open();
    let release = (): void => {};
    held = new Promise((resolve) => (release = resolve));
    const slow = tables.of('a', '1');
    await Promise.resolve();
    held = Promise.resolve();
    await tables.of('large', '1');
    const joined = tables.of('a', '1');
    release();
    expect(await joined).to.equal(await slow);
    expect(reads).to.deep.equal(['a', 'large']);
  });
});
