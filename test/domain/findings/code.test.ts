/** Findings about the code of a study: several versions, and runners that a pinned study leaves out. */
import { expect } from 'chai';
import type { Finding, StoredCode } from '../../../src/contract/types.ts';
import { findingsOf } from '../../../src/domain/findings/findings.ts';
import type { Situation } from '../../../src/domain/findings/finding.ts';
import { situation, type RunnerSketch } from './support.ts';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];
const COMMIT = 'c'.repeat(40);
const version = (
  digest: string,
  runs: number,
  firstRunId: number,
  git?: StoredCode['identity']['git'],
): StoredCode => ({
  identity: { kind: 'entrypoint', digest, ...(git === undefined ? {} : { git }) },
  runs,
  firstRunId,
  runners: ['r1'],
});
const engine = (digest: string): RunnerSketch['engines'] => [{ name: '*', code: { kind: 'entrypoint', digest } }];
const found = (code: string, it: Situation): Finding | undefined => findingsOf(it).find((one) => one.code === code);

describe('domain/findings: code', () => {
  it('names both versions, their commits and their runs, and the runs whose code is not known', () => {
    const codes = [
      version(A, 50, 0, { commit: COMMIT, dirty: false, describe: 'v1.2' }),
      version(B, 20, 50, { commit: COMMIT, dirty: true, describe: null }),
    ];
    const it = found('code-changed', situation({ Completed: 60, Failed: 12 }, [], { codes }));
    expect(it?.severity).to.equal('warning');
    expect(it?.message).to.equal(
      'the code has changed while the study ran, and 2 versions made its results: aaaaaaaaaaaa (commit v1.2) made 50 runs, the first run 0; ' +
        'bbbbbbbbbbbb (commit cccccccccccc, with changes) made 20 runs, the first run 50; the code of 2 runs is not known',
    );
    expect(it?.remedy).to.include(`simbatch rerun 0199a000-0000 --where "code = 'bbbbbbbbbbbb'"`);
  });

  it('is silent about one version, and about versions that made no result', () => {
    expect(found('code-changed', situation({ Completed: 9 }, [], { codes: [version(A, 9, 0)] }))).to.equal(undefined);
    const codes = [version(A, 9, 0), { ...version(B, 0, 0) }];
    expect(found('code-changed', situation({ Completed: 9 }, [], { codes }))).to.equal(undefined);
  });

  const pin = { pinsCode: {}, pinnedCode: A };
  const PINNED: readonly { name: string; runners: RunnerSketch[]; expected: string | undefined; left?: string[] }[] = [
    { name: 'a runner with the pinned code', runners: [{ engines: engine(A) }], expected: undefined },
    { name: 'a runner with another code', runners: [{ engines: engine(B) }], expected: 'blocked', left: ['r1'] },
    { name: 'a runner that does not state its code', runners: [{}], expected: 'blocked', left: ['r1'] },
    {
      name: 'one of two runners',
      runners: [{ engines: engine(A) }, { id: 'r2', engines: engine(B) }],
      expected: 'warning',
      left: ['r2'],
    },
    { name: 'a silent runner', runners: [{ engines: engine(B), status: 'Offline' }], expected: undefined },
    {
      name: 'a runner of other simulations',
      runners: [{ engines: engine(B), takes: ['glider'] }],
      expected: undefined,
    },
  ];
  for (const { name, runners, expected, left } of PINNED) {
    it(`names the runners that a pinned study leaves out: ${name}`, () => {
      const it = found('code-differs', situation({ Pending: 3 }, runners, { pin, codes: [version(A, 2, 0)] }));
      expect(it?.severity).to.equal(expected);
      expect(it?.runners).to.deep.equal(left);
      // A study that does not pin its code takes every runner.
      expect(found('code-differs', situation({ Pending: 3 }, runners))).to.equal(undefined);
    });
  }

  it('does not promise a start by runners that are left out', () => {
    const free = { runners: [{ engines: engine(B) }] };
    const codesOf = (more: Partial<Situation>): string[] =>
      findingsOf(situation({ Pending: 3 }, free.runners, more)).map(({ code }) => code);
    expect(codesOf({})).to.include('starting');
    expect(codesOf({ pin })).to.deep.equal(['code-differs']);
  });
});
