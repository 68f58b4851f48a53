/** The `where` grammar: examples, errors with their positions, and properties against a naive evaluator. */
import { expect } from 'chai';
import fc from 'fast-check';
import { evaluateWhere, type WhereColumn } from '../../../src/analysis/where/evaluate.ts';
import { COMPARISONS, type Expression, type Literal, printWhere } from '../../../src/analysis/where/expression.ts';
import { parseWhere } from '../../../src/analysis/where/parse.ts';
import { WhereError } from '../../../src/analysis/where/tokens.ts';

/** A cell as a reader sees it; null where the value is missing. */
type Cell = number | string | null;

function numbers(...cells: (number | null)[]): WhereColumn {
  return { kind: 'number', values: Float64Array.from(cells, (it) => it ?? Number.NaN) };
}

function texts(...cells: (string | null)[]): WhereColumn {
  const values = ['', ...new Set(cells.filter((it) => it !== null))];
  return { kind: 'text', codes: Uint16Array.from(cells, (it) => (it === null ? 0 : values.indexOf(it, 1))), values };
}

const columns = new Map<string, WhereColumn>([
  ['outputs.miss_m', numbers(10, 60, null, 80, 50)],
  ['outputs.landed', numbers(1, 0, 1, null, 1)],
  ['class', texts('ok', 'ok', 'crashed', 'terminated', null)],
  ['parameters.gust speed', numbers(1, 2, 3, 4, 5)],
]);

/** The numbers of the selected rows. */
function selected(text: string): number[] {
  return [...evaluateWhere(parseWhere(text), columns, 5)].flatMap((it, row) => (it === 1 ? [row] : []));
}

/** The error of a text, as `position: message after the position`. */
function errorOf(text: string): string {
  try {
    evaluateWhere(parseWhere(text), columns, 5);
  } catch (error) {
    if (!(error instanceof WhereError)) throw error;
    expect(error.message).to.include(`where not understood at character ${error.position}: `);
    expect(error.code).to.equal('malformed-query');
    return error.message.replace('where not understood at character ', '');
  }
  return 'no error';
}

describe('analysis/where', () => {
  const examples: [text: string, rows: number[]][] = [
    ['outputs.miss_m > 50 and class = ok', [1]],
    ['outputs.miss_m >= 50', [1, 3, 4]],
    ['outputs.miss_m>=50 or class=crashed', [1, 2, 3, 4]],
    ['class in (Crashed, terminated)', [2, 3]],
    ["class != 'ok'", [2, 3]],
    ['not class = ok', [2, 3]],
    ['outputs.miss_m is null', [2]],
    ['outputs.miss_m IS NOT NULL AND NOT outputs.miss_m < 60', [1, 3]],
    ['class is null', [4]],
    ['outputs.landed = true', [0, 2, 4]],
    ['outputs.landed != true', [1]],
    ['outputs.landed in (false, 7)', [1]],
    ["'parameters.gust speed' <= 2.0e0", [0, 1]],
    ['"parameters.gust speed" = +5', [4]],
    ['class = ok or class = crashed and outputs.miss_m > 0', [0, 1]],
    ['(class = ok or class = crashed) and outputs.landed = 1', [0, 2]],
    ['class > "crashed"', [0, 1, 3]],
    ['not (outputs.miss_m > 50 or class is null)', [0]],
    ['  class\n=\tok  ', [0, 1]],
    ['miss_m > 50 and landed = 0', [1]],
    ["'gust speed' <= 2", [0, 1]],
    ['failed', [2, 3]],
    ['FAILED and (completed or crashed)', [2]],
    ['not failed and miss_m > 50', [1]],
    ['completed', [0, 1]],
    ['class:Terminated or class:crashed', [2, 3]],
    ['state:failed', [2, 3]],
  ];
  for (const [text, rows] of examples) {
    it(`selects rows ${JSON.stringify(rows)} by ${JSON.stringify(text)}`, () => {
      expect(selected(text)).to.deep.equal(rows);
    });
  }

  it('finds a comparison with a missing value neither true nor false, and so its negation', () => {
    expect(selected('outputs.miss_m > 50')).not.to.include(2);
    expect(selected('not outputs.miss_m > 50')).not.to.include(2);
    expect(selected('outputs.miss_m > 50 or not outputs.miss_m > 50')).not.to.include(2);
    expect(selected('outputs.miss_m > 50 or class = crashed')).to.include(2);
  });

  const errors: [text: string, message: string][] = [
    ['', '1: expected a column, the expression ends; write a condition such as "outputs.miss_m > 50"'],
    ['outputs.mis_m > 5', '1: unknown column "outputs.mis_m"; did you mean "outputs.miss_m"?'],
    ['class = ok and zzz = 1', '16: unknown column "zzz"; name one of miss_m, landed, class, gust speed'],
    ['class == ok', '8: expected a value, found "="; equality is written "="'],
    ['class <> ok', '8: expected a value, found ">"; inequality is written "!="'],
    ['class ! ok', '7: "!" has no meaning alone; write "!=" or "not"'],
    ['class = ', '8: expected a value, the expression ends; write a number, true, false, a word or a quoted text'],
    ["class = 'ok", '9: a quoted text does not end; close it, and write a quote inside it twice'],
    ["class = 'ok''", '9: a quoted text does not end; close it, and write a quote inside it twice'],
    [
      'outputs.landed and class = ok',
      '16: expected an operator (= != < <= > >=, in, is), found "and"; compare the column with a value, for example "= true" or "> 0"',
    ],
    ['(class = ok', '12: expected ")", the expression ends; close the parenthesis of character 1'],
    ['class = ok)', '11: expected the end, "and" or "or", found ")"; join conditions by "and" or "or"'],
    [
      'class = ok outputs.landed = 1',
      '12: expected the end, "and" or "or", found "outputs.landed"; join conditions by "and" or "or"',
    ],
    ['class = null', '9: "null" is not a value; write "is null" or "is not null"'],
    ['class = and', '9: "and" is not a value; write \'and\' in quotes if it is a text'],
    ['class is ok', '10: expected "null", found "ok"; write "is null" or "is not null"'],
    ['class in ok', '10: expected "(", found "ok"; write the values as "in (a, b)"'],
    ['class in (ok', '13: expected "," or ")", the expression ends; write the values as "in (a, b)"'],
    ['5 < outputs.miss_m', '1: expected a column, found "5"; write a condition such as "outputs.miss_m > 50"'],
    [
      'outputs.miss_m > fast',
      '1: the column "outputs.miss_m" holds numbers, "fast" is a text; compare it with a number',
    ],
    [
      'class = ok or class in (ok, broken)',
      '15: no class is "broken"; write one of ok, terminated, crashed, timeout, lost, cancelled, open',
    ],
    ['class:broken', '1: no class is "broken"; write one of ok, terminated, crashed, timeout, lost, cancelled, open'],
    ['class = 5', '1: the column "class" holds texts, 5 is not one; write \'5\' in quotes'],
  ];
  for (const [text, message] of errors) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(errorOf(text)).to.equal(message);
    });
  }

  it('takes names without a prefix where they are clear, and lists the names otherwise', () => {
    const one = numbers(1);
    const both = new Map<string, WhereColumn>([
      ['run_id', one],
      ['status', texts('Failed')],
      ['class', texts('crashed')],
      ['runner_id', texts('lab-1')],
      ['parameters.mass', one],
      ['outputs.mass', one],
      ['outputs.status', one],
      ...Array.from({ length: 9 }, (_, at): [string, WhereColumn] => [`outputs.o${at}`, numbers(at)]),
    ]);
    const rows = (text: string): number[] => [...evaluateWhere(parseWhere(text), both, 1)];
    expect(rows('run = 1 and runner = lab-1 and state = failed and status != Running and o8 = 8')).to.deep.equal([1]);
    expect(rows('runner:lab-1 and state:FAILED')).to.deep.equal([1]);
    expect(rows('parameters.mass = 1 and outputs.status = 1')).to.deep.equal([1]);
    expect(() => rows('run = 1 and mass > 5')).to.throw(
      'where not understood at character 13: "mass" is a parameter and an output; write parameters.mass or outputs.mass',
    );
    expect(() => rows('zzzzzz = 1')).to.throw('name one of o1, o2, o3, o4, o5, o6, o7, o8, ... (16 columns)');
    expect(() => rows('parameters.mas = 1')).to.throw('did you mean "parameters.mass"?');
    expect(() => rows('__proto__ = 1')).to.throw('unknown column "__proto__"');
  });

  it('is bounded in length and depth', () => {
    const depth = (levels: number): string => '('.repeat(levels) + 'class = ok' + ')'.repeat(levels);
    expect(selected(depth(100))).to.deep.equal([0, 1]);
    expect(errorOf(depth(101))).to.equal(
      '101: more than 100 levels are inside each other; write it with fewer parentheses',
    );
    expect(errorOf('not '.repeat(101) + 'class = ok')).to.match(/^401: more than 100 levels/);
    expect(errorOf('x'.repeat(8193))).to.equal('8193: it is 8193 characters long; use at most 8192');
    expect(selected(Array.from({ length: 500 }, () => 'class = ok').join(' or '))).to.deep.equal([0, 1]);
    expect(errorOf(`class = ${"'".repeat(8001)}`)).to.match(/does not end/);
  });

  const word = fc.oneof(
    fc.constantFrom(
      'a',
      'outputs.x',
      'and',
      'Null',
      'true',
      '5',
      '-1e3',
      '',
      ' ',
      "it's",
      'a"b',
      '(',
      '2026-01-01',
      '==',
    ),
    fc.string(),
  );
  const literal: fc.Arbitrary<Literal> = fc.oneof(
    word,
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((it) => it + 0),
  );

  /** Normal trees: an `and` holds no `and`, an `or` no `or`. */
  function expressions(
    column: fc.Arbitrary<string>,
    value: (column: string) => fc.Arbitrary<Literal>,
  ): fc.Arbitrary<Expression> {
    const leaf = column.chain((name): fc.Arbitrary<Expression> => {
      const shared = { column: fc.constant(name), at: fc.constant(1) };
      return fc.oneof(
        fc.record({
          kind: fc.constant('compare' as const),
          ...shared,
          operator: fc.constantFrom(...COMPARISONS),
          value: value(name),
        }),
        fc.record({
          kind: fc.constant('in' as const),
          ...shared,
          values: fc.array(value(name), { minLength: 1, maxLength: 4 }),
        }),
        fc.record({ kind: fc.constant('null' as const), ...shared, isNull: fc.boolean() }),
      );
    });
    const joined = (kind: 'and' | 'or', term: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> =>
      fc.array(term, { minLength: 2, maxLength: 4 }).map((terms) => ({
        kind,
        terms: terms.flatMap((it) => (it.kind === kind ? it.terms : [it])),
      }));
    return fc.letrec<{ any: Expression }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        leaf,
        tie('any').map((term): Expression => ({ kind: 'not', term })),
        joined('and', tie('any')),
        joined('or', tie('any')),
      ),
    })).any;
  }

  /** Without positions, which depend on the text. */
  const plain = (expression: Expression): unknown =>
    JSON.parse(JSON.stringify(expression, (name, value: unknown) => (name === 'at' ? undefined : value)));

  it('parses a printed expression back to the same', () => {
    fc.assert(
      fc.property(
        expressions(word, () => literal),
        (expression) => {
          const text = printWhere(expression);
          fc.pre(text.length <= 8192);
          const parsed = parseWhere(text);
          expect(plain(parsed)).to.deep.equal(plain(expression));
          expect(printWhere(parsed)).to.equal(text);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('parses any text or names a position in it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(word, fc.constantFrom('and', 'or', 'not', '(', ')', '=', '<', 'in', 'is', ',', "'"))),
        (words) => {
          const text = words.join(' ');
          try {
            parseWhere(text);
          } catch (error) {
            expect(error).to.be.instanceOf(WhereError);
            expect((error as WhereError).position).to.be.within(1, text.length + 1);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  /** Row by row with null as the unknown truth. */
  function naive(expression: Expression, row: ReadonlyMap<string, Cell>): boolean | null {
    if ('terms' in expression) {
      const truths = expression.terms.map((it) => naive(it, row));
      const decisive = expression.kind === 'or';
      if (truths.includes(decisive)) return decisive;
      return truths.includes(null) ? null : !decisive;
    }
    if (expression.kind === 'not') {
      const truth = naive(expression.term, row);
      return truth === null ? null : !truth;
    }
    const cell = row.get(expression.column)!;
    if (expression.kind === 'null') return (cell === null) === expression.isNull;
    if (cell === null) return null;
    const like = (value: Literal): number | string => (typeof value === 'boolean' ? (value ? 1 : 0) : value);
    if (expression.kind === 'in') return expression.values.some((it) => like(it) === cell);
    const value = like(expression.value);
    const compared = {
      '=': cell === value,
      '!=': cell !== value,
      '<': cell < value,
      '<=': cell <= value,
      '>': cell > value,
      '>=': cell >= value,
    };
    return compared[expression.operator];
  }

  it('selects the rows that a naive evaluator selects', () => {
    const number = fc.option(fc.integer({ min: -2, max: 2 }));
    const text = fc.option(fc.constantFrom('', 'a', 'b', 'c'));
    const rows = fc.array(fc.tuple(number, number, text), { maxLength: 30 });
    const value = (name: string): fc.Arbitrary<Literal> =>
      name === 't' ? fc.constantFrom('', 'a', 'b', 'c', 'd') : fc.oneof(fc.integer({ min: -2, max: 2 }), fc.boolean());
    fc.assert(
      fc.property(rows, expressions(fc.constantFrom('x', 'y', 't'), value), (cells, expression) => {
        const table = new Map<string, WhereColumn>([
          ['x', numbers(...cells.map(([x]) => x))],
          ['y', numbers(...cells.map(([, y]) => y))],
          ['t', texts(...cells.map(([, , t]) => t))],
        ]);
        const expected = cells.map(
          ([x, y, t]) =>
            naive(
              expression,
              new Map<string, Cell>([
                ['x', x],
                ['y', y],
                ['t', t],
              ]),
            ) === true,
        );
        expect([...evaluateWhere(expression, table, cells.length)].map((it) => it === 1)).to.deep.equal(expected);
      }),
      { numRuns: 500 },
    );
  });
});
