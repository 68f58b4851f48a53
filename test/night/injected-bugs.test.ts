/** Injects bugs into copies of the compiled program: a test that passes all the same would prove nothing. */
import { expect } from 'chai';
import { INJECTED_BUGS } from './injected-bugs/list.ts';
import { ProgramCopy } from './program-copy.ts';

describe('night/injected-bugs', () => {
  let copy: ProgramCopy;
  before(() => {
    copy = new ProgramCopy();
  });
  after(() => copy.remove());

  for (const { name, file, find, replace, test, title } of INJECTED_BUGS) {
    it(`finds: ${name}`, async () => {
      const inject = (text: string): string => {
        expect(text.split(find), `${file} has the text once`).to.have.length(2);
        return text.replace(find, () => replace);
      };
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
