/** The report of a study: complete, escaped, without scripts, and open about what it does not know. */
import { expect } from 'chai';
import type { BatchSubmission } from '../../src/contract/types.ts';
import { collectReport, type ReportData, type ReportSource } from '../../src/report/collect.ts';
import { ticks } from '../../src/report/plots.ts';
import { reportHtml } from '../../src/report/report.ts';
import { study } from '../support/studies.ts';

const ORIGIN = { generatedAt: '2026-11-22T12:00:00.000Z', endpoint: 'http://lab:7070', version: '1.2.3' };
const ID = '01a1fd51-c34f-8cf4-b177-584200000000';
const HOSTILE = '<script>alert("x")</script> & \u202eco';

const header = {
  batch_id: ID,
  of: 10,
  n_used: 7,
  excluded: { terminated: 1, crashed: 2 },
  prefix: { length: 10, of: 10 },
  warnings: [{ code: 'runs-left-out', message: 'statistics of 7 of 10 runs: 3 left out' }],
};

const submission = (): BatchSubmission => ({
  ...study({ runs: 10, name: HOSTILE }),
  requirements: [{ name: 'lands', output: 'miss_m', condition: '<= 50', probability: 0.9 }],
  outputs: { miss_m: { units: 'm', description: 'distance from the target' } },
});

const quantiles = [0.05, 0.5, 0.95].map((p) => ({
  p,
  value: 10 * p,
  interval: [null, null] as [null, null],
  bounds: p === 0.95 ? ([9.5, null] as [number, null]) : null,
}));

const output = {
  name: 'miss_m',
  units: 'm',
  count: 7,
  missing: 2,
  mean: 4.5,
  mean_interval: [4, 5] as [number, number],
  mean_method: 't' as const,
  skewness: 0,
  mean_reason: null,
  sd: 1,
  min: 0.5,
  max: 80,
  quantiles,
  tolerance: { content: 0.9, confidence: 0.95, lower: null, upper: null, two_sided: null, runs_needed: 29 },
};

const verdict = {
  name: 'lands',
  output: 'miss_m',
  condition: '<= 50',
  probability: 0.9,
  confidence: 0.95,
  terminated: 'fail' as const,
  look: 'once' as const,
  passed: 6,
  failed: 1,
  unknown: 3,
  judged: 10,
  estimate: 0.857,
  wilson: null,
  lower: 0.3,
  upper: 0.99,
  verdict: 'not-shown' as const,
  settled: null,
  settled_at_run_id: null,
  log_e_met: null,
  log_e_violated: null,
  more_clean_runs: 40,
  needed_clean_runs: null,
  failures_left: null,
  warnings: [{ code: 'telemetry-lost', message: 'samples of 2 runs were lost' }],
  sentence: 'not shown: 6 of 10 runs passed',
};

const histogram = {
  name: 'miss_m',
  kind: 'output' as const,
  units: 'm',
  count: 7,
  from: 0,
  to: 20,
  counts: [3, 2, 1, 0],
  failed: [0, 1, 0, 0],
  below: 0,
  above: 1,
  min: 0.5,
  max: 80,
};

function source(changes: Partial<ReportSource> = {}, described = submission()): ReportSource {
  const counts = { Pending: 0, Claimed: 0, Running: 0, Completed: 7, Failed: 2, Timeout: 0, Cancelled: 1 };
  const batch = {
    id: ID,
    name: described.name,
    status: 'Completed' as const,
    total_jobs: 10,
    completed_jobs: 7,
    failed_jobs: 2,
    config_hash: 'abc123',
    created_at: '2026-11-22T10:00:00.000Z',
    started_at: '2026-11-22T10:00:00.000Z',
    ended_at: '2026-11-22T10:03:05.000Z',
  };
  const failure = {
    id: 'f',
    class: 'crashed' as const,
    pattern: `boom ${HOSTILE}`,
    count: 2,
    share: 1,
    example_run_id: 4,
    run_ids: [4, 5],
  };
  const known: Partial<ReportSource> = {
    answer: async () => ({ level: 'not_ok', sentence: `Not OK: ${HOSTILE}`, reasons: [], next: [] }),
    status: async () => ({ batch, jobs_by_status: counts, throughput_jobs_per_minute: 0 }),
    submission: async () => described,
    history: async () => ({ events: [{ at: '2026-11-22T10:00:00.000Z', type: 'submitted' }] }) as never,
    codeVersions: async () => [
      {
        digest: '9f3c12ab34cd'.padEnd(64, '0'),
        kind: 'entrypoint',
        runs: 9,
        first_run_id: 0,
        runners: ['r1'],
        note: HOSTILE,
      },
    ],
    findings: async () => [
      {
        code: 'condition-never-seen',
        severity: 'doubtful',
        message: 'the limit on "q" was never checked',
        remedy: 'send q',
      },
    ],
    runners: async () => ({ runners: [] }) as never,
    summary: async () => ({
      ...header,
      sentence: 's',
      outputs: [output],
      failures: [failure],
      requirements: [verdict],
    }),
    verdicts: async () => ({ ...header, requirements: [{ ...verdict, course: [] }] }),
    distributions: async () => ({ ...header, variables: [histogram] }),
    attribution: async () => Promise.reject(new Error('too few failures')),
    sensitivity: async () =>
      ({ ...header, output: 'miss_m', parameters: [], srrc_r2: null, sentence: 'depends on mass' }) as never,
    convergence: async () => ({
      ...header,
      points: [
        { n: 2, value: 4, low: null, high: null },
        { n: 5, value: 4.4, low: 4, high: 5 },
        { n: 7, value: 4.5, low: 4.1, high: 4.9 },
      ],
      bounds: null,
      runs_for_half_width: null,
    }),
    worst: async () => ({
      ...header,
      output: 'miss_m',
      direction: 'largest',
      runs: [{ run_id: 3, value: 80, replay: 'r' }],
    }),
  };
  return { ...known, ...changes } as ReportSource;
}

const page = async (changes?: Partial<ReportSource>, of?: BatchSubmission): Promise<string> =>
  reportHtml(await collectReport(source(changes, of)), ORIGIN);
const words = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

describe('report', () => {
  it('holds verdicts, configuration, seed, plots, failures, findings and origin', async () => {
    const described = submission();
    described.config.monte_carlo.seed = 9007199254740993n;
    const text = words(await page({}, described));
    for (const part of [
      'lands : not shown: 6 of 10 runs passed',
      '&gt;= 90 % at 95 %',
      '30 % to 99 %',
      '9007199254740993',
      'took 3m 05s',
      'statistics 7 of 10; left out: 1 terminated, 2 crashed',
      'distance from the target',
      'boom',
      `simbatch run ${ID.slice(0, 13)}/4`,
      'depends on mass',
      'Runs with the largest values of miss_m: 3 (80)',
      'configuration hash abc123',
      '9f3c12ab34cd entrypoint - 9',
      'simbatch 1.2.3',
      'http://lab:7070',
      'doubtful the limit on &quot;q&quot; was never checked send q',
    ])
      expect(text).to.include(part);
  });

  it('says everything that limits its figures, once', async () => {
    const text = await page();
    const notice = words(text.slice(text.indexOf('<aside'), text.indexOf('</aside>')));
    for (const part of [
      'statistics of 7 of 10 runs: 3 left out',
      'samples of 2 runs were lost',
      'the limit on &quot;q&quot; was never checked',
      'completed runs without a value: miss_m 2',
      'this part of the report is missing: causes of failures: too few failures',
    ])
      expect(notice.split(part), part).to.have.length(2);
    const open = await page({
      status: async () => {
        const status = await source().status();
        return { ...status, batch: { ...status.batch, status: 'Running' } };
      },
    });
    expect(open).to.include('The study is Running: every figure is provisional.');
    const nothing = { ...submission(), requirements: [] };
    nothing.config.early_termination = {
      enabled: true,
      check_frequency_hz: 1,
      shadow: true,
      conditions: [{ variable: 'q', condition: '> 1', description: '' }],
    };
    const unjudged = await page({}, nothing);
    expect(unjudged).to.include('the study declares no requirement: nothing is judged').and.include('are in shadow');
  });

  it('escapes what it shows, has no script, and loads nothing', async () => {
    const text = await page();
    expect(text).to.not.match(/<script|\son\w+=|<link|<img|<iframe|url\(|@import|\u202e/i);
    expect(text).to.match(
      /http-equiv="Content-Security-Policy"\s+content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"/,
    );
    expect(text).to.include('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp;');
    expect([...text.matchAll(/(?:src|href)="/g)]).to.have.length(0);
  });

  it('marks limits and quantiles in plots, and names what lies outside the axis', async () => {
    const text = words(await page());
    expect(text).to.include(
      'miss_m [m]: runs in each bin, 7 with a value; 1 above the axis, the largest 80; limit &lt;= 50 is outside the axis',
    );
    const wide = { ...histogram, to: 100, above: 0 };
    const drawn = await page({ distributions: async () => ({ ...header, variables: [wide] }) });
    expect(drawn).to.match(/<line\s+class="limit"/);
    expect(drawn.match(/<rect\s+class="bar"/g)).to.have.length(3);
    expect(drawn.match(/<rect\s+class="failed"/g)).to.have.length(1);
    expect(words(drawn)).to.include(
      'running mean of miss_m [m] over the first n runs: 4.5 after 7, 95 % interval 4.1 to 4.9',
    );
  });

  it('is whole where answers are missing, and says which', async () => {
    const refuse = async (): Promise<never> => Promise.reject(new Error('no answer'));
    const refused = { summary: refuse, verdicts: refuse, distributions: refuse, attribution: refuse };
    const data: ReportData = await collectReport(source({ ...refused, runners: refuse, codeVersions: refuse }));
    expect(data.absent.map((it) => it.split(':')[0])).to.have.members([
      'code versions',
      'runners',
      'statistics',
      'verdicts',
      'distributions',
      'causes of failures',
    ]);
    const text = reportHtml(data, ORIGIN);
    expect(text)
      .to.include('this part of the report is missing: verdicts: no answer')
      .and.include('<h2>Configuration</h2>');
  });

  const axes: [from: number, to: number, expected: number[]][] = [
    [0, 10, [0, 2, 4, 6, 8, 10]],
    [-1, 1, [-1, -0.5, 0, 0.5, 1]],
    [98285, 125760, [100000, 110000, 120000]],
    [0.1, 0.3, [0.1, 0.15, 0.2, 0.25, 0.3]],
    [5, 5, [5]],
  ];
  for (const [from, to, expected] of axes)
    it(`has round values on an axis from ${from} to ${to}`, () => {
      expect(ticks(from, to, 5)).to.deep.equal(expected);
    });
});
