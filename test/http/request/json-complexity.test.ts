import { expect } from 'chai';
import * as fc from 'fast-check';
import { complexityFault } from '../../../src/http/request/json-complexity.ts';

const filler = `"${'x'.repeat(70_000)}"`;
const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join(',')}}`;

describe('http/request/json-complexity', () => {
  const table: [string, string, RegExp | undefined][] = [
    ['500 levels', `[${filler},${'['.repeat(499)}${']'.repeat(499)}]`, undefined],
    ['501 levels', `[${filler},${'['.repeat(500)}${']'.repeat(500)}]`, /deeper than 500/],
    ['brackets in a string', `["${'['.repeat(70_000)}"]`, undefined],
    ['brackets after an escaped quote', `["\\"${'['.repeat(70_000)}"]`, undefined],
    ['brackets after an escaped backslash', `["\\\\",${'['.repeat(70_000)}`, /deeper/],
    ['101000 members', members(101_000), undefined],
    ['101001 members', members(101_001), /100000 members/],
    ['many small objects', `[${Array(20_000).fill('{"a":0,"b":1}').join(',')}]`, undefined],
    ['a string without end', `"${'[:'.repeat(70_000)}`, undefined],
    ['more closed than opened', ']'.repeat(70_000), undefined],
  ];
  for (const [what, text, fault] of table) {
    it(`${what} -> ${fault === undefined ? 'fine' : String(fault)}`, () => {
      if (fault === undefined) expect(complexityFault(text)).to.equal(undefined);
      else expect(complexityFault(text)).to.match(fault);
    });
  }

  it('accepts every small JSON value', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(complexityFault(`[${text},${filler}]`)).to.equal(undefined);
      }),
    );
  });
});
