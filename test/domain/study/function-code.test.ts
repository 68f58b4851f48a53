/** Studies that carry a function: their faults, and the runners that take them. */
import { expect } from 'chai';
import { codeDigest, functionFaults, functionsName } from '../../../src/domain/study/function-code.ts';
import { supports } from '../../../src/domain/scheduling.ts';
import type { RunnerCapabilities } from '../../../src/contract/types.ts';

const CODE = Buffer.from('a function').toString('base64');
const NAME = 'python-functions-3.11';
const identity = { sha256: codeDigest(CODE), python: '3.11' };

describe('domain/study/function-code', () => {
  const faults: [string, unknown, unknown, string[]][] = [
    ['a program of the runners', { name: 'rocket' }, undefined, []],
    ['a function with its code', { name: NAME, code: identity }, CODE, []],
    ['a function without code', { name: NAME }, undefined, ['/code', '/config/simulation/code']],
    ['code without its digest', { name: NAME }, CODE, ['/config/simulation/code']],
    ['a digest without code', { name: NAME, code: identity }, undefined, ['/code']],
    ['code for a program', { name: 'rocket' }, CODE, ['/code']],
    ['a digest for a program', { name: 'rocket', code: identity }, undefined, ['/config/simulation/code']],
    ['another code', { name: NAME, code: identity }, 'AAAA', ['/config/simulation/code/sha256']],
    ['another Python', { name: NAME, code: { ...identity, python: '3.12' } }, CODE, ['/config/simulation/code/python']],
    ['members of another shape', { name: NAME, code: 7 }, 7, []],
  ];
  for (const [title, simulation, code, pointers] of faults) {
    it(`${title}: ${pointers.length === 0 ? 'no fault' : pointers.join(', ')}`, () => {
      expect(functionFaults(simulation, code).map(({ pointer }) => pointer)).to.deep.equal(pointers);
    });
  }

  it('only a runner that names functions of this Python takes them', () => {
    const takes = (types: string[]): boolean =>
      supports({ supported_simulation_types: types } as unknown as RunnerCapabilities, NAME);
    expect(takes([])).to.equal(false);
    expect(takes(['*'])).to.equal(false);
    expect(takes(['*', 'python-functions-3.12'])).to.equal(false);
    expect(takes(['*', NAME])).to.equal(true);
    expect(functionsName('3.11.7')).to.equal(NAME);
  });
});
