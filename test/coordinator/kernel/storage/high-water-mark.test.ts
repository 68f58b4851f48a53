/** The high-water mark: its two slots are written in turn, so that a write that is torn leaves the mark before it. */
import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMark,
  HighWaterMark,
  MARK_FILE,
  readMark,
  type Mark,
} from '../../../../src/coordinator/kernel/storage/integrity/high-water-mark.ts';

const SLOT_BYTES = 4096;
const markOf = (number: number): Mark => ({ store: 'cafe', number, hash: '0123456789abcdef', sequence: 10 * number });

describe('coordinator/kernel/storage/integrity: high-water mark', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-mark-'));
    path = join(folder, MARK_FILE);
    await createMark(folder, markOf(1));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const numberIn = (): number => {
    const mark = readMark(folder);
    return mark === undefined || mark === 'damaged' ? 0 : mark.number;
  };

  it('leaves the mark before when the write of any mark is torn', async () => {
    const mark = new HighWaterMark(folder, (error) => expect.fail(String(error)));
    try {
      for (let number = 2; number < 7; number += 1) {
        const before = readFileSync(path);
        mark.advance(markOf(number));
        while (numberIn() !== number) await new Promise((resolve) => setTimeout(resolve, 5));
        const after = readFileSync(path);
        const changed = [0, 1].filter((slot) => {
          const [from, to] = [slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES];
          return !after.subarray(from, to).equals(before.subarray(from, to));
        });
        expect(changed, `mark ${String(number)}`).to.have.length(1);
        const torn = Buffer.from(after);
        torn.fill(0, changed[0]! * SLOT_BYTES + 6, changed[0]! * SLOT_BYTES + 20);
        writeFileSync(path, torn);
        expect(numberIn(), `mark ${String(number)}`).to.equal(number - 1);
        writeFileSync(path, after);
      }
    } finally {
      await mark.close();
    }
    expect(readMark(folder)).to.deep.equal(markOf(6));
  });

  it('is damaged when both slots are, and absent without a file', () => {
    writeFileSync(path, Buffer.alloc(2 * SLOT_BYTES));
    expect(readMark(folder)).to.equal('damaged');
    rmSync(path);
    expect(readMark(folder)).to.equal(undefined);
  });
});
