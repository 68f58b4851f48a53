/** The studies in the memory of the analysis worker: which are read again, and which are dropped. */
import { expect } from 'chai';
import { StudyTables } from '../../../src/coordinator/answers/worker/study-tables.ts';
import type { KeptStudy } from '../../../src/coordinator/answers/worker/study.ts';

describe('coordinator/answers/worker/study-tables', () => {
  let reads: string[];
  /** Bytes of each study. */
  const sizes: Record<string, number> = { a: 40, b: 40, c: 40, large: 500 };
  let held: Promise<void>;
  let tables: StudyTables | undefined;
  /** Bytes of the other studies when one begins to be read. */
  let kept: number | undefined;
  beforeEach(() => {
    reads = [];
    tables = undefined;
    held = Promise.resolve();
  });
  const open = (): StudyTables =>
    new StudyTables(async (batchId, known, beside, makeRoom) => {
      reads.push(known === undefined ? batchId : `${batchId} again`);
      if (beside.length > 0) reads.push(`beside ${beside.map((it) => it.table.batchId).join()}`);
      await held;
      makeRoom(sizes[batchId]!);
      kept = tables?.bytes;
      return { version: '1', bytes: sizes[batchId]!, table: { batchId } } as KeptStudy;
    }, 100);

  it('keeps those that were used last, within the limit', async () => {
    tables = open();
    for (const id of ['a', 'b', 'a', 'c', 'a', 'c', 'b']) await tables.of(id, '1');
    expect(reads).to.deep.equal(['a', 'b', 'c', 'b']);
    expect(tables.bytes).to.equal(80);
  });

  it('keeps the study in use, even when it is larger than the limit', async () => {
    tables = open();
    for (const id of ['a', 'large', 'large']) await tables.of(id, '1');
    expect(reads).to.deep.equal(['a', 'large']);
    await tables.of('a', '1');
    expect(tables.bytes).to.equal(40);
  });

  it('drops others before it reads a study, and none that the same question has read before', async () => {
    tables = open();
    for (const id of ['a', 'b']) await tables.of(id, '1');
    const first = await tables.of('b', '1');
    await tables.of('large', '1', [first]);
    expect([kept, reads.slice(2)]).to.deep.equal([40, ['large', 'beside b']]);
    await tables.of('c', '1');
    // Both were dropped for the third, also the large study, which was used last.
    expect([kept, tables.bytes]).to.deep.equal([0, 40]);
  });

  it('drops no study while it is read', async () => {
    tables = open();
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
