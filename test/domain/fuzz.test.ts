/** Random bytes as conditions and quantities: each is rejected with a sentence or parsed to a number; nothing throws. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { CONDITION_OPERATORS } from '../../src/base/expressions/comparison.ts';
import { meets, parseCondition } from '../../src/domain/study/condition.ts';
import { parseCpu, parseMemory } from '../../src/domain/quantity.ts';
import { times } from '../support/properties.ts';

const bytes = fc.uint8Array({ maxLength: 200 });
const texts = fc.oneof(
  bytes.map((it) => Buffer.from(it).toString('latin1')),
  bytes.map((it) => Buffer.from(it).toString('utf8')),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('__proto__', 'constructor', '\0', '< \u0660', '1\u00a0', '١', '0x10', '1_000', 'Infinity', '1e999'),
  // Long runs of what the grammars repeat: time must not grow beyond the length.
  fc.tuple(fc.constantFrom('9', '<', ' ', '.', 'e', 'E1', '-'), fc.nat(100_000)).map(([it, n]) => it.repeat(n)),
);

describe('domain/fuzz', () => {
  it('parses or rejects every text as a condition', () => {
    fc.assert(
      fc.property(texts, fc.double(), (text, value) => {
        const parsed = parseCondition(text);
        if (typeof parsed === 'string') {
          expect(parsed.length).to.be.within(10, 1000);
          return;
        }
        expect(CONDITION_OPERATORS).to.include(parsed.operator);
        expect(Number.isFinite(parsed.threshold)).to.equal(true);
        expect(meets(parsed, value)).to.be.a('boolean');
        expect(meets(parsed, Number.NaN)).to.equal(false);
      }),
      { numRuns: times(2000) },
    );
  });

  it('parses or rejects every text as a quantity', () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const parsed of [parseCpu(text), parseMemory(text)]) {
          if (typeof parsed === 'string') expect(parsed.length).to.be.within(10, 1000);
          else expect(parsed >= 0 && Number.isFinite(parsed)).to.equal(true);
        }
      }),
      { numRuns: times(2000) },
    );
  });
});
