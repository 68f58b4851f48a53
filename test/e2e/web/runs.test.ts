/** The table of runs in a real browser: filter language, order, columns, brushing, actions on several runs. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import type { Page } from 'playwright-core';
import { descent, descentStudy } from '../../support/web-server.ts';
import { addressOf } from '../../support/browser.ts';
import { webSuite } from '../../support/web-suite.ts';

interface Filters {
  statuses: string[];
  runner: string | null;
  ranges: Map<string, [number, number]>;
  text: string;
}

describe('web/runs/filter', () => {
  let whereOf: (filters: Filters) => string | undefined;
  before(async () => {
    const url = new URL('../../../../web/src/runs/filter.ts', import.meta.url).href;
    ({ whereOf } = (await tsImport(url, import.meta.url)) as { whereOf: typeof whereOf });
  });
  const none: Filters = { statuses: [], runner: null, ranges: new Map(), text: '' };
  const ROWS: [filters: Partial<Filters>, where: string | undefined][] = [
    [{}, undefined],
    [{ text: ' ' }, undefined],
    [{ text: ' range_m > 2.5e3 or failed ' }, 'range_m > 2.5e3 or failed'],
    [{ text: 'range_m > 1 or failed', runner: "o'lab" }, "(range_m > 1 or failed) and runner_id = 'o''lab'"],
    [{ text: 'failed', statuses: ['Failed', 'Lost'] }, 'failed and status in (Failed, Lost)'],
    [
      { ranges: new Map([['o.range_m', [1, Infinity]]]), text: 'state:failed' },
      'state:failed and outputs.range_m >= 1',
    ],
  ];
  for (const [filters, where] of ROWS) {
    it(`${JSON.stringify(filters)} is ${JSON.stringify(where)}`, () => {
      expect(whereOf({ ...none, ...filters })).to.equal(where);
    });
  }
  it('a text that does not end is refused with its place', () => {
    expect(() => whereOf({ ...none, text: "range_m > 'a" })).to.throw(/character 11: a quoted text does not end/);
  });
});

describe('web: table of runs', () => {
  const suite = webSuite({ id: 'lab-1', places: 40, runMs: 5, outcome: descent });
  let batchId: string;

  before(async () => {
    const study = descentStudy('table', 400);
    // More inputs than the table shows: the constant one comes first by alphabet.
    for (let at = 0; at < 9; at += 1)
      study.config.dispersions[`a_${at}`] = { distribution: { type: 'uniform', min: 0, max: 1 }, units: '' };
    study.config.dispersions['a_constant'] = { distribution: { type: 'fixed', value: 1 }, units: '' };
    study.requirements = [{ name: 'slow', output: 'touchdown_speed', condition: '< 6', probability: 0.9 }];
    batchId = await suite.completed(study);
  });

  async function open(query = ''): Promise<{ page: Page; errors: string[] }> {
    const watched = await suite.open(`batches/${batchId}/runs${query}`, { viewport: { width: 1600, height: 900 } });
    await watched.page
      .getByRole('link', { name: /^#\d+$/ })
      .first()
      .waitFor();
    return watched;
  }
  /** The titles of the columns, the one of the boxes first. */
  const headings = (page: Page): Promise<string[]> =>
    page.getByRole('columnheader').locator('.visually-hidden, .sort .clip').allTextContents();
  const column = async (page: Page, name: string): Promise<number[]> => {
    const at = (await headings(page)).findIndex((it) => it.startsWith(name));
    const texts = await page.locator(`.grid-row > :nth-child(${at + 1})`).allTextContents();
    return texts.filter((it) => it !== '–').map(Number);
  };

  it('shows the output of the worst requirement first, the others, errors, and the inputs most associated with failure, never a constant', async () => {
    const { page, errors } = await open();
    await page.getByRole('columnheader', { name: /^gust_speed/ }).waitFor();
    const shown = await headings(page);
    expect(shown.filter((it) => it.startsWith('a_constant') || it.startsWith('vehicle_mass'))).to.deep.equal([]);
    expect(shown[shown.indexOf('State') + 1]).to.match(/^touchdown_speed/);
    const outputs = shown.slice(shown.indexOf('State') + 1, shown.indexOf('Error'));
    expect(outputs.some((it) => it.startsWith('miss_distance'))).to.equal(true);
    expect(shown[shown.indexOf('Error') + 1]).to.match(/^(gust_speed|chute_delay)/);
    await page.setViewportSize({ width: 390, height: 844 });
    const box = (await page.getByRole('columnheader', { name: /^touchdown_speed/ }).boundingBox())!;
    expect(box.x + box.width, 'on a phone').to.be.at.most(390);
    expect(errors).to.deep.equal([]);
  });

  it('filters by the filter language, in the address, and says what it does not understand', async () => {
    const { page, errors } = await open();
    const filter = page.getByRole('searchbox', { name: 'Filter' });
    await filter.fill('gust_speed > 15 and state:failed');
    await filter.press('Enter');
    await page.getByText(/^\d+ of 400 runs$/).waitFor();
    expect((await column(page, 'gust_speed')).every((it) => it > 15)).to.equal(true);
    expect(await addressOf(page)).to.include('where=gust_speed');
    const count = await page.getByText(/^\d+ of 400 runs$/).textContent();
    await page.reload();
    await page.getByText(count!, { exact: true }).waitFor();
    await filter.fill('gust_sped > 15');
    await filter.press('Enter');
    await page.getByText(/did you mean .*gust_speed/).waitFor();
    await filter.fill('');
    await page.getByText('400 runs', { exact: true }).waitFor();
    expect(errors.filter((it) => !it.includes('400'))).to.deep.equal([]);
  });

  it('sorts by any column and keeps the chosen columns in the address', async () => {
    const { page } = await open('?columns=p.a_7,o.miss_distance&sort=-p.a_7');
    await page.getByRole('columnheader', { name: /a_7/ }).waitFor();
    const values = await column(page, 'a_7');
    expect(values).to.deep.equal([...values].sort((a, b) => b - a));
    expect(values.length).to.be.above(5);
    await page.getByText(/^Columns \(4\)/).click();
    await page.getByRole('checkbox', { name: 'vehicle_mass' }).check();
    await page.getByRole('columnheader', { name: /vehicle_mass/ }).waitFor();
    expect(decodeURIComponent(await addressOf(page))).to.include('columns=p.a_7,o.miss_distance,p.vehicle_mass');
  });

  it('a drag across the histogram of a header selects a range', async () => {
    const { page } = await open('?columns=p.entry_speed');
    const box = (await page.locator('.brush').first().boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.6, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.9, box.y + 10, { steps: 5 });
    await page.mouse.up();
    await page.getByText(/^\d+ of 400 runs$/).waitFor();
    const [, from, to] = /select=p\.entry_speed:([\d.]+)\.\.([\d.]+)/.exec(decodeURIComponent(await addressOf(page)))!;
    const values = await column(page, 'entry_speed');
    expect(values.every((it) => it >= Number(from) - 0.1 && it <= Number(to) + 0.1)).to.equal(true);
  });

  it('several runs are compared, downloaded and run again', async () => {
    const { page, errors } = await open();
    for (const run of [1, 3, 4]) await page.getByRole('checkbox', { name: `Select run ${run}`, exact: true }).check();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('region', { name: 'Runs side by side' }).getByText('entry_angle').waitFor();
    expect(await page.locator('.side-by-side thead th').allTextContents()).to.deep.equal(['Value', '#1', '#3', '#4']);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Download the selected').click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV', exact: true }).last().click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await saved).createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString().trim().split('\n').length, 'a header and three runs').to.equal(4);
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('Reruns').waitFor();
    const made = /batches\/([^/?]+)/.exec(await addressOf(page))![1]!;
    expect((await suite.web.coordinator.batch(made)).batch.total_jobs).to.equal(3);
    expect(errors).to.deep.equal([]);
  });

  it('further rows are read as the viewer scrolls', async () => {
    const { page } = await open();
    await page.locator('.grid').evaluate((it) => (it.scrollTop = it.scrollHeight));
    await page.getByRole('link', { name: '#199', exact: true }).waitFor();
    await page.waitForTimeout(500);
    await page.locator('.grid').evaluate((it) => (it.scrollTop = it.scrollHeight));
    await page.getByRole('link', { name: '#399', exact: true }).waitFor();
  });
});
