/** Tests that numbers are written to bytes as `String` writes them. */
import { expect } from 'chai';
import fc from 'fast-check';
import { NUMBER_BYTES, writeNumber } from '../../../src/base/decimals/write.ts';
import { times } from '../../support/properties.ts';

/** Undefined where `String` must write the number. */
function written(value: number): string | undefined {
  const bytes = new Uint8Array(NUMBER_BYTES + 3);
  const end = writeNumber(bytes, 3, value);
  return end < 0 ? undefined : new TextDecoder().decode(bytes.subarray(3, end));
}

/** Of ordinary sizes, as results have them. */
const ordinary = fc.oneof(
  fc.double({ min: -1e9, max: 1e9, noNaN: true }),
  fc.tuple(fc.integer(), fc.integer({ min: -6, max: 9 })).map(([number, power]) => number * 10 ** power),
  fc.tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 1023 })).map(([number, power]) => number / 2 ** (power % 60)),
);

describe('base/decimals', () => {
  it('writes a number as String does, or leaves it to String', () => {
    const check = (value: number): void => void expect(written(value) ?? String(value)).to.equal(String(value));
    const runs = { numRuns: times(5_000) };
    fc.assert(fc.property(fc.double(), check), runs);
    fc.assert(fc.property(ordinary, check), runs);
    for (const value of [-0, NaN, Infinity, -Infinity, 5e-324, 0.1 + 0.2, 1e16, 1e17, 1e21, 1e-6, 1e-7, 2 ** 31])
      check(value);
  });

  it('writes ordinary numbers itself', () => {
    const numbers = [
      0, 7, -12, 2147483647, -2147483648, 0.3, -0.1, 84.14709848078965, 1e-5, 123456789012.5, 4503599627370497,
    ];
    for (const value of numbers) expect(written(value)).to.equal(String(value));
    expect(written(1 / 3)).to.equal('0.3333333333333333');
    expect(written(9999999999999998)).to.equal('9999999999999998');
  });
});
