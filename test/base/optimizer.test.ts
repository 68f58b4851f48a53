/** When the optimizing compiler of a runner or a coordinator works as V8's own settings say. */
import { expect } from 'chai';
import { optimizeLater } from '../../src/base/optimizer.ts';

describe('base/optimizer', () => {
  it('watches a process until it is not young any more', () => {
    let used = 0;
    let look = (): void => {};
    let watches = 0;
    const clock = {
      every(_: number, action: () => void) {
        look = action;
        watches += 1;
        return () => (watches -= 1);
      },
    };
    optimizeLater(clock, () => used);
    for (used of [100, 2499]) {
      look();
      expect(watches, `after ${String(used)} ms`).to.equal(1);
    }
    used = 2500;
    look();
    expect(watches).to.equal(0);
  });
});
