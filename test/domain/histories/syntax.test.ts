/** Events, conditions and expressions: their trees, and the place and remedy of every error. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseCondition } from '../../../src/domain/histories/conditions.ts';
import { eventVariables, parseEvent } from '../../../src/domain/histories/events.ts';
import { evaluateExpression } from '../../../src/domain/histories/evaluate-expression.ts';
import { expressionNames, parseExpression } from '../../../src/domain/histories/expression.ts';
import { SyntaxFault } from '../../../src/domain/histories/syntax.ts';

function faultOf(parse: (text: string) => unknown, text: string): string {
  try {
    parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    expect(error.message).to.include(` at character ${error.position}; `);
    return error.message;
  }
  return 'no fault';
}

/** The value for outputs.x = 3, outputs.y = 4, outputs.ok = true as 1 and parameters.r = 2; the reason where it is missing. */
function valueOf(text: string): number | string {
  const names: Record<string, number> = { 'outputs.x': 3, 'outputs.y': 4, 'outputs.a.b-c': 7, 'parameters.r': 2 };
  const found = evaluateExpression(parseExpression(text), (scope, name) => {
    const value = names[`${scope}.${name}`];
    return value === undefined ? { missing: `${scope}.${name} is missing` } : { value };
  });
  return 'value' in found ? found.value : found.missing;
}

describe('domain/histories/syntax', () => {
  it('reads conditions, with `and` closer than `or` and names that need quotes', () => {
    expect(parseCondition('z > 1 and not (v <= -2.5e1 or w != 0) or "a b" == 3')).to.deep.equal({
      kind: 'or',
      terms: [
        {
          kind: 'and',
          terms: [
            { kind: 'compare', variable: 'z', operator: '>', threshold: 1 },
            {
              kind: 'not',
              term: {
                kind: 'or',
                terms: [
                  { kind: 'compare', variable: 'v', operator: '<=', threshold: -25 },
                  { kind: 'compare', variable: 'w', operator: '!=', threshold: 0 },
                ],
              },
            },
          ],
        },
        { kind: 'compare', variable: 'a b', operator: '==', threshold: 3 },
      ],
    });
  });

  it('reads every form of an event', () => {
    const z = { kind: 'compare', variable: 'z', operator: '>', threshold: 0 };
    for (const kind of ['first', 'last', 'each'])
      expect(parseEvent(`${kind}(z>0)`)).to.deep.equal({ kind, condition: z });
    for (const kind of ['first_max', 'first_min'])
      expect(parseEvent(` ${kind} ( engine/thrust[0] ) `)).to.deep.equal({ kind, variable: 'engine/thrust[0]' });
    for (const kind of ['start', 'end']) expect(parseEvent(kind)).to.deep.equal({ kind });
    expect(eventVariables(parseEvent('each(z > 0 and v < 1 and z < 9)'))).to.deep.equal(['z', 'v']);
    expect(eventVariables(parseEvent('end'))).to.deep.equal([]);
  });

  const events: [text: string, fault: string][] = [
    [
      '',
      'expected an event, the expression ends at character 1; write first(...), last(...), each(...), first_max(...), first_min(...), start or end, for example "first(altitude > 100)"',
    ],
    ['first', 'expected "(", the expression ends at character 6; write "first(...)"'],
    ['first(z > 3', 'expected ")", the expression ends at character 12; close the parenthesis of character 6'],
    ['first(z = 3)', 'expected an operator (< <= > >= == !=), found "=" at character 9; equality is written "=="'],
    [
      'first(3 < z)',
      'expected a telemetry variable, found "3" at character 7; write a condition such as "altitude > 100"',
    ],
    ['first(z > v)', 'expected a number, found "v" at character 11; compare with a number such as 100 or -1.5e3'],
    [
      'first(z > 1e999)',
      'expected a number that fits a double, found "1e999" at character 11; compare with a number such as 100 or -1.5e3',
    ],
    [
      'first(z > 3) and start',
      'expected the end, "and" or "or", found "and" at character 14; an event is a single form; join conditions inside its parentheses',
    ],
    ['first_max(z > 3)', 'expected ")", found ">" at character 13; close the parenthesis of character 10'],
    ['first(z ! 3)', '"!" has no meaning alone at character 9; write "!=" or "not"'],
    ['first("z > 3)', 'a quoted text does not end at character 7; close it, and write a quote inside it twice'],
  ];
  for (const [text, fault] of events)
    it(`refuses the event ${JSON.stringify(text)}`, () => expect(faultOf(parseEvent, text)).to.equal(fault));

  const values: [text: string, value: number | string][] = [
    ['hypot(outputs.x, outputs.y) - parameters.r', 3],
    ['1 - 2 - 3', -4],
    ['2 + 3 * 4 / 6', 4],
    ['(2 + 3) * -4', -20],
    ['-outputs.x - -1', -2],
    ['2-1', 1],
    ['1e-3*1000', 1],
    ["'outputs.a.b-c' + .5", 7.5],
    ['min(outputs.x, 1, 2) + max(5, outputs.y)', 6],
    ['abs(-2) + sqrt(16) + floor(-1.5) + ceil(-1.5)', 3],
    ['exp(0) + log(1) + sin(0) + cos(0) + tan(0) + atan2(0, 1) + pow(2, 10)', 1026],
    ['outputs.x < outputs.y and not outputs.x == 4', 1],
    ['(outputs.x > 3) + (outputs.x >= 3) * 2', 2],
    ['if(outputs.x > 3, outputs.gone, parameters.r)', 2],
    ['outputs.x > 9 and outputs.gone > 1', 0],
    ['outputs.gone + 1', 'outputs.gone is missing'],
    ['parameters.x', 'parameters.x is missing'],
    ['sqrt(outputs.x - 4)', 'sqrt(-1) is not a number'],
    ['if(sqrt(-1) > 0, 1, 2)', 'sqrt(-1) is not a number'],
    ['0 / 0', '0 / 0 is not a number'],
    ['1 / 0', 'the expression is Infinity'],
    ['if(1 / 0 > 5, 8, 9)', 8],
  ];
  for (const [text, value] of values)
    it(`computes ${JSON.stringify(text)}`, () => expect(valueOf(text)).to.equal(value));

  const expressions: [text: string, fault: string][] = [
    [
      'outputs.x +',
      'expected a number, the expression ends at character 12; write a number, a function, or a name such as outputs.miss_m or parameters.mass_kg',
    ],
    ['miss_m - 2', '"miss_m" is not a number at character 1; write outputs.NAME or parameters.NAME'],
    ['outputs. + 1', '"outputs." is not a number at character 1; write outputs.NAME or parameters.NAME'],
    ['sqr(2)', 'unknown function "sqr" at character 1; did you mean "sqrt"?'],
    ['sqrt(1, 2)', 'sqrt has 2 numbers at character 1; give it one number'],
    ['if(1, 2)', 'if has 2 numbers at character 1; give it 3 numbers'],
    ['2 ** 3', 'expected a number, found "*" at character 4; a power is written "pow(a, b)"'],
    [
      '2 ^ 3',
      '"^" has no meaning here at character 3; write +, -, *, /, functions such as pow(a, b), or a name with other characters in quotes',
    ],
    ['1 < 2 < 3', 'expected one comparison, found "<" at character 7; join two comparisons by "and"'],
    ['outputs.x = 3', 'expected an operator, found "=" at character 11; equality is written "=="'],
    ['1 2', 'expected the end, "and" or "or", found "2" at character 3; join numbers by +, -, * or /'],
    ['(1', 'expected ")", the expression ends at character 3; close the parenthesis of character 1'],
    ['1e999', 'expected a number that fits a double, found "1e999" at character 1; write a smaller number'],
  ];
  for (const [text, fault] of expressions)
    it(`refuses the expression ${JSON.stringify(text)}`, () => expect(faultOf(parseExpression, text)).to.equal(fault));

  it('lists the names of an expression, each once and in order', () => {
    const text = 'outputs.b + outputs.a * parameters.r - if(outputs.a > 1, -outputs.c, not parameters.q)';
    expect(expressionNames(parseExpression(text))).to.deep.equal({ outputs: ['b', 'a', 'c'], parameters: ['r', 'q'] });
  });

  it('is bounded in length and depth', () => {
    const deep = (levels: number): string => `${'('.repeat(levels)}1${')'.repeat(levels)}`;
    expect(valueOf(deep(32))).to.equal(1);
    const tooDeep = 'more than 32 levels are inside each other';
    expect(faultOf(parseExpression, deep(33))).to.match(new RegExp(`^${tooDeep} at character 33`));
    expect(faultOf(parseExpression, `${'-'.repeat(33)}1`)).to.match(new RegExp(`^${tooDeep}`));
    expect(faultOf(parseExpression, `${'abs('.repeat(33)}1`)).to.match(new RegExp(`^${tooDeep}`));
    expect(faultOf(parseEvent, `first(${'not '.repeat(33)}z > 1)`)).to.match(new RegExp(`^${tooDeep}`));
    for (const parse of [parseExpression, parseEvent, parseCondition])
      expect(faultOf(parse, 'x'.repeat(1001))).to.equal(
        'it is 1001 characters long at character 1001; use at most 1000',
      );
  });

  it('fails on any other text with its place alone', () => {
    const piece = fc.constantFrom(
      'first',
      '(',
      ')',
      'z',
      '>',
      '=',
      '1',
      'and',
      'not',
      ' ',
      "'",
      'if',
      ',',
      '-',
      'outputs.x',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 12 }), (pieces) => {
        for (const parse of [parseExpression, parseEvent, parseCondition]) faultOf(parse, pieces.join(''));
      }),
    );
  });
});
