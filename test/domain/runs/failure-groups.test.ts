import { expect } from 'chai';
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import {
  CommonParts,
  decisiveLine,
  normalizeMessage,
  ownErrorOf,
  takeApart,
} from '../../../src/domain/runs/failure-groups.ts';

/**
 * Messages of failed runs, with the line that names the error. Node, Python, Java, Rust, g++ with its sanitizers, bash and dash have printed
 * theirs for the programs of this name; the texts of the other runtimes are written as these print them.
 */
const STDERR = JSON.parse(readFileSync(join(packageRoot, 'test/domain/runs/data/stderr.json'), 'utf8')) as {
  name: string;
  message: string;
  line: string;
}[];

describe('domain/runs/failure-groups', () => {
  const SAME: [a: string, b: string, pattern: string][] = [
    ['step 12 diverged', 'step 3401 diverged', 'step … diverged'],
    ['x = -1.5e-3 at t=2', 'x = 7 at t=0.25', 'x = … at t=…'],
    ['bad pointer 0x7ffe01', 'bad pointer 0xAB', 'bad pointer …'],
    ['cannot read /data/a/7.csv', 'cannot read /tmp/run-2/x.csv', 'cannot read …'],
    ['cannot read C:\\data\\1.csv', 'cannot read D:\\e\\2.csv', 'cannot read …'],
    ['job 01a1fd5f-8e55-8ba2-be0c-44cf00000023 gone', 'job 00000000-0000-8000-8000-000000000001 gone', 'job … gone'],
    ['at 2026-01-01T00:00:00.000Z', 'at 2026-02-03 04:05:06', 'at …'],
    ['runner lab-7 was restarted', 'runner ws.anna was restarted', 'runner … was restarted'],
    ['Traceback\n  File "a"\nValueError: x 1\n', 'Traceback\n  File "b"\nValueError: x 2', 'ValueError: x …'],
    [
      'terminated early: x < 0 by x = -1\nnoise 1',
      'terminated early: x < 0 by x = -7',
      'terminated early: x < … by x = …',
    ],
    [
      'killed after its time limit of 60 s\nstep 7',
      'killed after its time limit of 60 s',
      'killed after its time limit of … s',
    ],
    [
      'terminated early: q > 1 was met\nlanded 14 m away',
      'terminated early: q > 2 was met',
      'terminated early: q > … was met',
    ],
    [
      'the simulation was killed by signal SIGKILL\nstep 7',
      'the simulation was killed by signal SIGKILL',
      'the simulation was killed by signal SIGKILL',
    ],
    [
      'the simulation exited with code 1\nValueError: 3',
      'the simulation exited with code 2\nValueError: 4',
      'ValueError: …',
    ],
  ];
  for (const [a, b, pattern] of SAME) {
    it(`puts together as ${JSON.stringify(pattern)}`, () => {
      expect(normalizeMessage(a)).to.equal(pattern);
      expect(normalizeMessage(b)).to.equal(pattern);
    });
  }

  it('finds the line that names the error in the stderr of each runtime', () => {
    for (const { name, message, line } of STDERR) expect(decisiveLine(message), name).to.equal(line);
    expect(STDERR.length).to.be.above(90);
  });

  it('puts two wordings of a limit together', () => {
    const patternOf = (name: string): string => normalizeMessage(STDERR.find((it) => it.name === name)!.message);
    expect(patternOf('time-limit-runner')).to.equal(patternOf('time-limit-coordinator'));
    expect(patternOf('memory-limit-signal')).to.equal(patternOf('memory-limit-exit'));
    expect(patternOf('java-cause')).to.equal(patternOf('java-thread'));
  });

  const OWN: [reason: string, message: string, error: string | undefined][] = [
    ['exit', 'the simulation exited with code 1\nValueError: mass 3', 'ValueError: mass …'],
    ['exit', 'the simulation exited with code 1', 'the simulation exited with code …'],
    ['signal', 'the simulation was killed by signal SIGSEGV (segmentation fault)\nx', 'the simulation was killed by signal SIGSEGV (segmentation fault)'],
    ['signal', 'the simulation was killed by signal SIGKILL (not by the runner)\nValueError: 3', undefined],
    ['signal', 'killed', undefined],
    ['exit', 'the simulation exited with code 137\nValueError: 3', undefined],
    ['exit', ' ', undefined],
    ['timeout', 'killed after its time limit of 60 s', undefined],
    ['infrastructure', 'the disk of /data is full', undefined],
    ['early_termination', 'terminated early: x < 0 by x = -1', undefined],
    ['invalid', 'bad', undefined],
  ]; // prettier-ignore
  for (const [reason, message, error] of OWN) {
    it(`${error === undefined ? 'knows no' : 'knows the'} error of the simulation itself in ${reason}: ${message.split('\n')[0]}`, () =>
      expect(ownErrorOf(reason, message)).to.equal(error));
  }

  const APART: [string, string][] = [
    ['ValueError: x', 'TypeError: x'],
    ['exited with code 1', 'killed by signal 9'],
    ['x1 is missing', 'y1 is missing'],
  ];
  for (const [a, b] of APART) {
    it(`keeps apart ${a} and ${b}`, () => expect(normalizeMessage(a)).to.not.equal(normalizeMessage(b)));
  }

  it('groups any text in bounded time', () => {
    for (const text of ['', '\n\n', '1'.repeat(1e6), '/a'.repeat(1e5), '-'.repeat(1e5), '….\u0000']) {
      expect(normalizeMessage(text)).to.be.a('string').and.have.lengthOf.below(400);
    }
    expect(normalizeMessage('')).to.equal('(no message)');
  });

  /** The pattern of messages with what they have in common. */
  const common = (messages: readonly string[]): string => {
    const [first = '', ...others] = messages;
    const parts = new CommonParts(takeApart(first));
    for (const it of others) parts.add(takeApart(it));
    return parts.text();
  };

  const KEPT: [messages: string[], text: string][] = [
    [['exit code 137 in step 4', 'exit code 137 in step 90'], 'exit code 137 in step …'],
    [['cannot read /data/wind.csv', 'cannot read /data/wind.csv'], 'cannot read /data/wind.csv'],
    [['cannot read /data/a.csv line 7', 'cannot read /data/b.csv line 7'], 'cannot read … line 7'],
    [['runner lab-7 lost run 3', 'runner lab-7 lost run 4'], 'runner lab-7 lost run …'],
    [['solver failed: 7', 'solver failed: 7', 'solver failed: 8'], 'solver failed: …'],
    [['solver failed: 7'], 'solver failed: …'],
    [['no numbers', 'no numbers'], 'no numbers'],
    [['… is 7', '… is 7'], '… is 7'],
    [['\ue000 is 7', '\ue000 is 7'], '\ue000 is …'],
    [[`x ${'1'.repeat(101)} y 2`, `x ${'1'.repeat(101)} y 2`], 'x … y 2'],
  ];
  for (const [messages, text] of KEPT) {
    it(`keeps ${JSON.stringify(text)} of ${JSON.stringify(messages).slice(0, 80)}`, () =>
      expect(common(messages)).to.equal(text));
  }

  const part = fc.oneof(
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.uuid(),
    fc.constantFrom('0xff', '/data/run-7/x.csv', 'runner lab-1 ', '2026-01-01T00:00:00Z', '…', '1e5', '-.5', ''),
  );
  const word = fc.constantFrom('step', 'x =', 'at t=', 'error:', ' ', '(', 'Ω', 'E', '/', '.', ' after ');
  const message = fc.array(fc.oneof(word, part), { maxLength: 12 }).map((it) => it.join(''));

  it('shows a text of the pattern of its messages, in any order of them', () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 5 }),
        fc.array(fc.array(part, { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
        (words, all) => {
          const messages = all.map((parts) => words.map((it, at) => `${it} ${parts[at] ?? ''}`).join(' '));
          const pattern = normalizeMessage(messages[0]!);
          const alike = messages.filter((it) => normalizeMessage(it) === pattern);
          const text = common(alike);
          expect(normalizeMessage(text)).to.equal(pattern);
          expect(common(alike.toReversed())).to.equal(text);
        },
      ),
    );
  });

  it('keeps a number exactly where all messages have it', () => {
    const number = fc.integer({ min: 0, max: 999 });
    fc.assert(
      fc.property(fc.array(fc.tuple(number, number, number), { minLength: 2, maxLength: 6 }), (rows) => {
        const messages = rows.map(([a, b, c]) => `code ${a} in step ${b} of ${c}`);
        const same = (at: 0 | 1 | 2): string =>
          rows.every((it) => it[at] === rows[0]![at]) ? String(rows[0]![at]) : '…';
        expect(common(messages)).to.equal(`code ${same(0)} in step ${same(1)} of ${same(2)}`);
      }),
    );
  });

  it('takes a message apart into texts and parts that give its decisive line again', () => {
    fc.assert(
      fc.property(message, (it) => {
        const { pattern, literals, parts } = takeApart(it);
        expect(literals.join('…')).to.equal(pattern);
        expect(literals).to.have.length(parts.length + 1);
        const whole = literals.map((text, at) => text + (parts[at] ?? '')).join('');
        if (!pattern.endsWith('…') || pattern.length <= 300)
          expect(whole).to.equal(it.trim() === '' ? '(no message)' : it.trim());
      }),
    );
  });

  it('joins what two groups of messages have in common', () => {
    const first = new CommonParts(takeApart('code 7 in step 1'));
    const second = new CommonParts(takeApart('code 7 in step 2'));
    expect(first.with(second).text()).to.equal('code 7 in step …');
    expect(first.text(), 'unchanged').to.equal('code … in step …');
  });
});
