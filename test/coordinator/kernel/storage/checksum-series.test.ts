/** Tests that a group's checksums equal those of the records one by one. */
import { expect } from 'chai';
import fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { checksum } from '../../../../src/coordinator/kernel/storage/integrity/checksum.ts';
import {
  multiplesOf,
  multiplied,
  product,
} from '../../../../src/coordinator/kernel/storage/integrity/crc-arithmetic.ts';
import { ChecksumSeries } from '../../../../src/coordinator/kernel/storage/integrity/checksum-series.ts';

const text = fc.string({ unit: 'binary', maxLength: 300 });

describe('checksums of a group', () => {
  it('are multiplied by lookups as by the steps of the definition', () => {
    const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(multiplied(multiplesOf(a), b)).to.equal(product(a, b));
      }),
    );
  });

  it('equal the checksum of each record, whatever values records share', () => {
    const records = fc.tuple(
      fc.array(text, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(text, fc.nat()), { maxLength: 30 }),
    );
    fc.assert(
      fc.property(records, ([values, keys]) => {
        const group = new ChecksumSeries();
        for (const [key, at] of keys) {
          const value = values[at % values.length]!;
          expect(group.of(key, value)).to.equal(checksum(key, value));
        }
      }),
    );
  });

  it('equal the checksum of each record whose key begins as the one before, or otherwise', () => {
    const beginnings = ['!job!0190-', '!job!0190', '!result!0190-', '!ключ!0190-', '', '!job!0190-12345678'];
    const tails = ['00000001', '00000002', '1', '', 'ключ0001', '0000000000000000'];
    const keys = fc.array(fc.tuple(fc.constantFrom(...beginnings), fc.constantFrom(...tails)), { maxLength: 40 });
    fc.assert(
      fc.property(keys, (parts) => {
        const group = new ChecksumSeries();
        for (const [beginning, tail] of parts)
          expect(group.of(beginning + tail, 'value')).to.equal(checksum(beginning + tail, 'value'));
      }),
    );
  });

  it('are the CRC-32 of key, line feed and value for every length of a shared value', () => {
    for (let length = 0; length < 600; length += 1) {
      const value = 'é'.repeat(length % 5) + 'x'.repeat(length);
      const group = new ChecksumSeries();
      for (const key of ['!job!1', '!job!2', '!job!3', 'ключ', '']) {
        const expected = crc32(Buffer.from(`${key}\n${value}`))
          .toString(16)
          .padStart(8, '0');
        expect(group.of(key, value)).to.equal(expected);
      }
    }
  });
});
