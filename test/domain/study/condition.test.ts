import { expect } from 'chai';
import * as fc from 'fast-check';
import { CONDITION_OPERATORS } from '../../../src/base/expressions/comparison.ts';
import { meets, parseCondition } from '../../../src/domain/study/condition.ts';

describe('domain/study/condition', () => {
  const readable: [text: string, operator: string, threshold: number][] = [
    ['< 0', '<', 0],
    ['<0', '<', 0],
    ['<= 1.5', '<=', 1.5],
    ['> -3', '>', -3],
    ['>=+2', '>=', 2],
    ['== 1e3', '==', 1000],
    ['!= 1E-3', '!=', 0.001],
    ['  <\t .5  ', '<', 0.5],
    ['> 5.', '>', 5],
    ['< 1e-400', '<', 0],
  ];
  for (const [text, operator, threshold] of readable) {
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(parseCondition(text)).to.deep.equal({ operator, threshold });
    });
  }

  const faulty: [text: string, saying: string][] = [
    ['', 'is not a condition'],
    ['0', 'expected an operator'],
    ['<', 'is not a condition'],
    ['= 0', 'written "=="'],
    ['=< 0', 'written "<="'],
    ['=== 0', 'is not a condition'],
    ['<> 0', 'is not a condition'],
    ['< = 0', 'is not a condition'],
    ['< 0x10', 'is not a condition'],
    ['< 1_000', 'is not a condition'],
    ['< 1,5', 'point'],
    ['< NaN', 'must be finite'],
    ['< -Infinity', 'must be finite'],
    ['< 1e999', 'too large'],
    ['< 0 and > 1', 'is not a condition'],
    ['< 0;', 'is not a condition'],
    ['< 0\n', 'is not a condition'],
    ['altitude < 0', 'named in "variable"'],
    ['< ٣', 'is not a condition'],
    ['<' + ' '.repeat(1_000_000) + 'x', '1000002 characters'],
    ['< ' + '9'.repeat(200), 'the limit is 100'],
  ];
  for (const [text, saying] of faulty) {
    it(`refuses ${JSON.stringify(text.slice(0, 20))}`, () => {
      expect(parseCondition(text)).to.be.a('string').that.includes(saying);
    });
  }

  const outcomes: [value: number, met: string][] = [
    [-1, '< <= !='],
    [0, '<= >= =='],
    [-0, '<= >= =='],
    [1, '> >= !='],
    [Infinity, '> >= !='],
    [-Infinity, '< <= !='],
    [NaN, ''],
  ];
  for (const [value, met] of outcomes) {
    it(`${value} meets "${met}" of 0`, () => {
      const holding = CONDITION_OPERATORS.filter((operator) => meets({ operator, threshold: 0 }, value));
      expect(holding.join(' ')).to.equal(met);
    });
  }

  it('parses every valid condition exactly', () => {
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(
        fc.constantFrom(...CONDITION_OPERATORS),
        fc.constantFrom('', ' ', '\t '),
        numbers,
        (operator, blanks, threshold) => {
          const parsed = parseCondition(`${blanks}${operator}${blanks}${threshold}${blanks}`);
          expect(parsed).to.deep.equal({ operator, threshold: Number(String(threshold)) });
        },
      ),
    );
  });

  it('returns a finite threshold or a fault for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'<>=!+-.eE019 \t x'.split('')) }), (text) => {
        const parsed = parseCondition(text);
        if (typeof parsed === 'string') expect(parsed).to.not.equal('');
        else expect(Number.isFinite(parsed.threshold)).to.equal(true);
      }),
    );
  });
});
