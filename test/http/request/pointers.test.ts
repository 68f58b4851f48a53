import { expect } from 'chai';
import { submissionFaults } from '../../../src/domain/study/submission.ts';
import type { Fault } from '../../../src/contract/types.ts';
import { studyFaults } from '../../../src/http/request/study-faults.ts';
import { fakeCoordinator, submission } from '../../support/fake-api.ts';
import { listen, post, type TestServer } from '../../support/http.ts';

const FREE = 'dispersions';

/** The example study with the member at `path` replaced, or removed where `value` is undefined. */
function withMember(path: string, value: unknown): any {
  const study: any = structuredClone(submission);
  const parts = path.split('/').slice(1);
  const last = parts.pop()!;
  let at = study;
  for (const part of parts) at = at[part];
  if (value === undefined) delete at[last];
  else at[last] = value;
  return study;
}

const distribution = (members: object) => ({ d: { distribution: members, units: '' } });
const LEVEL = '/config/scenarios/site/andoya/latitude';
const level = (value: unknown) => ({ site: { andoya: { latitude: value }, esrange: {} } });
const condition = (text: unknown) => [{ variable: 'v', condition: text, description: '' }];

describe('http/request/validate: the faults of a study', () => {
  const normal = { distribution: { type: 'normal', mean: 1, std_dev: 1 }, units: '' };
  // the wrong member, its value, the pointer of the fault, its text
  const table: [string, unknown, string, RegExp][] = [
    ['/name', undefined, '/name', /^is required$/],
    ['/name', '', '/name', /empty/],
    ['/name', 'x'.repeat(201), '/name', /201 characters long; the limit is 200/],
    ['/name', 3, '/name', /is 3; it must be a string/],
    ['/nmae', 'x', '/nmae', /did you mean "name"/],
    ['/config', undefined, '/config', /required/],
    ['/runs_override', -1, '/runs_override', /at least 0/],
    ['/runs_override', 1.5, '/runs_override', /is 1.5; it must be an integer or null/],
    ['/config/simulation/duration_minutes', 2 ** 31, '/config/simulation/duration_minutes', /at most 2147483647/],
    ['/config/monte_carlo/runs', '3', '/config/monte_carlo/runs', /is "3"; it must be an integer/],
    ['/config/monte_carlo/sampling_method', 'lhs', '/config/monte_carlo/sampling_method', /one of latin_hypercube/],
    [
      '/config/monte_carlo/sampling_method',
      'montecarlo',
      '/config/monte_carlo/sampling_method',
      /did you mean "monte_carlo"/,
    ],
    ['/config/monte_carlo/seed', -1, '/config/monte_carlo/seed', /0 to 9223372036854775807/],
    ['/config/monte_carlo/seed', 0.5, '/config/monte_carlo/seed', /integer/],
    ['/config/monte_carlo/seed', 2n ** 63n, '/config/monte_carlo/seed', /9223372036854775808/],
    [`/config/${FREE}`, [], `/config/${FREE}`, /is an array; it must be an object/],
    ['/config/scenarios', level('69'), LEVEL, /^is "69"; it must be a finite number or an object$/],
    ['/config/scenarios', level({ type: 'normal', mean: 1 }), `${LEVEL}/std_dev`, /^is required$/],
    [
      '/config/scenarios',
      level({ type: 'fixed', value: 'x' }),
      `${LEVEL}/value`,
      /^is "x"; it must be a finite number$/,
    ],
    [`/config/${FREE}`, { '': normal }, `/config/${FREE}/`, /empty/],
    [`/config/${FREE}`, { 'a/b~c': 1 }, `/config/${FREE}/a~1b~0c`, /is 1; it must be an object/],
    [`/config/${FREE}`, JSON.parse('{"__proto__": 1}'), `/config/${FREE}/__proto__`, /must be an object/],
    [
      `/config/${FREE}`,
      distribution({}),
      `/config/${FREE}/d/distribution/type`,
      /normal, uniform, exponential, gamma, beta, fixed/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'poisson' }),
      `/config/${FREE}/d/distribution/type`,
      /"poisson"; it must be one of normal/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'unifrom' }),
      `/config/${FREE}/d/distribution/type`,
      /did you mean "uniform"/,
    ],
    [`/config/${FREE}`, distribution({ type: 'fixed' }), `/config/${FREE}/d/distribution/value`, /required/],
    [
      `/config/${FREE}`,
      distribution({ type: 'fixed', value: Infinity }),
      `/config/${FREE}/d/distribution/value`,
      /is Infinity; it must be a finite number/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'fixed', value: null }),
      `/config/${FREE}/d/distribution/value`,
      /is null; it must be a finite number/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'normal', mean: 1, std_dev: -1 }),
      `/config/${FREE}/d/distribution/std_dev`,
      />= 0/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'gamma', shape: 0, scale: 1 }),
      `/config/${FREE}/d/distribution/shape`,
      /> 0/,
    ],
    [`/config/${FREE}`, { '\ud800': normal }, `/config/${FREE}/\ud800`, /surrogate/],
    [
      `/config/${FREE}`,
      distribution({ type: 'uniform', min: 2, max: 1 }),
      `/config/${FREE}/d/distribution/min`,
      /<= max/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'gamma', shape: 1, scale: 1e308 }),
      `/config/${FREE}/d/distribution`,
      /overflow/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'normal', mean: 1, std_dev: 1, lower: 'x' }),
      `/config/${FREE}/d/distribution/lower`,
      /is "x"; it must be a finite number or null/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'normal', mean: 1, std_dev: 1, lower: 3, upper: 2 }),
      `/config/${FREE}/d/distribution/lower`,
      /must be < upper \(2\), not 3/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'discrete', values: [{ value: 1, weight: 0 }] }),
      `/config/${FREE}/d/distribution/values/0/weight`,
      /> 0/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'table', values: [1, 2] }),
      `/config/${FREE}/d/distribution/values`,
      /2 numbers for \d+ runs/,
    ],
    [
      `/config/${FREE}`,
      distribution({ type: 'empirical', file: 'cases.csv', data: [1, 2] }),
      `/config/${FREE}/d/distribution/file`,
      /not known/,
    ],
    ['/config/monte_carlo/run_ids', '9-3', '/config/monte_carlo/run_ids', /"9-3", which ends before it begins/],
    ['/config/monte_carlo/run_ids', '', '/config/monte_carlo/run_ids', /selects no run/],
    ['/config/monte_carlo/run_ids', '2000000', '/config/monte_carlo/run_ids', /but the design has \d+ runs/],
    ['/config/monte_carlo/run_ids', [1], '/config/monte_carlo/run_ids', /must be a string or null/],
    ['/config/monte_carlo/replicate', -1, '/config/monte_carlo/replicate', /at least 0/],
    ['/config/correlations', [{ parameters: ['a'], rank: 0 }], '/config/correlations/0/parameters', /2/],
    ['/config/correlations', [{ parameters: ['a', 'b'] }], '/config/correlations/0/rank', /required/],
    ['/config/compute/container/cpu_request', '1core', '/config/compute/container/cpu_request', /unknown suffix/],
    ['/config/compute/container/memory_limit', '1MiB', '/config/compute/container/memory_limit', /suffix/],
    [
      '/config/compute/container/memory_limit',
      '1Mi',
      '/config/compute/container/memory_limit',
      /less than `memory_request`/,
    ],
    ['/config/compute/container/environment', { A: 1 }, '/config/compute/container/environment/A', /must be a string/],
    [
      '/config/compute/container/environment',
      { PATH_TO_IT: 'x', SVC_OUTPUT_DIR: '/tmp' },
      '/config/compute/container/environment/SVC_OUTPUT_DIR',
      /reserved for the runner/,
    ],
    ['/config/compute/kubernetes', 'x', '/config/compute/kubernetes', /must be an object/],
    ['/config/compute/max_retries', -1, '/config/compute/max_retries', /at least 0/],
    [
      '/config/early_termination/conditions',
      condition('=< 3'),
      '/config/early_termination/conditions/0/condition',
      /"<="/,
    ],
    [
      '/config/early_termination/conditions',
      condition('< nan'),
      '/config/early_termination/conditions/0/condition',
      /finite/,
    ],
    [
      '/config/early_termination/conditions',
      condition(3),
      '/config/early_termination/conditions/0/condition',
      /must be a string/,
    ],
    ['/config/early_termination/check_frequency_hz', -1, '/config/early_termination/check_frequency_hz', /at least 0/],
    ['/config/telemetry/sampling_rate_hz', Infinity, '/config/telemetry/sampling_rate_hz', /finite/],
    ['/config/telemetry/variables', ['a', 1], '/config/telemetry/variables/1', /must be a string/],
    [
      '/config/telemetry/storage/compression',
      'zstd',
      '/config/telemetry/storage/compression',
      /none, gzip, snappy, lz4/,
    ],
    ['/config/telemetry/storage/compression', 'lz5', '/config/telemetry/storage/compression', /did you mean "lz4"/],
  ];
  for (const [path, value, pointer, detail] of table) {
    it(`${path} = ${shownValue(value)} -> ${pointer}`, () => {
      const faults = studyFaults(withMember(path, value));
      expect(faults.map((fault: Fault) => fault.pointer)).to.deep.equal([pointer]);
      expect(faults[0]!.detail).to.match(detail);
    });
  }

  // Unusual values that are allowed.
  const accepted: [string, unknown][] = [
    ['/config/monte_carlo/seed', null],
    ['/config/monte_carlo/seed', undefined],
    ['/config/monte_carlo/seed', 2n ** 63n - 1n],
    ['/config/monte_carlo/runs', 0],
    ['/runs_override', null],
    ['/runs_override', 0],
    [`/config/${FREE}`, {}],
    [`/config/${FREE}`, JSON.parse(`{"__proto__": ${JSON.stringify(normal)}}`)],
    [`/config/${FREE}`, distribution({ type: 'normal', mean: 1, std_dev: 0 })],
    ['/config/compute/kubernetes', null],
    ['/config/compute/baremetal', {}],
    ['/config/compute/max_retries', 0],
    ['/config/compute/container/environment', null],
  ];
  for (const [path, value] of accepted) {
    it(`${path} = ${shownValue(value)} is accepted`, () => {
      expect(studyFaults(withMember(path, value))).to.deep.equal([]);
    });
  }

  it('are skipped where the shape is wrong', () => {
    for (const odd of [null, 1, [], {}, { config: null }, { config: { compute: [], early_termination: 'x' } }]) {
      expect(submissionFaults(odd)).to.deep.equal([]);
    }
  });

  it('are limited to a hundred, with the total number', () => {
    const study = withMember('/config/telemetry/variables', Array(500).fill(1));
    const faults = studyFaults(study);
    expect(faults).to.have.length(100);
    expect(faults.at(-1)!.detail).to.equal('and 401 more faults');
  });
});

function shownValue(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}

describe('http/request: a refused request', () => {
  let server: TestServer;
  const coordinator = fakeCoordinator();
  before(async () => {
    server = await listen({ coordinator });
  });
  after(() => server.close(0));

  it('lists all faults of shape and of meaning, and does not reach the coordinator', async () => {
    const study = withMember('/name', undefined);
    study.config.monte_carlo.runs = -1;
    study.config.early_termination.conditions = [{ variable: 'v', condition: 'low', description: '' }];
    const response = await post(`${server.url}/jobs`, study);
    const problem: any = await response.json();
    expect(response.status).to.equal(422);
    expect(problem.errors.map((fault: Fault) => fault.pointer)).to.deep.equal([
      '/name',
      '/config/monte_carlo/runs',
      '/config/early_termination/conditions/0/condition',
    ]);
    expect(problem.detail).to.match(/3 faults; the first: \/name is required/);
    expect(coordinator.calls).to.deep.equal([]);
  });

  it('is caused by a number too large for a double', async () => {
    const text = JSON.stringify(submission).replace('"mean":10', '"mean":1e999');
    const problem: any = await (await post(`${server.url}/jobs`, text)).json();
    expect(problem.errors).to.deep.equal([
      { pointer: '/config/dispersions/mass/distribution/mean', detail: 'is Infinity; it must be a finite number' },
    ]);
  });

  it('keeps every digit of a seed in both directions', async () => {
    const text = JSON.stringify(submission).replace('"seed":7', '"seed":9223372036854775807');
    expect((await post(`${server.url}/jobs`, text)).status).to.equal(200);
    const [given] = coordinator.calls.at(-1)!.args as [typeof submission];
    expect(given.config.monte_carlo.seed).to.equal(9223372036854775807n);
    const other = await listen({ coordinator: fakeCoordinator({ submission: async () => given }) });
    expect(
      await (await fetch(`${other.url}/batches/0195a1b2-c3d4-8e5f-a012-345600000000/submission`)).text(),
    ).to.contain('"seed":9223372036854775807}');
    await other.close(0);
  });
});
