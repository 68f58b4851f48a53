/** Selections of runs: the notation with its faults, and every operation against a set of run ids. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { MAX_RANGES, MAX_RUN_ID } from '../../../src/domain/runs/run-ranges.ts';
import { RunSelection, beyondDesign } from '../../../src/domain/runs/run-selection.ts';

const selection = (text: string): RunSelection => {
  const parsed = RunSelection.parse(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
};
const idsOf = (it: RunSelection) => [...it.runIds()];

/** Small ascending sets of run ids, some with regular parts. */
const idSets = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 9 }),
      count: fc.integer({ min: 1, max: 8 }),
      step: fc.integer({ min: 1, max: 5 }),
    }),
    { maxLength: 8 },
  )
  .map((parts) => {
    const ids: number[] = [];
    let at = -1;
    for (const { gap, count, step } of parts) {
      at += gap;
      for (let k = 0; k < count; k++) ids.push(at + k * step);
      at += (count - 1) * step;
    }
    return ids;
  });
/** A notation and the run ids it names, written without the code under test. */
const notations = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 9 }),
      length: fc.integer({ min: 0, max: 30 }),
      step: fc.integer({ min: 1, max: 7 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => {
    const ids: number[] = [];
    const texts: string[] = [];
    let at = -1;
    for (const { gap, length, step } of parts) {
      const first = at + gap;
      for (let id = first; id <= first + length; id += step) ids.push(id);
      texts.push(
        length === 0 ? `${first}` : step === 1 ? `${first}-${first + length}` : `${first}-${first + length}:${step}`,
      );
      at = first + length;
    }
    return { text: texts.join(','), ids };
  });

describe('domain/runs/run-selection', () => {
  it('reads the notation of job arrays', () => {
    expect(idsOf(selection('3'))).to.deep.equal([3]);
    expect(idsOf(selection('0-2,5,8-13:2'))).to.deep.equal([0, 1, 2, 5, 8, 10, 12]);
    expect(selection('0-99,150,200-299:2').count).to.equal(151);
    expect(idsOf(selection('4-4,5-9:100'))).to.deep.equal([4, 5]);
    // The part before ends at run 8, so run 9 may follow.
    expect(idsOf(selection('6-9:2,9'))).to.deep.equal([6, 8, 9]);
  });

  const refused: [string, string][] = [
    ['', 'selects no run'],
    ['a', 'has the part "a"; each part must be'],
    ['1,,2', 'has the part ""'],
    ['1,', 'has the part ""'],
    ['1, 2', 'has the part " 2"'],
    ['-1', 'has the part "-1"'],
    ['1-', 'has the part "1-"'],
    ['1-2-3', 'has the part "1-2-3"'],
    ['1:2', 'has the part "1:2"'],
    ['1.5', 'has the part "1.5"'],
    ['0-9:', 'has the part "0-9:"'],
    ['0-9:0', 'whose step must be at least 1'],
    ['9-3', 'has the part "9-3", which ends before it begins'],
    ['0-9,9', 'has the part "9", which does not follow run 9'],
    ['0-9,3-5', 'has the part "3-5", which does not follow run 9'],
    ['5,5', 'does not follow run 5'],
    ['2147483647', 'with a number above 2147483646'],
    [`1${'0'.repeat(400)}`, 'with a number above 2147483646'],
    ['x'.repeat(100), `has the part "${'x'.repeat(40)}..."`],
  ];
  for (const [text, expected] of refused) {
    it(`refuses ${JSON.stringify(text.slice(0, 20))}`, () => expect(RunSelection.parse(text)).to.include(expected));
  }

  it('refuses more parts than the limit', () => {
    const parts = Array.from({ length: MAX_RANGES + 1 }, (_, k) => 2 * k);
    expect(RunSelection.parse(parts.join(','))).to.include(`at most ${MAX_RANGES} parts`);
    expect(selection(parts.slice(1).join(',')).count).to.equal(MAX_RANGES);
  });

  it('names the part that goes beyond the design', () => {
    expect(beyondDesign(selection('0-9,20-29'), 30)).to.equal(undefined);
    expect(beyondDesign(selection('0-9,20-29'), 29)).to.include('"20-29", but the design has 29 runs (0 to 28)');
    expect(beyondDesign(selection('0'), 0)).to.include('has no runs');
  });

  it('holds the runs that the notation names, and finds each by its index and by its run id', () => {
    fc.assert(
      fc.property(notations, ({ text, ids }) => {
        const it = selection(text);
        expect(it.count).to.equal(ids.length);
        expect(idsOf(it)).to.deep.equal(ids);
        for (let index = 0; index < ids.length; index++) expect(it.nth(index)).to.equal(ids[index]);
        for (let id = 0; id <= ids.at(-1)! + 2; id++) {
          const index = ids.indexOf(id);
          expect(it.indexOf(id), `run ${id} of ${text}`).to.equal(index < 0 ? undefined : index);
          expect(it.indexFrom(id), `from ${id} of ${text}`).to.equal(ids.filter((other) => other < id).length);
        }
        expect(idsOf(selection(it.toString()))).to.deep.equal(ids);
      }),
    );
  });

  it('is written and read back from any ascending run ids', () => {
    fc.assert(
      fc.property(idSets, (ids) => {
        const it = RunSelection.of(ids);
        expect(idsOf(it)).to.deep.equal(ids);
        if (ids.length > 0) expect(idsOf(selection(it.toString()))).to.deep.equal(ids);
      }),
    );
    expect(RunSelection.of([3, 17, 29, 40, 41, 42, 50, 52, 54]).toString()).to.equal('3,17,29,40-42,50-54:2');
    expect(() => RunSelection.of([3, 3])).to.throw(RangeError, 'ascend');
  });

  it('parts into its first runs and the others', () => {
    fc.assert(
      fc.property(notations, fc.integer({ min: -1, max: 60 }), ({ text, ids }, length) => {
        const it = selection(text);
        const cut = Math.max(0, length);
        expect(idsOf(it.take(length))).to.deep.equal(ids.slice(0, cut));
        expect(idsOf(it.drop(length))).to.deep.equal(ids.slice(cut));
        expect([...it.runIds(cut)]).to.deep.equal(ids.slice(cut));
      }),
    );
  });

  it('intersects as sets do', () => {
    fc.assert(
      fc.property(notations, notations, (a, b) => {
        const common = selection(a.text).intersection(selection(b.text));
        const expected = a.ids.filter((id) => b.ids.includes(id));
        expect(idsOf(common)).to.deep.equal(expected);
        expect(common.count).to.equal(expected.length);
      }),
    );
    const [a, b] = [selection(`1-${MAX_RUN_ID}:1999993`), selection(`4-${MAX_RUN_ID}:1999`)];
    const expected = idsOf(a).filter((id) => b.indexOf(id) !== undefined);
    expect(idsOf(a.intersection(b))).to.deep.equal(expected);
    expect(idsOf(b.intersection(a))).to.deep.equal(expected);
    // Two large coprime steps: their product needs 62 bits, and at most one run is common.
    const [c, d] = [selection(`0-${MAX_RUN_ID}:1073741789`), selection(`1-${MAX_RUN_ID}:1073741788`)];
    expect(idsOf(c.intersection(d))).to.deep.equal(idsOf(c).filter((id) => d.indexOf(id) !== undefined));
  });

  it('costs nothing by the run: two thousand million runs', () => {
    const all = RunSelection.between(0, 2 ** 31 - 1);
    expect(all.count).to.equal(2 ** 31 - 1);
    expect(all.nth(2 ** 31 - 2)).to.equal(MAX_RUN_ID);
    expect(all.indexOf(MAX_RUN_ID)).to.equal(MAX_RUN_ID);
    expect(all.drop(2 ** 30).intersection(selection(`0-${MAX_RUN_ID}:3`)).count).to.equal(
      Math.floor(MAX_RUN_ID / 3) - Math.floor((2 ** 30 - 1) / 3),
    );
    expect(RunSelection.between(5, 5).count).to.equal(0);
    expect(() => all.nth(2 ** 31 - 1)).to.throw(RangeError);
    expect(() => all.nth(0.5)).to.throw(RangeError);
  });
});
