/** `simbatch doctor`: the clock of this machine and that of the coordinator. */
import { expect } from 'chai';
import { clockCheck } from '../../src/cli/commands/doctor.ts';

const SECOND = new Date('2026-03-01T12:00:00Z');
const at = (secs: number): number => SECOND.getTime() + secs * 1000;

describe('cli/commands/doctor', () => {
  for (const [what, asked, answered, state, message] of [
    ['equal within the second that the answer names', 0.2, 0.4, 'ok', 'within a second of that of the coordinator'],
    ['equal within the time that the answer took', -0.5, 30, 'ok', 'within a second of that of the coordinator'],
    ['a little ahead', 5, 5.1, 'ok', '4 s ahead, compared with that of the coordinator'],
    ['ahead', 96.2, 96.4, 'warning', '95 s ahead, compared with that of the coordinator: synchronize both clocks'],
    ['late', -3600, -3599, 'warning', '3599 s late, compared with that of the coordinator: synchronize both clocks'],
  ] as const)
    it(`says of a clock that it is ${what}`, () => {
      const found = clockCheck(SECOND, at(asked), at(answered));
      expect([found.check, found.state]).to.deep.equal(['clock', state]);
      expect(found.message).to.include(`the clock of this machine is ${message}`);
    });
});
