/** Histories in a real browser: cards of a study, selected runs over them, two studies compared, a telephone. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { BatchSubmission, HistoryBand, Uuid } from '../../../src/contract/types.ts';
import { pointsOf } from '../../../src/domain/histories/points.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { requireClean } from '../../support/clean-page.ts';
import { descentStudy, type Outcome } from '../../support/web-server.ts';
import { addressOf } from '../../support/browser.ts';
import { webSuite } from '../../support/web-suite.ts';

const RUNS = 120;
const AT = { from: 0, to: 60, step: 0.5 };
const TIMES = [...pointsOf(AT)];
/** Where screenshots go, for people who look at the pages; none without it. */
const SHOTS = process.env['SCREENSHOTS'];

/** A load with a peak, an altitude that ends at touchdown, and a temperature that is sent in the middle alone. Run 17 is an outlier. */
function curvesOf(run: number, shift: number): Record<string, number[]> {
  const factor = 1 + ((run * 37) % RUNS) / (4 * RUNS) + shift;
  const end = 40 + ((run * 53) % RUNS) / 6;
  const extra = run === 17 ? 0.9 : ((run * 71) % RUNS) / (2 * RUNS);
  return {
    nz_g: TIMES.map((time) => 1 + extra + 4 * factor * Math.exp(-(((time - 22) / 7) ** 2))),
    altitude_m: TIMES.map((time) => (time > end ? Number.NaN : 2000 * factor * (1 - time / end))),
    skin_temp: TIMES.map((time) => (time < 10 || time > 45 ? Number.NaN : 300 + 40 * factor * Math.sin(time / 9))),
  };
}

function studyOf(name: string): BatchSubmission {
  const study = descentStudy(name, RUNS);
  study.config.monte_carlo.sampling_method = 'monte_carlo';
  study.config.histories = [
    { variable: 'nz_g', at: AT, units: 'g' },
    { variable: 'altitude_m', at: AT, units: 'm' },
    { name: 'skin_temp', variable: 'temperature', at: AT, units: 'K' },
  ];
  study.config.early_termination.conditions = [{ variable: 'nz_g', condition: '> 9', description: 'load' }];
  study.outputs = {};
  study.requirements = [];
  return study;
}

describe('web: histories', function () {
  let shift = 0;
  const suite = webSuite({
    id: 'lab-1',
    places: 40,
    runMs: 5,
    outcome({ job, extraction }): Outcome {
      const { run_id: run } = job.run_config;
      if (extraction === true && (run === 30 || run === 40))
        return { reason: 'files-gone', message: 'the folder is empty' };
      if (extraction === true) return { metadata: { late_g: run / 10 } };
      if (run === 9) return { reason: 'exit', message: 'no solution' };
      const histories = curvesOf(run, shift);
      return { metadata: { peak_g: Math.max(...histories['nz_g']!) }, histories };
    },
  });
  let first: Uuid;
  let second: Uuid;
  before(async () => {
    first = await suite.completed(studyOf('first version'));
    shift = 0.2;
    second = await suite.completed(studyOf('second version'));
  });

  const card = (page: Page, title: string): Locator =>
    page.locator('section.panel').filter({ has: page.getByRole('heading', { name: `History ${title}`, exact: true }) });
  const plot = (page: Page, title: string): Locator => card(page, title).getByRole('img');
  const bandOf = async (batch: Uuid, history: string): Promise<HistoryBand> =>
    (await (await fetch(`${suite.web.url}/batches/${batch}/band?history=${history}&wait=30`)).json()) as HistoryBand;
  /** The place of an element in the window, once it does not move: a plot is made anew when it has more lines. */
  async function settled(element: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
    let last = '';
    for (;;) {
      await element.scrollIntoViewIfNeeded({ timeout: 2_000 }).catch(() => {});
      const box = await element.boundingBox();
      if (box !== null && JSON.stringify(box) === last) return box;
      last = JSON.stringify(box);
      await element.page().waitForTimeout(200);
    }
  }
  async function shot(page: Page, name: string): Promise<void> {
    if (SHOTS === undefined) return;
    await page.waitForTimeout(400);
    await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
  }

  it('has a card for each, with its band in words, the runs farthest outside and the failed run', async () => {
    const { page, errors } = await suite.open(`batches/${first}`);
    for (const title of ['nz_g [g]', 'altitude_m [m]', 'skin_temp [K]']) await plot(page, title).waitFor();
    const band = await bandOf(first, 'nz_g');
    expect(await plot(page, 'nz_g [g]').getAttribute('aria-label')).to.include(band.sentence);
    expect(band.outlying[0]!.run_id).to.equal(17);
    const links = card(page, 'nz_g [g]').getByRole('link');
    expect((await links.allTextContents()).map((it) => it.trim())).to.deep.equal(
      band.outlying.map((it) => `#${it.run_id}`),
    );
    await card(page, 'nz_g [g]').getByText('> 9 ends the run').waitFor();
    await card(page, 'nz_g [g]')
      .getByText(/^1 run failed or was cancelled/)
      .waitFor();
    await requireClean(page, 'a study with histories');
    await shot(page, 'study');
    await links.first().click();
    await page.waitForURL((url) => url.hash.includes(jobId(first, 17)));
    expect(errors).to.deep.equal([]);
  });

  it('opens a run by a click on its curve', async () => {
    const { page, errors } = await suite.open(`batches/${first}`);
    const area = plot(page, 'nz_g [g]').locator('.u-over');
    await card(page, 'nz_g [g]').getByRole('link').first().waitFor();
    const isOpen = async (): Promise<boolean> => (await addressOf(page)).includes('jobs/');
    // The curves come after the band. The outlier has the highest one: from above it is the first that a click meets.
    for (let sweep = 0; sweep < 20 && !(await isOpen()); sweep += 1) {
      const box = await settled(area);
      for (let y = 3; y < box.height && !(await isOpen()); y += 2) {
        await page.mouse.click(box.x + box.width * 0.9, box.y + y);
        await page.waitForTimeout(30);
      }
    }
    expect(await addressOf(page)).to.include(jobId(first, 17));
    expect(errors).to.deep.equal([]);
  });

  it('draws selected runs over the bands', async () => {
    const { page, errors } = await suite.open(`batches/${first}/explore?cards=histories&select=o.peak_g:6.2..`);
    await plot(page, 'nz_g [g]').waitFor();
    const expected = Array.from({ length: RUNS }, (_, run) => run).filter(
      (run) => run !== 9 && Math.max(...curvesOf(run, 0)['nz_g']!) >= 6.2,
    );
    expect(expected.length).to.be.within(5, 30);
    await card(page, 'nz_g [g]')
      .getByText(`${expected.length} selected runs are drawn, in blue.`, { exact: true })
      .waitFor();
    await shot(page, 'explore');
    expect(errors).to.deep.equal([]);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const)
      it(`draws selected runs apart from bands and outliers at ${width} x ${height}, ${colorScheme}`, async () => {
        const options = { viewport: { width, height }, colorScheme };
        const address = `batches/${first}/explore?cards=histories&select=o.peak_g:6.2..`;
        const { page, errors } = await suite.open(address, options);
        await card(page, 'nz_g [g]').getByText('selected runs are drawn, in blue.').waitFor();
        await settled(plot(page, 'skin_temp [K]').locator('canvas').first());
        // Scrolled to its end, the page has nothing of the selection below its bar, or all of it.
        const bar = await page.locator('.bar').boundingBox();
        const selection = await page.locator('.selection').boundingBox();
        const [end, begin] = [bar!.y + bar!.height, selection!.y];
        expect(begin >= end || begin + selection!.height <= end, `${begin} after ${end}`).to.equal(true);
        await requireClean(page, `selected runs at ${width} x ${height}`);
        await shot(page, `overlaid-${width}-${colorScheme}`);
        expect(errors).to.deep.equal([]);
        await page.close();
      });

  it('compares two studies: both bands in one plot for each history', async () => {
    const { page, errors } = await suite.open(`batches/${first}/compare?with=${second}`);
    for (const title of [
      'nz_g [g], before and after',
      'altitude_m [m], before and after',
      'skin_temp [K], before and after',
    ])
      await plot(page, title).waitFor();
    const nz = card(page, 'nz_g [g], before and after');
    const [before, after] = [await bandOf(first, 'nz_g'), await bandOf(second, 'nz_g')];
    const label = await nz.getByRole('img').getAttribute('aria-label');
    expect(label).to.include(`before: ${before.sentence}`).and.include(`after: ${after.sentence}`);
    await nz.getByText('Before: 119 of 120 runs, 1 failed or cancelled', { exact: false }).waitFor();
    await nz.getByText('before: median, band P5 to P95').waitFor();
    await requireClean(page, 'two studies with histories');
    await shot(page, 'compare');
    expect(errors).to.deep.equal([]);
  });

  it('lists the extractions of a study with their state and the runs whose files are gone, and its statistics have their outputs', async () => {
    const { page, errors } = await suite.open(`batches/${second}`);
    await plot(page, 'nz_g [g]').waitFor();
    expect(await page.getByRole('region', { name: 'Extractions' }).count()).to.equal(0);
    const derived = [{ name: 'late_g', take: 'max' as const, telemetry: 'speed' }];
    const made = await fetch(`${suite.web.url}/batches/${second}/extractions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'late', derived }),
    });
    expect(made.status, await made.clone().text()).to.equal(200);
    const { batch_id: late } = (await made.json()) as { batch_id: Uuid };
    const row = page.getByRole('region', { name: 'Extractions' }).getByRole('row').filter({ hasText: 'late' });
    await row.getByText('117 of 119').waitFor();
    expect(await row.getByRole('cell').allTextContents()).to.deep.equal(['late', 'Completed', '117 of 119', '2']);
    await page.getByText(/^late: nothing of run 30,40: the folder is empty\.$/).waitFor();
    await page.getByText(/^late: the study has stored at most/).waitFor();
    await page.reload();
    await page.getByText('late.late_g').first().waitFor();
    await requireClean(page, 'a study with an extraction');
    await shot(page, 'study-extraction');
    await page.setViewportSize({ width: 390, height: 844 });
    await requireClean(page, 'a study with an extraction on a telephone');
    await shot(page, 'study-extraction-phone');
    await row.getByRole('link').click();
    await page.waitForURL((url) => url.hash.includes(late));
    expect(errors).to.deep.equal([]);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`fits a telephone, ${colorScheme}`, async () => {
      const options = { viewport: { width: 390, height: 844 }, colorScheme, isMobile: true, hasTouch: true };
      for (const address of [`batches/${first}`, `batches/${first}/compare?with=${second}`]) {
        const { page, errors } = await suite.open(address, options);
        const title = address.includes('compare') ? 'nz_g [g], before and after' : 'nz_g [g]';
        await plot(page, title).waitFor();
        const { width } = await settled(plot(page, title).locator('canvas').first());
        expect(width).to.be.above(250).and.at.most(390);
        await requireClean(page, `${address} on a telephone`);
        await shot(page, `${address.includes('compare') ? 'compare' : 'study'}-phone-${colorScheme}`);
        expect(errors).to.deep.equal([]);
        await page.close();
      }
    });
});
