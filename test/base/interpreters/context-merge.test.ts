/** The compiled merge equals a spread of both objects; the compiled copy equals a spread of one. */
import { expect } from 'chai';
import { contextMerge, inShape } from '../../../src/base/interpreters/context-merge.ts';

describe('base/interpreters/context-merge', () => {
  it('equals a spread, for changes of any members and in their order', () => {
    const merge = contextMerge();
    const context = { a: 1, b: undefined, c: [3] };
    const changes = [
      { a: 2 },
      {},
      { c: undefined, a: 5 },
      { a: 5, c: undefined },
      { d: 1 },
      { 'a "quoted" name': 7 },
      { a: 2, b: 4 },
      { b: 4, a: 2 },
      { a: 2 },
    ];
    for (const change of [...changes, ...changes.toReversed()]) {
      const merged = merge(context, change);
      expect(merged).to.deep.equal({ ...context, ...change });
      expect(Object.keys(merged)).to.deep.equal(Object.keys({ ...context, ...change }));
      expect(context).to.deep.equal({ a: 1, b: undefined, c: [3] });
    }
  });

  it('keeps the members and their order when a context gets its shape', () => {
    const contexts = [{ b: 1, a: undefined }, { a: 1, b: 2 }, {}, { 'x-y': null }];
    for (const context of [...contexts, ...contexts]) {
      const copy = inShape(context);
      expect(copy).to.deep.equal(context);
      expect(Object.keys(copy)).to.deep.equal(Object.keys(context));
    }
  });
});
