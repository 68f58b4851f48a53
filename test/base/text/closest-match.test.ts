import { expect } from 'chai';
import * as fc from 'fast-check';
import { closestMatch } from '../../../src/base/text/closest-match.ts';

const MEMBERS = ['runs', 'sampling_method', 'seed', 'name', 'config', 'runs_override'];

describe('base/closest-match', () => {
  // given name, suggestion
  const table: [string, string | undefined][] = [
    ['run', 'runs'],
    ['rnus', 'runs'],
    ['Runs', 'runs'],
    ['nmae', 'name'],
    ['sampling-method', 'sampling_method'],
    ['samplingmethod', 'sampling_method'],
    ['runs_overide', 'runs_override'],
    ['cofnig', 'config'],
    ['', undefined],
    ['x', undefined],
    ['velocity', undefined],
    ['__proto__', undefined],
    ['s'.repeat(1_000_000), undefined],
  ];
  for (const [given, meant] of table) {
    it(`${given.slice(0, 20)} -> ${meant}`, () => {
      expect(closestMatch(given, MEMBERS)).to.equal(meant);
    });
  }

  it('suggests a name for the same name with two neighbouring letters swapped', () => {
    fc.assert(
      fc.property(fc.constantFrom(...MEMBERS), fc.nat(), (name, at) => {
        const cut = at % (name.length - 1);
        const swapped = name.slice(0, cut) + name[cut + 1]! + name[cut]! + name.slice(cut + 2);
        expect(closestMatch(swapped, MEMBERS)).to.equal(name);
      }),
    );
  });
});
