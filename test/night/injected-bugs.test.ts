/** Injects bugs into copies of the compiled program: a test that passes all the same would prove nothing. */
import { expect } from 'chai';
import { withBug } from './injected-bugs/injected-bug.ts';
import { INJECTED_BUGS } from './injected-bugs/list.ts';
import { ProgramCopy } from './program-copy.ts';

describe('night/injected-bugs', () => {
  let copy: ProgramCopy;
  before(() => {
    copy = new ProgramCopy();
  });
  after(() => copy.remove());

  for (const bug of INJECTED_BUGS) {
    const { name, file, test, title } = bug;
    it(`finds: ${name}`, async () => {
      const inject = (text: string): string => withBug(bug, text);
      const { code, output } = await copy.with(file, inject, () =>
        copy.run([test], ['--timeout', '30000', '--fgrep', title]),
      );
      expect(output, test).to.match(/\d+ failing/);
      expect(code).not.to.equal(0);
    });
  }

  it('passes without a bug', async () => {
    for (const test of new Set(INJECTED_BUGS.map((it) => it.test))) {
      const { code, output } = await copy.run([test]);
      expect(code, `${test}: ${output}`).to.equal(0);
    }
  });
});
