/** Reading of input files, help texts and of how inputs vary: tables of text and what is found in it. */
import { expect } from 'chai';
import { optionsOfHelp, wordsOf } from '../../../src/cli/init/look/command-line.ts';
import { namesOf, numbersOfAssignments, numbersOfYaml } from '../../../src/cli/init/look/numbers-in-text.ts';
import { readVaried } from '../../../src/cli/init/vary.ts';

/** `name line:column text` of each number. */
const shown = (numbers: ReturnType<typeof numbersOfYaml>): string[] =>
  namesOf(numbers).map((name, at) => {
    const [line, column, text] = (numbers[at] as (typeof numbers)[number]).place;
    return `${name} ${line}:${column} ${text}`;
  });

const INI = { comment: ['#', ';'], section: /^\s*\[+([^\]]+)\]+/, several: false };
const NAMELIST = { comment: ['!'], section: /^\s*&(\w+)/, several: true };

describe('cli/init reading', () => {
  it('finds the numbers of JSON and YAML with their places, by their shortest unique names', () => {
    expect(shown(numbersOfYaml('{"a": {"x": 1.50, "y": -2e3}, "b": {"x": 3}, "t": "4"}'))).to.deep.equal([
      'a_x 1:13 1.50',
      'y 1:24 -2e3',
      'b_x 1:42 3',
    ]);
    expect(shown(numbersOfYaml('a:\n  - 1\n  - [2, 3]\nb: .5 # 9\nc: 0x10\nd: .inf\ne: true\n'))).to.deep.equal([
      'a_0 2:5 1',
      'a_1_0 3:6 2',
      'a_1_1 3:9 3',
      'b 4:4 .5',
    ]);
    expect(numbersOfYaml(`[${'1,'.repeat(12)}1]`)).to.deep.equal([]);
    expect(numbersOfYaml('{'.repeat(20) + '}'.repeat(20))).to.deep.equal([]);
    expect(() => numbersOfYaml('{"a": ')).to.throw();
  });

  const assigned: [string, typeof INI | typeof NAMELIST, string[]][] = [
    ['[tank]\nmass = 4.0 ; kg\n# mass = 5\nname = "x = 3"\nn=7', INI, ['mass 2:8 4.0', 'n 5:3 7']],
    ['a = 1, 2\nb = 3 m\nc: 4\nd = 2024-01-01\ne = 1_000', INI, ['c 3:4 4']],
    ['[a]\nx = 1\n[b]\nx = 2', INI, ['a_x 2:5 1', 'b_x 4:5 2']],
    ['t = """\nmass = 5\n"""\nmass = 6', INI, ['mass 4:8 6']],
    ["&a x=1.5d0, y = -2 / ! z = 3\n s = 'q = 4', w=.5", NAMELIST, ['x 1:6 1.5d0', 'y 1:17 -2', 'w 2:17 .5']],
    ['&a g = 1.0, 2.0\n v(2) = 3.0\n p%q = 4', NAMELIST, ['v_2_ 2:9 3.0', 'p_q 3:8 4']],
  ];
  for (const [text, syntax, expected] of assigned) {
    it(`finds the numbers that are assigned in ${JSON.stringify(text)}`, () => {
      expect(shown(numbersOfAssignments(text, syntax))).to.deep.equal(expected);
    });
  }

  it('reads a long line of an input file in linear time', () => {
    expect(numbersOfAssignments(`a = ${'1'.repeat(200_000)}x${' '.repeat(200_000)}`, NAMELIST)).to.deep.equal([]);
  });

  it('finds the options with numbers as defaults in a help text', () => {
    const text = `usage: sim [options]
  -s, --speed <m/s>      initial speed (default: 30)
      --launch-angle A   angle
                         [default: 40.5]
      --name NAME        a name (default: x1)
      --seed INTEGER     Defaults to 7.
      --plot             draw`;
    expect(optionsOfHelp(text)).to.deep.equal([
      { name: 'speed', flag: '--speed', value: 30 },
      { name: 'launch_angle', flag: '--launch-angle', value: 40.5 },
      { name: 'seed', flag: '--seed', value: 7 },
    ]);
  });

  it('splits a command at blanks outside of quotes', () => {
    expect(wordsOf(`./a\t"b c" --d='e f'g  h`)).to.deep.equal(['./a', 'b c', '--d=e fg', 'h']);
  });

  const input = (name: string, value: number | null, whole = false) => ({ name, value, whole });
  const INPUTS = [input('speed', -30), input('zero', 0), input('n', 3, true), input('free', null)];
  const varied: [string[], object][] = [
    [['speed=5%'], { speed: { type: 'normal', mean: -30, std_dev: 1.5 } }],
    [
      ['speed=+-2, zero = ±.5'],
      { speed: { type: 'uniform', min: -32, max: -28 }, zero: { type: 'uniform', min: -0.5, max: 0.5 } },
    ],
    [
      ['speed=-40..-20', 'free=1e3..2e3'],
      { speed: { type: 'uniform', min: -40, max: -20 }, free: { type: 'uniform', min: 1000, max: 2000 } },
    ],
    [
      ['free=normal(4, 1),speed=triangular(-3,-2,-1)'],
      { free: { type: 'normal', mean: 4, std_dev: 1 }, speed: { type: 'triangular', min: -3, mode: -2, max: -1 } },
    ],
    [
      ['n=1|2'],
      {
        n: {
          type: 'discrete',
          values: [
            { value: 1, weight: 1 },
            { value: 2, weight: 1 },
          ],
        },
      },
    ],
    [['n=4'], { n: { type: 'fixed', value: 4 } }],
    [['5%'], { speed: { type: 'normal', mean: -30, std_dev: 1.5 } }],
    [['all=10 %', 'speed=1'], { speed: { type: 'fixed', value: 1 } }],
  ];
  for (const [texts, expected] of varied) {
    it(`reads how inputs vary: ${texts.join(' and ')}`, () => {
      expect(Object.fromEntries(readVaried(texts, INPUTS).varied)).to.deep.equal(expected);
    });
  }

  it('says which inputs a share for all leaves as they are', () => {
    const { notes } = readVaried(['5%'], INPUTS);
    expect(notes.join('\n')).to.match(
      /^zero is 0,.*zero=\+-1.*\nn is a whole number and stays 3:.*\nfree has no value/,
    );
  });

  for (const text of [
    'free=5%',
    'free=+-1',
    'n=1..4',
    'speed=normal()',
    'speed=empirical(1,2)',
    'speed=constructor(1)',
    'speed=1|',
    'speed=Infinity',
    'speed=',
  ]) {
    it(`refuses ${text}`, () => {
      expect(() => readVaried([text], INPUTS)).to.throw(/write|list its values|there is no input/);
    });
  }
});
