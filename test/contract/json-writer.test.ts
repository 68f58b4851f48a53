/** Writers made from schemas write the same JSON as JSON.stringify, member by member in the schema's order. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { Type } from 'typebox';
import { stringifyExact } from '../../src/base/json/json-writing.ts';
import { registry } from '../../src/contract/build.ts';
import { jsonWriterOf } from '../../src/contract/codegen/json-writer.ts';
import { Job } from '../../src/contract/resources/jobs.ts';
import { int64, timestamp, uuid } from '../../src/contract/scalars.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 20 });
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });

const Part = Type.Object({ n: Type.Integer(), note: Type.Optional(Type.String()) });
const Whole = Type.Object({
  id: uuid('An id.'),
  'odd`${name}\\"': Type.String(),
  at: Type.Optional(timestamp('A time.')),
  size: Type.Number(),
  kind: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['plain', 'with "quotes"'] })),
  parts: Type.Array(Part),
  values: Type.Optional(Type.Unsafe<object>({ type: 'object', additionalProperties: Type.Number() })),
  named: Type.Unsafe<object>({ type: 'object', additionalProperties: Part }),
  part: Part,
  isLast: Type.Boolean(),
  seed: Type.Optional(int64('A seed.')),
});

const part = fc.record({ n: fc.integer(), note: anyText }, { requiredKeys: ['n'] });
const whole = fc.record(
  {
    id: fc.uuid(),
    'odd`${name}\\"': anyText,
    at: fc.constant('2026-03-01T12:00:00.000Z'),
    size: finite,
    kind: fc.constantFrom('plain', 'with "quotes"'),
    parts: fc.array(part, { maxLength: 3 }),
    values: fc.dictionary(anyText, finite, { maxKeys: 3, noNullPrototype: true }),
    named: fc.dictionary(anyText, part, { maxKeys: 3, noNullPrototype: true }),
    part,
    isLast: fc.boolean(),
    seed: fc.constant(9_007_199_254_740_993n),
  },
  { requiredKeys: ['id', 'odd`${name}\\"', 'size', 'parts', 'named', 'part', 'isLast'] },
);

describe('contract/codegen/json-writer', () => {
  it('writes the same text as JSON.stringify, and a 64-bit integer to its last digit', () => {
    const write = jsonWriterOf(Whole);
    fc.assert(
      fc.property(whole, (value) => {
        const ordered = Object.keys(Whole.properties).filter((it) => Object.hasOwn(value, it));
        const same = Object.fromEntries(ordered.map((it) => [it, value[it as keyof typeof value]]));
        expect(write(value)).to.equal(stringifyExact(same));
      }),
    );
  });

  it('writes jobs', () => {
    const metadata = {
      simulation_name: 'a "quoted" name',
      simulation_version: '1',
      duration_minutes: 1,
      sampling_method: 'monte_carlo' as const,
      generated_at: '2026-03-01T12:00:00.000Z',
      seed: 2n ** 63n - 1n,
    };
    const write = jsonWriterOf(Job, { resolve: (id) => registry.get(id)! });
    for (const run of [0, 1]) {
      const job: Job = {
        id: '01900000-0000-8000-8000-000000000001',
        batch_id: '01900000-0000-8000-8000-000000000000',
        status: 'Failed',
        run_config: { run_id: run, parameters: { x: 0.1, 'y "z"': -0 }, metadata },
        retries: 0,
        max_retries: 3,
        timeout_secs: 0.5,
        created_at: '2026-03-01T12:00:00.000Z',
        assigned_runner: 'r',
        error_message: 'line\n"two"',
      };
      expect(write(job)).to.equal(stringifyExact(job));
    }
  });

  it('writes null, a text, or one of several values, for a member that may be null', () => {
    const texts = Type.Unsafe<string | null>({ type: ['string', 'null'] });
    const kinds = Type.Unsafe<string | null>({ type: ['string', 'null'], enum: ['plain', null] });
    const numbers = Type.Unsafe<number | null>({ type: ['number', 'null'] });
    const write = jsonWriterOf(Type.Object({ id: uuid('An id.'), text: texts, kind: kinds, number: numbers }));
    const id = '01900000-0000-8000-8000-000000000001';
    fc.assert(
      fc.property(fc.option(anyText), fc.constantFrom('plain', null), fc.option(finite), (text, kind, number) => {
        expect(write({ id, text, kind, number })).to.equal(JSON.stringify({ id, text, kind, number }));
      }),
    );
  });

  it('writes a value of one of several schemas by the required members that it has', () => {
    const schemas: Record<string, object> = {
      Done: Type.Object({ id: uuid('An id.'), status: Type.String() }),
      Refused: Type.Object({ id: uuid('An id.'), fault: Part }),
    };
    const either = Type.Unsafe<object>({ anyOf: [{ $ref: 'Done' }, { $ref: 'Refused' }] });
    const write = jsonWriterOf(Type.Object({ all: Type.Array(either) }), { resolve: (name) => schemas[name]! });
    const id = '01900000-0000-8000-8000-000000000001';
    const all = [{ id, status: 'a "b"' }, { id, fault: { n: 1, note: 'x' } }, { id }, { other: [1, null] }];
    expect(write({ all })).to.equal(JSON.stringify({ all }));
  });

  it('refuses a schema with an unresolved reference, and a schema that begins with an optional member', () => {
    expect(() => jsonWriterOf(Type.Unsafe({ $ref: 'Nothing' }))).to.throw('there is no schema Nothing');
    expect(() => jsonWriterOf(Type.Object({ a: Type.Optional(Type.String()) }))).to.throw('must be required');
  });
});
