/** Operations of which a limited number runs at the same time. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { Gate } from '../../../src/base/async/gate.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];

describe('base/async/gate', () => {
  it('starts operations in their order, as many at the same time as there is room for, whichever ends first or fails', async () => {
    const ends = fc.array(fc.record({ at: fc.nat(), fails: fc.boolean() }), { minLength: 5, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), ends, async (atOnce, choices) => {
        const gate = new Gate(atOnce);
        const started: string[] = [];
        const running: { name: string; end: (fails: boolean) => void }[] = [];
        const outcomes = NAMES.map((name) =>
          gate
            .pass(() => {
              started.push(name);
              return new Promise<string>((resolve, reject) => {
                running.push({ name, end: (fails) => (fails ? reject(new Error(name)) : resolve(name)) });
              });
            })
            .catch((error: Error) => `failed ${error.message}`),
        );
        const expected: string[] = [];
        for (const [ended, { at, fails }] of choices.entries()) {
          await new Promise((resolve) => setImmediate(resolve));
          expect(running).to.have.length(Math.min(atOnce, NAMES.length - ended));
          const [one] = running.splice(at % running.length, 1);
          one!.end(fails);
          expected[NAMES.indexOf(one!.name)] = fails ? `failed ${one!.name}` : one!.name;
        }
        expect(await Promise.all(outcomes)).to.deep.equal(expected);
        expect(started).to.deep.equal(NAMES);
      }),
    );
  });
});
