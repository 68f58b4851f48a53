/** The telemetry of a running run on its page, from a real coordinator and a real runner. */
import { expect } from 'chai';
import { isNear } from '../../../src/analysis/band/limits.ts';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';

import type { LiveTelemetry, LiveVariable } from '../../../src/contract/types.ts';
import { packageRoot } from '../../../src/base/package.ts';
import type { Page } from 'playwright-core';
import { MODES } from '../../support/runner-modes.ts';
import { study } from '../../support/studies.ts';
import { runnerSuite } from '../../support/web-suite.ts';

describe('web: live telemetry of a running run', function () {
  const suite = runnerSuite({ isFresh: true });

  /** The page of a run that sends telemetry until it is cancelled, and the samples that its plots name. */
  async function open(runnerArgs: readonly string[], config: object) {
    suite.site.start(suite.web.url, runnerArgs);
    const submission = study({ runs: 1, config });
    submission.config.compute.container.environment = {
      BEHAVE: 'dive',
      PROTO: join(packageRoot, 'clients/telemetry.proto'),
    };
    const job = await suite.until(submission, 'Running');
    return { client: suite.client, job, ...(await suite.open(`jobs/${job}`)) };
  }
  const samplesOn = async (page: Page): Promise<number> => {
    const text = await page
      .getByText(/samples, the latest/)
      .first()
      .textContent();
    // A large number has narrow spaces.
    return Number(/of ([\d\s]+) samples/.exec(text ?? '')?.[1]?.replaceAll(/\s/g, ''));
  };
  const LIVE = {
    telemetry: { live: true },
    early_termination: {
      enabled: true,
      check_frequency_hz: 100,
      conditions: [
        { variable: 'altitude', condition: '< 50', description: 'low' },
        { variable: 'absent', condition: '> 1', description: 'never sent' },
      ],
      shadow: true,
    },
  };

  for (const mode of MODES.filter(({ name }) => name === 'cold' || name === 'forked by a warm Python')) {
    it(`grows, with the limit of its condition, until the run ends (${mode.name})`, async function () {
      if (mode.missing !== undefined) return this.skip();
      const { page, client, job, errors, foreign } = await open(['--serve-files', ...mode.args], LIVE);
      const panel = page.locator('section.panel', { hasText: 'Live telemetry' });
      await panel.getByRole('img', { name: 'altitude over the time of the run, in seconds, live' }).waitFor();
      await panel.getByText('limit < 50').waitFor();
      const first = await samplesOn(page);
      for (let now = first; now < first + 150;) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        now = await samplesOn(page);
      }
      await panel.getByText(/down-sampled live view, [\d\s]+ of [\d\s]+ values/).waitFor();
      await panel.getByText('No number of absent has come: its condition > 1 has judged nothing.').waitFor();
      await panel.getByText(/altitude < 50 was met at telemetry time 0.51 s by 49; conditions in shadow/).waitFor();
      await client.cancelJob(job);
      await panel.getByText('The run is no longer running: this is the last view of it.').waitFor();
      let asked = 0;
      page.on('request', (request) => (asked += Number(request.url().includes('/telemetry/live'))));
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      // The run may end while an answer is on its way: a refusal of that moment is not an error of the page.
      expect([asked, errors.filter((it) => !it.includes('409')), foreign]).to.deep.equal([0, [], []]);
    });
  }

  it('gives way to the telemetry file of a run that its condition ends', async () => {
    const ending = { ...LIVE.early_termination, shadow: false };
    ending.conditions = [{ variable: 'altitude', condition: '< -300', description: 'deep' }];
    const { page, client, job } = await open(['--serve-files'], { ...LIVE, early_termination: ending });
    await page.getByText(/down-sampled live view/).waitFor();
    await page.getByRole('heading', { name: 'Telemetry', exact: true }).waitFor();
    expect((await client.job(job)).status).to.equal('Failed');
    expect(await page.getByText(/down-sampled live view/).count()).to.equal(0);
  });

  it('is not asked for while the page is hidden', async () => {
    const { page } = await open(['--serve-files'], LIVE);
    await page
      .getByText(/samples, the latest/)
      .first()
      .waitFor();
    const hide = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${String(isHidden)} });
         document.dispatchEvent(new Event('visibilitychange'));`,
      );
    await hide(true);
    // An answer that is on its way may still be drawn.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = await samplesOn(page);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await samplesOn(page)).to.equal(before);
    await hide(false);
    while ((await samplesOn(page)) === before) await new Promise((resolve) => setTimeout(resolve, 100));
  });

  it('says that the study does not keep it', async () => {
    const { page, errors } = await open(['--serve-files'], {});
    await page.getByText('The study does not keep it: submit it with live: true in telemetry.').waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('says that the runner serves no files', async () => {
    const { page } = await open([], LIVE);
    await page.getByText(/live telemetry of run .* cannot be read: runner "r1" does not serve files/).waitFor();
  });
});

interface Plots {
  startOf(variables: LiveVariable[]): number;
  livePlot(
    variable: LiveVariable,
    conditions: LiveTelemetry['conditions'],
    start: number,
  ): { times: number[]; series: { name: string; values: number[] }[]; notes: string[] };
  notesOf(view: LiveTelemetry): string[];
}

describe('web: plots of live telemetry', () => {
  let plots: Plots;
  const imported = async (path: string): Promise<unknown> =>
    tsImport(new URL(`../../../../web/src/${path}`, import.meta.url).href, import.meta.url);
  before(async () => {
    plots = (await imported('runs/live-plot.ts')) as Plots;
  });
  const H: LiveVariable = { name: 'h', samples: 9, not_finite: 0, reversals: 0, time_s: [10, 11], values: [5, 4] };

  it('draw the limits that are near, and name the others', () => {
    const conditions = [
      { variable: 'h', condition: '< 3', threshold: 3 },
      { variable: 'h', condition: '< -100', threshold: -100 },
      { variable: 'other', condition: '< 4', threshold: 4 },
    ];
    const { times, series, notes } = plots.livePlot(H, conditions, plots.startOf([H]));
    expect(times).to.deep.equal([0, 1]);
    expect(series.map(({ name, values }) => [name, ...values])).to.deep.equal([
      ['h', 5, 4],
      ['limit < 3', 3, 3],
    ]);
    expect(notes).to.deep.equal(['2 of 9 samples, the latest 4.', 'Too far to be drawn: < -100.']);
    for (const [values, threshold, near] of [
      [[], 0, false],
      [[0, 0], 1, true],
      [[300, 300], 1000, true],
      [[300, 301], 1000, false],
      [[1e308, -1e308], 0, true],
    ] as const) {
      expect(isNear([...values], threshold), values.join()).to.equal(near);
    }
  });

  it('name what is not drawn', () => {
    const odd = { ...H, name: 'constructor', samples: 3, not_finite: 3, reversals: 2, time_s: [], values: [] };
    expect(plots.livePlot(odd, [], 0).notes.join(' ')).to.equal(
      '0 of 3 samples. 3 are NaN or infinite and not drawn. Its time ran backwards 2 times; all is drawn in the order of time.',
    );
    expect(plots.livePlot({ ...H, reversals: 1 }, [], 0).notes[0]).to.equal('2 of 9 samples.');
    const view = {
      job_id: 'j',
      attempt: 1,
      runner_id: 'r',
      samples: 1,
      shadow: false,
      omitted: 2,
      lost: 3,
      refused: 4,
      variables: [odd],
      conditions: [{ variable: 'constructor', condition: '> 1', threshold: 1 }],
    };
    expect(plots.notesOf(view)).to.deep.equal([
      'No number of constructor has come: its condition > 1 has judged nothing.',
      '2 more variables came; the view has no place for them.',
      '3 samples were lost on their way to the runner.',
      '4 samples were refused by the runner.',
    ]);
  });
});
