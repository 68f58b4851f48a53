/** Findings about inputs: parameters that no run has looked up, and inputs that change no output of a probe. */
import { expect } from 'chai';
import type { Finding } from '../../../src/contract/types.ts';
import { findingsOf } from '../../../src/domain/findings/findings.ts';
import type { Situation } from '../../../src/domain/findings/finding.ts';
import { situation } from './support.ts';

const found = (inputs?: Situation['inputs']): Finding | undefined =>
  findingsOf(situation({ Completed: 9 }, [], inputs === undefined ? {} : { inputs })).find(
    ({ code }) => code === 'parameter-never-read',
  );

describe('domain/findings: inputs', () => {
  it('names a parameter that no run has looked up, with the nearest name that was asked for', () => {
    const it = found({ runs: 9, asked: ['gravity', 'cd_baias'], neverRead: ['cd_bias'] });
    expect(it).to.deep.include({ severity: 'warning', count: 1 });
    expect(it?.message).to.equal(
      '"cd_bias" was looked up by none of 9 completed runs; the simulation asked for "cd_baias"; did you mean "cd_bias"?',
    );
  });

  it('takes a name with a word in common for the nearest one', () => {
    const hint = (asked: string): string | undefined =>
      found({ runs: 9, asked: [asked], neverRead: ['cd_bias'] })?.message.split('; the simulation ', 2)[1];
    expect(hint('cd_scale')).to.equal('asked for "cd_scale"; did you mean "cd_bias"?');
    expect(hint('biasOfCd')).to.equal('asked for "biasOfCd"; did you mean "cd_bias"?');
    expect(hint('mass')).to.equal(undefined);
    expect(hint('a_c_d')).to.equal(undefined);
  });

  it('lists several, and gives no hint where no name is near', () => {
    const it = found({ runs: 3, asked: ['gravity'], neverRead: ['a', 'b', 'c', 'd'] });
    expect(it?.count).to.equal(4);
    expect(it?.message).to.equal('"a", "b", "c" and 1 more were looked up by none of 3 completed runs');
  });

  it('is silent where every parameter was looked up, and where nothing is known', () => {
    expect(found({ runs: 9, asked: ['gravity'], neverRead: [] })).to.equal(undefined);
    expect(found()).to.equal(undefined);
  });

  it('names inputs that change no output in a probe', () => {
    const probe = '0199a000-0000-8000-8000-000000000000';
    const shown = (withoutEffect: string[]): Finding | undefined =>
      findingsOf(situation({ Completed: 9 }, [], { probed: { probe, withoutEffect } })).find(
        ({ code }) => code === 'parameter-without-effect',
      );
    expect(shown([])).to.equal(undefined);
    expect(shown(['cd_bias'])?.message).to.equal(
      `"cd_bias" changes no output at its 1 % and 99 % quantile, to the bit, in the probe ${probe}`,
    );
    const two = shown(['mass', 'wind']);
    expect(two).to.deep.include({ severity: 'warning', count: 2 });
    expect(two?.message).to.include('"mass", "wind" change no output at their');
  });
});
