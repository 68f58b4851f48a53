/** Seeds of 64 bits in text and JSON. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { stringifyExact } from '../../src/base/json/json-writing.ts';
import { MAX_SEED, seedFault, seedFromBigint, seedFromDecimal, seedToDecimal } from '../../src/domain/seed.ts';
import { parseExact } from '../../src/base/json/exact-json.ts';

const submission = (seed: string, more = '') =>
  `{"name":"s","config":{"monte_carlo":{"runs":1,"seed":${seed}}${more}}}`;
const seedIn = (text: string) =>
  (parseExact(text) as { config?: { monte_carlo: { seed: unknown } } }).config?.monte_carlo.seed;

describe('domain/seed', () => {
  const read: [text: string, seed: number | bigint][] = [
    ['0', 0],
    ['007', 7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9223372036854775807', 9223372036854775807n],
  ];
  for (const [text, seed] of read) {
    it(`reads ${text}`, () => {
      expect(seedFromDecimal(text)).to.equal(seed);
      expect(seedToDecimal(seed)).to.equal(String(BigInt(text)));
    });
  }
  for (const text of ['', '-1', '1.5', '1e3', ' 1', '0x1', '9223372036854775808', '9'.repeat(100_000)]) {
    it(`refuses "${text.slice(0, 25)}"`, () => expect(() => seedFromDecimal(text)).to.throw(RangeError, 'seed'));
  }

  const judged: [unknown, string | undefined][] = [
    [0, undefined],
    [-0, undefined],
    [5n, undefined],
    [MAX_SEED, undefined],
    [MAX_SEED + 1n, '9223372036854775808'],
    [-1, '-1'],
    [0.5, '0.5'],
    [2 ** 53, 'plain digits'],
    [2 ** 63, 'from 0 to'],
    ['1', 'must be an integer'],
    [NaN, 'NaN'],
  ];
  for (const [value, fault] of judged) {
    it(`judges ${typeof value} ${String(value)}`, () => {
      if (fault === undefined) expect(seedFault(value)).to.equal(undefined);
      else expect(seedFault(value)).to.include(fault);
    });
  }
});

describe('exact JSON', () => {
  const big = '9007199254740993';
  const submissions: [label: string, text: string, seed: unknown][] = [
    ['small', submission('42'), 42],
    ['above 2^53', submission(big), BigInt(big)],
    ['the greatest', submission('9223372036854775807'), 9223372036854775807n],
    ['null', submission('null'), null],
    ['absent', '{"config":{"monte_carlo":{}}}', undefined],
    ['given twice: the last one', submission(`1,"seed":${big}`), BigInt(big)],
    ['given twice: the last one, small', submission(`${big},"seed":1`), 1],
    [
      'in a repeated parent',
      `{"config":{"monte_carlo":{"seed":5}},"config":{"monte_carlo":{"seed":${big}}}}`,
      BigInt(big),
    ],
    ['with an escaped name', submission('1').replace('"seed":1', `"s\\u0065ed":${big}`), BigInt(big)],
    ['beside decoys', submission(big, `,"x":{"seed":1},"y":"\\"seed\\":2","__proto__":{"seed":3}`), BigInt(big)],
    ['below __proto__', `{"__proto__":{"config":{"monte_carlo":{"seed":${big}}}}}`, undefined],
    ['a fraction', submission('9007199254740993.0'), 9007199254740992],
    ['an exponent', submission('1e17'), 1e17],
    ['huge', submission('9'.repeat(5000)), Infinity],
    ['negative', submission(`-${big}`), -BigInt(big)],
  ];
  for (const [label, text, seed] of submissions) {
    it(`finds the seed of a submission: ${label}`, () => expect(seedIn(text)).to.equal(seed));
  }

  it('reads only seeds as bigint, at any depth', () => {
    const text = `[{"run_config":{"metadata":{"seed":${big}}}},{"x":${big},"seed":[${big}],"y":{"seed":-0},"__proto__":${big}}]`;
    const [job, other] = parseExact(text) as [unknown, Record<string, unknown>];
    expect(job).to.deep.equal({ run_config: { metadata: { seed: BigInt(big) } } });
    expect(Object.entries(other)).to.deep.equal(Object.entries(JSON.parse(text)[1] as object));
    expect(parseExact(big)).to.equal(Number(big));
    for (const member of [`"seed" :\n${big}`, `"s\\u0065ed":${big}`]) {
      expect(parseExact(`{${member}}`), member).to.deep.equal({ seed: BigInt(big) });
    }
  });

  it('agrees with JSON.parse on every text without large seeds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, noise) => {
        const text = JSON.stringify([value, { seed: 1, z: 12345678901234567000 }, noise]);
        expect(parseExact(text)).to.deep.equal(JSON.parse(text));
      }),
    );
    for (const text of ['', '{', `{"seed":${big},}`, `{"seed":0${big}}`, `{'seed':${big}}`]) {
      expect(() => parseExact(text), text).to.throw(SyntaxError);
    }
  });

  it('rejects excessive nesting', () => {
    const deep = `"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    // A doubled member, and an escaped name: the reader of all digits is recursive.
    for (const seed of [`"seed":1,"seed":${big}`, `"s\\u0065ed":${big}`])
      expect(() => parseExact(`{${seed},${deep}`)).to.throw(SyntaxError, 'deep');
    expect((parseExact(`{"seed":${big},${deep}`) as { seed: bigint }).seed).to.equal(BigInt(big));
  });

  it('distinguishes long seeds from other spellings of the same number, and from each other', () => {
    const [other, rounded] = ['9007199254740992', 9007199254740992];
    const texts: [string, unknown][] = [
      [`[{"seed":${big}},{"seed":${big}}]`, [{ seed: BigInt(big) }, { seed: BigInt(big) }]],
      [`[{"seed":${big}},{"seed":${other}}]`, [{ seed: BigInt(big) }, { seed: BigInt(other) }]],
      [`[{"seed":${big}},{"seed":${other}.0}]`, [{ seed: BigInt(big) }, { seed: rounded }]],
      [`[{"seed":${big},"seed":1},{"seed":${other}.0}]`, [{ seed: 1 }, { seed: rounded }]],
      [`[{"seed":${big}},{"seed":9007199254740992e0}]`, [{ seed: BigInt(big) }, { seed: rounded }]],
      [
        `[{"seed":{"seed":${big}}},{"seed":null},{"seed":"${big}"}]`,
        [{ seed: { seed: BigInt(big) } }, { seed: null }, { seed: big }],
      ],
      [`{"a\\"seed":${big},"seed":${big}}`, { 'a"seed': rounded, seed: BigInt(big) }],
    ];
    for (const [text, value] of texts) expect(parseExact(text), text).to.deep.equal(value);
  });

  it('writes bigints as bare digits next to any other members, and reads them back', () => {
    const strings = fc.oneof(
      fc.string(),
      fc.constantFrom('#0#1', '"#0#1"', '#1#', '#', '__proto__', '9007199254740993'),
    );
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX_SEED }), fc.array(strings), (wide, texts) => {
        const seed = seedFromBigint(wide);
        const value = { texts, seed, nested: [{ seed }, Object.fromEntries(texts.map((text) => [text, text]))] };
        const text = stringifyExact(value);
        expect(parseExact(text)).to.deep.equal(value);
        expect(text).to.include(`"seed":${wide}`);
      }),
    );
    expect(stringifyExact({ a: 1n, b: undefined, c: [undefined, -5n] })).to.equal('{"a":1,"c":[null,-5]}');
  });

  it('rejects circular structures', () => {
    const value: Record<string, unknown> = { seed: 1n };
    value['self'] = value;
    expect(() => stringifyExact(value)).to.throw(TypeError, 'circular');
  });
});
