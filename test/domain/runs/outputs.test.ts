import { expect } from 'chai';
import fc from 'fast-check';
import { numberOf, numericOutputs, outputsOf, textOf } from '../../../src/domain/runs/outputs.ts';

const parsed = (json: string): object => JSON.parse(json) as object;
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });

describe('domain/runs/outputs', () => {
  it('names nested members with dots, and keeps lists whole', () => {
    const metadata = parsed('{"a":1,"b":{"c":true,"d":{"e":"x"}},"list":[1,2],"nothing":null,"empty":{}}');
    expect([...outputsOf(metadata)]).to.deep.equal([
      ['a', 1],
      ['b.c', true],
      ['b.d.e', 'x'],
      ['list', [1, 2]],
      ['nothing', null],
    ]);
  });

  it('keeps what is nested deeper than four levels as one value', () => {
    expect([...outputsOf(parsed('{"a":{"b":{"c":{"d":{"e":1}}}}}'))]).to.deep.equal([['a.b.c.d', { e: 1 }]]);
  });

  it('takes the last of two members with the same flat name', () => {
    expect([...outputsOf(parsed('{"a":{"b":1},"a.b":2}'))]).to.deep.equal([['a.b', 2]]);
  });

  it('reads members that are named as parts of the language', () => {
    const metadata = parsed('{"__proto__":{"constructor":1},"toString":2,"hasOwnProperty":3}');
    expect([...outputsOf(metadata)]).to.deep.equal([
      ['__proto__.constructor', 1],
      ['toString', 2],
      ['hasOwnProperty', 3],
    ]);
  });

  it('counts booleans as 0 and 1, and neither texts nor lists as numbers', () => {
    expect([true, false, 1.5, '1', null, [1], {}].map(numberOf)).to.deep.equal([
      1,
      0,
      1.5,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('writes any value as the text of one cell', () => {
    expect(['x', 1, true, [1, 'a'], { b: 1 }, null, undefined].map(textOf)).to.deep.equal([
      'x',
      '1',
      'true',
      '[1,"a"]',
      '{"b":1}',
      null,
      null,
    ]);
  });

  it('has the execution time among the numbers unless the simulation reports its own', () => {
    const result = { execution_time_secs: 2, execution_secs: 1.75, metadata: { ok: true, note: 'x' } };
    expect([...numericOutputs(result)]).to.deep.equal([
      ['execution_secs', 1.75],
      ['ok', 1],
    ]);
    expect(numericOutputs({ execution_time_secs: 2, metadata: {} }).get('execution_secs')).to.equal(2);
    expect(numericOutputs({ ...result, metadata: { execution_secs: 9 } }).get('execution_secs')).to.equal(9);
  });

  it('finds each number of a flat object under its own name', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), finite), (metadata) => {
        const found = outputsOf(metadata);
        return (
          found.size === Object.keys(metadata).length &&
          Object.entries(metadata).every(([name, value]) => Object.is(found.get(name), value))
        );
      }),
    );
  });
});
