/** Positions of faults in study files, and rejected YAML: one row per text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { packageRoot } from '../../src/base/package.ts';
import { checkStudyText } from '../../src/cli/study/check-study.ts';
import { checkedLines } from '../../src/cli/study/study-sentences.ts';
import { METHOD_NAMES } from '../../src/cli/study/study-defaults.ts';
import { readStudyText } from '../../src/cli/study/study-file.ts';
import type { BatchSubmission } from '../../src/contract/types.ts';
import { configHash } from '../../src/domain/study/config-hash.ts';
import { times } from '../support/properties.ts';
import { rareStudy } from '../support/rounds.ts';

/** text -> `line:column detail` of each fault. */
const REFUSED: [string, string, string[]][] = [
  ['nothing', '', ['1:1 the file is empty']],
  ['only a comment', '# a\n', ['1:1 the file is empty']],
  ['repeated member', 'a: 1\nb:\n  c: 1\n  c: 2\n', ['4:3 repeats the member "c"']],
  ['repeated member of JSON', '{"a": 1,\n "a": 2}', ['2:2 repeats the member "a"']],
  ['two documents', 'a: 1\n---\nb: 2\n', ['2:1 starts a second document; a study is one']],
  ['tab as indentation', 'a:\n\tb: 1\n', ['2:1 is indented with a tab; YAML takes spaces only']],
  [
    'a tab and what follows from it',
    'a:\n  b: 1\n\tc: 1\n  d: 1\n',
    ['3:1 is indented with a tab; YAML takes spaces only'],
  ],
  ['an operator without quotes', 'a: > 22\n', ['1:6 does not belong here; text that begins with > or | needs quotes']],
  ['an operator without quotes in a flow', '{a: > 22}\n', ['1:5 begins with >; put the text in quotes']],
  ['unknown anchor', 'a: *b\n', ['1:4 refers to *b, but there is no &b before it']],
  [
    'merge key',
    'a: &a {x: 1}\nb:\n  <<: *a\n',
    ['3:3 is a merge key of YAML 1.1; write the members out, or use an alias for a whole value'],
  ],
  ['binary', 'a: !!binary aGk=\n', ['1:13 has the tag tag:yaml.org,2002:binary, which means nothing here']],
  ['custom tag', 'a: !ruby/object:X {}\n', ['1:19 has the tag !ruby/object:X, which means nothing here']],
  ['complex name', '? [a]\n: 1\n', ['1:3 is not a name: a member needs a plain name']],
  ['alias to itself', 'a: &a [*a]\n', ['1:7 is nested deeper than 64 levels once its aliases are followed']],
  ['deep flow', '['.repeat(30_000), ['1:65 is nested deeper than 64 levels']],
  ['deep block', '- '.repeat(30_000), ['1:129 is nested deeper than 64 levels']],
];

/** text -> value. */
const READ: [string, string, unknown][] = [
  ['YAML 1.2 booleans only', 'a: on\nb: yes\nc: true\nd: n\n', { a: 'on', b: 'yes', c: true, d: 'n' }],
  ['a directive of YAML 1.1 changes nothing', '%YAML 1.1\n---\na: on\n', { a: 'on' }],
  ['exponents', 'a: 1e5\nb: 1.5E-3\nc: -.5\n', { a: 1e5, b: 0.0015, c: -0.5 }],
  ['leading zeros are decimal, 0o is octal', 'a: 010\nb: 0o10\nc: 0x10\n', { a: 10, b: 8, c: 16 }],
  ['separators make text', 'a: 1_000\nb: 12:30\n', { a: '1_000', b: '12:30' }],
  ['dates are text', 'a: 2026-03-01\n', { a: '2026-03-01' }],
  ['null', 'a: ~\nb:\nc: null\n', { a: null, b: null, c: null }],
  ['tabs in JSON', '{\n\t"a": [1,\n\t2]\n}', { a: [1, 2] }],
  ['alias', 'a: &x {b: 1}\nc: *x\n', { a: { b: 1 }, c: { b: 1 } }],
  ['names as written', '1.50: a\n010: b\n', { '1.50': 'a', '010': 'b' }],
  [
    'exact seed',
    'config: {monte_carlo: {seed: 9223372036854775807}}',
    { config: { monte_carlo: { seed: 9223372036854775807n } } },
  ],
  ['other integers are doubles', 'a: 9007199254740993\n', { a: 9007199254740992 }],
];

describe('cli/study/study-file', () => {
  for (const [name, text, expected] of REFUSED) {
    it(`rejects ${name}`, () => {
      const { faults } = readStudyText(text);
      expect(faults.map((fault) => `${fault.line}:${fault.column} ${fault.detail}`)).to.deep.equal(expected);
    });
  }
  for (const [name, text, expected] of READ) {
    it(`reads ${name}`, () => {
      const { value, faults } = readStudyText(text);
      expect(faults).to.deep.equal([]);
      expect(value).to.deep.equal(expected);
    });
  }

  it('treats __proto__ as a name', () => {
    const value = readStudyText('__proto__: {x: 1}\n').value as object;
    expect(Object.keys(value)).to.deep.equal(['__proto__']);
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
  });

  it('rejects multiplying aliases', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 10; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    expect(readStudyText(lines.join('\n')).faults.map((fault) => fault.detail)).to.deep.equal([
      'holds more than 500000 values once its aliases are followed',
    ]);
  });
});

const STUDY = `name: A
config:
  simulation: { name: s, version: '1', duration_minutes: 1 }
  monte_carlo:
    runs: 10
    sampling_method: monte_carlo
    seed: 1
  dispersions:
    mass: { distribution: { type: normal, mean: 1, std_dev: 2 }, units: kg }
  compute:
    container: { image: x, cpu_request: 100m, memory_request: 1Gi }
    max_parallel_jobs: 4
    job_timeout_seconds: 60
  early_termination: { enabled: true, check_frequency_hz: 10, conditions: [] }
  telemetry:
    sampling_rate_hz: 1
    variables: [a]
    storage: { s3_bucket: b, s3_prefix: p, compression: none }
    buffer_flush_interval_seconds: 1
`;

/** A change to the study above -> `line:column pointer` of each fault, and a word its text must have. */
const CHANGES: [string, string, string[], RegExp][] = [
  ['name: A', 'nmae: A', ['1:1 /nmae'], /did you mean "name"/],
  ["version: '1'", 'version: 1.10', ['3:35 /config/simulation/version'], /put it in quotes: "1.10"/],
  ['enabled: true', 'enabled: on', ['14:33 /config/early_termination/enabled'], /reads on as text: write true/],
  ['runs: 10', 'runs: 1_000', ['5:11 /config/monte_carlo/runs'], /digits only/],
  ['runs: 10', 'runs: -1', ['5:11 /config/monte_carlo/runs'], /at least 0/],
  ['    runs: 10\n', '', ['4:3 /config/monte_carlo/runs'], /required/],
  ['    max_parallel_jobs: 4', '    max_paralel_jobs: 4', ['12:5 /config/compute/max_paralel_jobs'], /did you mean/],
  ['type: normal', 'type: normall', ['9:35 /config/dispersions/mass/distribution/type'], /"normal"/],
  ['std_dev: 2', 'std_dev: -2', ['9:61 /config/dispersions/mass/distribution/std_dev'], />= 0/],
  ['mean: 1', 'mean: .inf', ['9:49 /config/dispersions/mass/distribution/mean'], /finite/],
  ['seed: 1', 'seed: 9223372036854775808', ['7:11 /config/monte_carlo/seed'], /9223372036854775807/],
  ['cpu_request: 100m', 'cpu_request: 100x', ['11:41 /config/compute/container/cpu_request'], /suffix/],
  ['variables: [a]', 'variables: [a, 7]', ['17:20 /config/telemetry/variables/1'], /put it in quotes: "7"/],
];

describe('cli/study/study-defaults', () => {
  const FIRST = `config:
  simulation: { name: throw }
  monte_carlo: { runs: 10 }
  dispersions: { mass: { distribution: { type: normal, mean: 1, std_dev: 2 } } }
`;
  const taken = (text: string): string[] => checkStudyText(text).defaults.map(({ member }) => member);

  it('completes a study that says only what is its own, and lists every default', () => {
    const { text, faults, defaults } = checkStudyText(FIRST);
    expect(faults).to.deep.equal([]);
    expect(text.value).to.deep.equal({
      name: 'throw',
      config: {
        simulation: { name: 'throw', version: '1', duration_minutes: 1 },
        monte_carlo: { runs: 10, sampling_method: 'latin_hypercube' },
        dispersions: { mass: { distribution: { type: 'normal', mean: 1, std_dev: 2 }, units: '' } },
        compute: {
          container: { image: '', cpu_request: '1', memory_request: '256Mi' },
          max_parallel_jobs: 0,
          job_timeout_seconds: 0,
        },
        early_termination: { enabled: false, check_frequency_hz: 10, conditions: [] },
        telemetry: {
          sampling_rate_hz: 0,
          variables: [],
          storage: { s3_bucket: '', s3_prefix: '', compression: 'snappy' },
          buffer_flush_interval_seconds: 5,
        },
      },
    });
    for (const { member, meaning } of defaults) expect(meaning, member).to.not.equal('');
    expect(defaults.map(({ member }) => member)).to.include.members([
      'name',
      'config.monte_carlo.sampling_method',
      'config.compute.container.cpu_request',
      'config.telemetry.storage.compression',
      'config.dispersions.*.units',
    ]);
  });

  it('changes no study that says everything, and no member that is there', () => {
    expect(taken(STUDY)).to.deep.equal([]);
    const limited = `${FIRST}  early_termination: { conditions: [{ variable: a, condition: '> 1', description: '' }] }\n`;
    const { text, faults } = checkStudyText(limited);
    expect(faults).to.deep.equal([]);
    expect((text.value as { config: { early_termination: object } }).config.early_termination).to.include({
      enabled: true,
    });
    expect(taken(`${FIRST}  compute: null\n`).filter((it) => it.startsWith('config.compute'))).to.deep.equal([]);
  });

  for (const [name, method] of Object.entries(METHOD_NAMES))
    it(`reads ${name} as ${method}: the same study, with the same hash`, () => {
      const written = (it: string): BatchSubmission =>
        checkStudyText(STUDY.replace('monte_carlo\n    seed', `${it}\n    seed`)).text.value as BatchSubmission;
      expect(written(name).config.monte_carlo.sampling_method).to.equal(method);
      expect(written(name)).to.deep.equal(written(method));
      expect(configHash(written(name).config)).to.equal(configHash(written(method).config));
    });

  it('knows the names of methods that Python has, and no others', () => {
    const python = readFileSync(join(packageRoot, 'clients/python/simbatch/study/build.py'), 'utf8');
    const members = [...(/_METHODS = \{([^}]*)\}/.exec(python)?.[1] ?? '').matchAll(/"(\w+)": "(\w+)"/g)];
    const names = members.flatMap(([, name, method]) =>
      name === method || name === 'rare_event' ? [] : [[name, method] as const],
    );
    expect(Object.fromEntries(names)).to.deep.equal(METHOD_NAMES);
    expect(checkStudyText(STUDY.replace('monte_carlo\n    seed', 'hypercube\n    seed')).faults).to.have.length(1);
    expect(checkStudyText(STUDY.replace('monte_carlo\n    seed', 'toString\n    seed')).faults).to.have.length(1);
  });

  it('takes no default in place of a fault', () => {
    for (const text of ['name: a', 'config: 7', '[]', 'config: { dispersions: 3 }', 'config: { simulation: [] }'])
      expect(checkStudyText(text).faults, text).to.not.deep.equal([]);
  });
});

describe('cli/study/check-study', () => {
  it('finds no fault in a valid study', () => {
    expect(checkStudyText(STUDY).faults).to.deep.equal([]);
  });

  for (const [from, to, places, words] of CHANGES) {
    it(`${from.trim()} -> ${to === '' ? '(nothing)' : to}`, () => {
      expect(STUDY).to.include(from);
      const { faults } = checkStudyText(STUDY.replace(from, to));
      expect(faults.map((fault) => `${fault.line}:${fault.column} ${fault.pointer}`)).to.deep.equal(places);
      expect(faults.map((fault) => fault.detail).join(' ')).to.match(words);
    });
  }

  it('applies --runs-override before validation', () => {
    expect(checkStudyText(STUDY, 3).text.value).to.have.property('runs_override', 3);
    expect(checkStudyText('7', 3).faults).to.have.length(1);
  });

  it('lists the faults of any text and never throws', () => {
    const pieces = fc.constantFrom(...'abc 0123456789.:-?,[]{}#&*!|>%@`\'"\\\n\t\u0000\ud800é'.split(''));
    const texts = fc.oneof(fc.string({ unit: pieces, maxLength: 60 }), fc.string({ unit: 'binary' }), fc.json());
    fc.assert(
      fc.property(texts, (text) => {
        const { faults } = checkStudyText(text);
        expect(faults).not.to.deep.equal([]);
      }),
      { numRuns: times(400) },
    );
  });
});

describe('cli/study/study-sentences', () => {
  /** The sentences about a study of rare events whose requirement asks for this probability of passing. */
  function rareSentences(probability: number, studies: number, population = 1_000): string {
    const submission = rareStudy({ studies });
    submission.config.adaptive = { algorithm: 'rare_event', studies, population };
    submission.requirements![0]!.probability = probability;
    return checkedLines('a.yaml', { submission, defaults: [], named: String }, 20_000).join('\n');
  }

  it('says what a study of rare events takes, against plain Monte Carlo', () => {
    const said = rareSentences(0.999, 2);
    expect(said).to.match(
      /probability of 0\.001 that the requirement allows: about 6500 runs in each of 2 studies .* within about 5 %; plain Monte Carlo would need 399600\./,
    );
    expect(said).to.match(/2 with different seeds are submitted, each with up to \d+ runs, and answered together/);
    expect(rareSentences(0.999, 1)).to.match(/one study cannot show that it found all: leave out `studies: 1`/);
  });

  it('advises plain Monte Carlo where violations are not rare, or where it takes fewer runs than all studies', () => {
    const advises = (...given: Parameters<typeof rareSentences>): boolean =>
      rareSentences(...given).includes('Plain Monte Carlo is cheaper here: use sampling_method: monte_carlo.');
    for (const probability of [0.5, 0.9, 0.989]) expect(advises(probability, 1), String(probability)).to.equal(true);
    for (const probability of [0.991, 0.999]) expect(advises(probability, 2), String(probability)).to.equal(false);
    expect(advises(0.992, 1, 10_000), '49,600 plain runs are more than 33,500').to.equal(false);
    expect(advises(0.992, 2, 10_000), '49,600 plain runs are fewer than twice 33,500').to.equal(true);
  });
});
