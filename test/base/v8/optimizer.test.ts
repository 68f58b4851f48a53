/** When the optimizing compiler of a runner or a coordinator works as V8's own settings say. */
import { expect } from 'chai';
import { optimizeLater } from '../../../src/base/v8/optimizer.ts';

describe('base/v8/optimizer', () => {
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
    const flags: string[] = [];
    const setFlag = (flag: string): unknown => flags.push(flag);
    optimizeLater(clock, () => used, '11.3.244.8-node.38', setFlag);
    expect(flags).to.deep.equal(['--interrupt-budget=300000']);
    for (used of [100, 2499]) {
      look();
      expect(watches, `after ${String(used)} ms`).to.equal(1);
    }
    used = 2500;
    look();
    expect(watches).to.equal(0);
    expect(flags).to.deep.equal(['--interrupt-budget=300000', '--interrupt-budget=67584']);
  });

  it('leaves the V8 of Node 22 and 24 as it is: its flag is unknown there, and the error would be printed at each start', () => {
    for (const v8 of ['12.4.254.21-node.57', '13.6.233.17-node.53', '14.1.146.11-node.14']) {
      optimizeLater(
        { every: () => expect.fail('a watch of a flag that does not exist') },
        () => 0,
        v8,
        (flag) => expect.fail(flag),
      );
    }
  });
});
