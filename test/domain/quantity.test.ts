import { expect } from 'chai';
import * as fc from 'fast-check';
import { parseCpu, parseMemory } from '../../src/domain/quantity.ts';

describe('domain/quantity', () => {
  const readable: [text: string, millicores: number, bytes: number][] = [
    ['0', 0, 0],
    ['2', 2000, 2],
    ['1.5', 1500, 2],
    ['.5', 500, 1],
    ['1.', 1000, 1],
    ['+3', 3000, 3],
    ['-0', 0, 0],
    ['500m', 500, 1],
    ['0.1', 100, 1],
    ['1500m', 1500, 2],
    ['250u', 0.25, 1],
    ['100n', 0.0001, 1],
    ['1e3', 1e6, 1000],
    ['1E3', 1e6, 1000],
    ['12e-1', 1200, 2],
    ['100k', 1e8, 100_000],
    ['1M', 1e9, 1e6],
    ['1G', 1e12, 1e9],
    ['1.1G', 1.1e12, 1.1e9],
    ['4Ki', 4_096_000, 4096],
    ['512Mi', 512 * 2 ** 20 * 1000, 536_870_912],
    ['2Gi', 2 * 2 ** 30 * 1000, 2_147_483_648],
    ['0.5Gi', 2 ** 29 * 1000, 536_870_912],
    ['1Ti', 2 ** 40 * 1000, 2 ** 40],
  ];
  for (const [text, millicores, bytes] of readable) {
    it(`reads ${text}`, () => {
      expect([parseCpu(text), parseMemory(text)]).to.deep.equal([millicores, bytes]);
    });
  }

  it('accepts the largest suffixes as long as the bytes are exact', () => {
    expect(parseMemory('1P')).to.equal(1e15);
    expect(parseMemory('1Pi')).to.equal(2 ** 50);
    expect(parseMemory('0.001E')).to.equal(1e15);
    expect(parseMemory('0.001Ei')).to.equal(Math.ceil(2 ** 60 / 1000));
  });

  const faulty: [text: string, saying: string][] = [
    ['', 'is not a quantity'],
    ['Mi', 'is not a quantity'],
    [' 1', 'is not a quantity'],
    ['1 Gi', 'is not a quantity'],
    ['1,5', 'is not a quantity'],
    ['0x10', 'is not a quantity'],
    ['1e3Mi', 'is not a quantity'],
    ['1x', 'unknown suffix "x"'],
    ['1e', 'unknown suffix "e"'],
    ['--1', 'is not a quantity'],
    ['-1', 'is negative'],
    ['-500m', 'is negative'],
    ['1MB', 'did you mean "m" or "M"'],
    ['1mi', 'did you mean "Mi"'],
    ['1K', 'did you mean "k"'],
    ['1GiB', 'did you mean "Gi"'],
    ['NaN', 'is not a quantity'],
    ['Infinity', 'is not a quantity'],
    ['1e999', 'too large'],
    ['16Ei', 'too large'],
    ['1constructor', 'unknown suffix'],
    ['9'.repeat(1000), '1000 characters'],
  ];
  for (const [text, saying] of faulty) {
    it(`refuses ${JSON.stringify(text.slice(0, 20))}`, () => {
      for (const parse of [parseCpu, parseMemory]) {
        expect(parse(text)).to.be.a('string').that.includes(saying).and.includes('for example');
      }
    });
  }

  it('converts suffixes consistently: 1000m is 1, 1Ki is 1024, 1k is 1e3', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (n) => {
        expect(parseCpu(`${n * 1000}m`)).to.equal(parseCpu(`${n}`));
        expect(parseCpu(`${n}m`)).to.equal(n);
        expect(parseMemory(`${n}Ki`)).to.equal(parseMemory(`${n * 1024}`));
        expect(parseMemory(`${n}k`)).to.equal(parseMemory(`${n}e3`));
        expect(parseMemory(`${n / 1000}M`)).to.equal(parseMemory(`${n}k`));
      }),
    );
  });

  it('returns a number in range or a fault for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'+-.eE0129numkKMGTPEi '.split('')) }), (text) => {
        for (const amount of [parseCpu(text), parseMemory(text)]) {
          if (typeof amount === 'string') expect(amount).to.not.equal('');
          else expect(amount).to.be.within(0, Number.MAX_SAFE_INTEGER);
        }
      }),
    );
  });
});
