/** Exploring a study in a real browser: one selection for all plots, axes, colours, views, links. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import type { Download, Locator, Page } from 'playwright-core';
import { wilsonInterval } from '../../../src/analysis/groups/proportion.ts';
import { descent, descentStudy } from '../../support/web-server.ts';
import { addressOf } from '../../support/browser.ts';
import { webSuite } from '../../support/web-suite.ts';

const load = (path: string): Promise<unknown> =>
  tsImport(new URL(`../../../../web/src/${path}`, import.meta.url).href, import.meta.url);

interface Histogram {
  from: number;
  to: number;
  all: Uint32Array;
  selected: Uint32Array;
  failed: Uint32Array;
  below: number;
  above: number;
  count: number;
  mean: number;
}

const [PENDING, COMPLETED, FAILED] = [0, 3, 4];
const sum = (values: Uint32Array): number => values.reduce((total, it) => total + it, 0);

describe('web/plots/bins', () => {
  let histogramOf: (values: Float64Array, status: Uint8Array, mask?: Uint8Array, isLog?: boolean) => Histogram;
  before(async () => {
    ({ histogramOf } = (await load('plots/bins.ts')) as { histogramOf: typeof histogramOf });
  });

  it('a pending run is not drawn as selected', () => {
    const found = histogramOf(Float64Array.of(1, 2, 3, 4), Uint8Array.of(PENDING, COMPLETED, FAILED, PENDING));
    expect([sum(found.all), sum(found.selected), sum(found.failed)]).to.deep.equal([4, 2, 1]);
  });

  it('a long tail is counted beside the bins', () => {
    const values = Float64Array.from({ length: 200 }, (_, at) => (at === 199 ? 1e9 : at));
    const found = histogramOf(values, new Uint8Array(200).fill(COMPLETED));
    expect(found.above).to.equal(1);
    expect(found.to).to.be.below(1_000);
    expect(sum(found.all)).to.equal(199);
  });

  it('a selection without values has no mean', () => {
    const mask = Uint8Array.of(0, 0, 1);
    const found = histogramOf(Float64Array.of(1, 2, NaN), new Uint8Array(3).fill(COMPLETED), mask);
    expect(found.count).to.equal(0);
    expect(found.mean).to.be.NaN;
  });

  it('a logarithmic axis has equal bins of the logarithm', () => {
    const values = Float64Array.from({ length: 1_000 }, (_, at) => 10 ** (at / 250));
    const found = histogramOf(values, new Uint8Array(1_000).fill(COMPLETED), undefined, true);
    expect(found.from).to.equal(0);
    expect(Math.max(...found.all) - Math.min(...found.all)).to.be.at.most(2);
  });
});

describe('web/plots/variables', () => {
  let sampleRuns: (status: Uint8Array, limit: number) => Uint32Array;
  let sharesOf: (
    status: Uint8Array,
    mask?: Uint8Array,
  ) => Record<'inside' | 'outside', { failed: number; ended: number }>;
  before(async () => {
    ({ sampleRuns, sharesOf } = (await load('plots/variables.ts')) as {
      sampleRuns: typeof sampleRuns;
      sharesOf: typeof sharesOf;
    });
  });

  it('failed runs are not thinned out with the others', () => {
    const status = Uint8Array.from({ length: 10_000 }, (_, at) => (at % 100 === 0 ? FAILED : COMPLETED));
    const runs = sampleRuns(status, 400);
    expect(runs).to.have.length(400);
    expect(runs.filter((it) => status[it] === FAILED)).to.have.length(100);
    expect([...runs]).to.deep.equal([...runs].sort((a, b) => a - b));
    const many = sampleRuns(new Uint8Array(10_000).fill(FAILED), 400);
    expect(many).to.have.length(400);
    expect(sampleRuns(Uint8Array.of(PENDING, FAILED, COMPLETED), 400)).to.have.length(3);
    const few = sampleRuns(Uint8Array.of(PENDING, PENDING, FAILED, COMPLETED, COMPLETED), 3);
    expect(
      [...few].map((run) => run > 1),
      'runs that ended come first',
    ).to.deep.equal([true, true, true]);
  });

  it('the shares count ended runs alone', () => {
    const status = Uint8Array.of(PENDING, COMPLETED, FAILED, COMPLETED);
    expect(sharesOf(status, Uint8Array.of(1, 1, 1, 0))).to.deep.equal({
      inside: { failed: 1, ended: 2 },
      outside: { failed: 0, ended: 1 },
    });
  });
});

describe('web: explore', function () {
  const suite = webSuite({
    id: 'lab-1',
    places: 40,
    runMs: 5,
    outcome: (it) => {
      const found = descent(it);
      if (!('metadata' in found)) return found;
      const run = it.job.run_config.run_id;
      const { entry_angle = 0, drag_factor = 0 } = it.job.run_config.parameters;
      const more = {
        stable: run % 3 === 0,
        landing: run % 4 === 0 ? 'water' : 'land',
        landing_x: (entry_angle + 1.35) * 900,
        landing_y: (drag_factor - 1) * 500,
      };
      return { metadata: { ...found.metadata, ...(more as unknown as Record<string, number>) } };
    },
  });
  let batchId: string;

  before(async () => {
    batchId = await suite.completed({
      ...descentStudy('explored', 500),
      outputs: {
        miss_distance: { units: 'm' },
        touchdown_speed: { units: 'm/s' },
        landing_x: { units: 'm' },
        landing_y: { units: 'm' },
      },
    });
  });

  const cardOf = (page: Page, heading: string): Locator =>
    page.locator('.card').filter({ has: page.getByRole('heading', { name: heading, exact: true }) });
  const menuOf = (page: Page, heading: string): Locator => cardOf(page, heading).locator('header summary').last();

  async function savedFrom(page: Page, heading: string, action: string): Promise<Download> {
    await cardOf(page, heading).locator('.card-plot > svg').waitFor();
    await menuOf(page, heading).click();
    const saved = page.waitForEvent('download');
    await cardOf(page, heading).getByRole('button', { name: action }).click();
    return saved;
  }

  async function open(query = '?target=o.touchdown_speed'): Promise<{ page: Page; errors: string[] }> {
    const address = `batches/${batchId}/explore${query}`;
    const watched = await suite.open(address, { viewport: { width: 1600, height: 1000 } });
    await watched.page.locator('.card-plot > svg').first().waitFor();
    return watched;
  }

  it('gives the share of failures inside and outside of the selection, with intervals', async () => {
    const { page, errors } = await open('?select=p.gust_speed:15..');
    const said = page.locator('.shares');
    await said.waitFor();
    let [failed, ended] = [0, 0];
    for await (const chunk of (await suite.web.coordinator.jobs({ batch_id: [batchId] })).chunks) {
      for (const job of chunk) {
        if (job.run_config.parameters['gust_speed']! < 15) continue;
        ended += 1;
        if (job.status === 'Failed') failed += 1;
      }
    }
    await page.getByText(`${ended} of 500 runs selected`).waitFor();
    const [low, high] = wilsonInterval(failed, ended, 0.95).map((it) => Number((100 * it).toPrecision(3)));
    const shown = Number(((100 * failed) / ended).toPrecision(3));
    expect(await said.textContent()).to.include(`failed inside ${shown} % [${low} to ${high}]`);
    expect(errors).to.deep.equal([]);
  });

  it('brushes all plots together: histogram, pair, parallel axis, bars of texts and booleans', async () => {
    const { page, errors } = await open('?cards=parallel');
    await page.getByRole('button', { name: /^landing 2 values/ }).click();
    await page.getByRole('button', { name: /^water/ }).click();
    const selected = page.getByText(/^\d+ of 500 runs selected/);
    await selected.waitFor();
    await page.getByRole('button', { name: /^stable/ }).click();
    await page.getByRole('button', { name: /^true/ }).click();
    expect(decodeURIComponent(await addressOf(page))).to.match(/o\.landing:\d\.\.\d;o\.stable:1\.\.1/);
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    await page.getByRole('button', { name: /^gust_speed m/ }).click();
    const brush = page.getByRole('img', { name: 'Range of gust_speed' });
    await brush.scrollIntoViewIfNeeded();
    const axis = (await brush.boundingBox())!;
    await page.mouse.move(axis.x + 12, axis.y + axis.height * 0.2);
    await page.mouse.down();
    await page.mouse.move(axis.x + 12, axis.y + axis.height * 0.5, { steps: 4 });
    await page.mouse.up();
    await selected.waitFor();
    expect(decodeURIComponent(await addressOf(page))).to.match(/select=p\.gust_speed:[\d.]+\.\.[\d.]+/);
    expect(await page.locator('.h-range').count(), 'the range in the histogram').to.equal(1);
    expect(errors).to.deep.equal([]);
  });

  it('moves an axis by its name, and keeps axes, cards, colours and logarithms in the address', async () => {
    const { page } = await open('?cards=parallel,ecdf,convergence&x=p.gust_speed');
    const names = (): Promise<string[]> => page.locator('.axis-names button').allTextContents();
    const before = await names();
    await page.locator('.axis-names button').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForTimeout(200);
    expect((await names()).slice(0, 2)).to.deep.equal([before[1], before[0]]);
    await page.getByLabel('Colour by').selectOption('p.entry_speed');
    await page.getByRole('button', { name: /^log axis of gust_speed/ }).click();
    await menuOf(page, 'Convergence').click();
    await page.getByRole('button', { name: 'Remove this card' }).last().click();
    await page.getByText('Plots (2)').waitFor();
    const { hash } = new URL(await addressOf(page));
    for (const part of ['axes=', 'colour=p.entry_speed', 'log=p.gust_speed', 'cards=parallel%2Cecdf'])
      expect(decodeURIComponent(hash)).to.include(decodeURIComponent(part));
    await page.reload();
    await page.getByRole('img', { name: /^Cumulative distribution of/ }).waitFor();
    expect((await names()).slice(0, 2)).to.deep.equal([before[1], before[0]]);
  });

  it('selects a rectangle of a plot, zooms on request, and shows the values of the run under the pointer', async () => {
    const { page } = await open('?target=o.touchdown_speed&x=p.gust_speed&cards=response');
    const plot = page.getByRole('img', { name: 'touchdown_speed against gust_speed' });
    await plot.waitFor();
    const box = (await page.locator('.card-plot').boundingBox())!;
    const dragOver = async (): Promise<void> => {
      await page.mouse.move(box.x + box.width * 0.4, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.8, box.y + 190, { steps: 4 });
      await page.mouse.up();
    };
    await menuOf(page, 'Response').click();
    await page.getByRole('button', { name: 'Drag to zoom' }).click();
    await dragOver();
    await page.getByRole('button', { name: 'Show all' }).click();
    expect(await addressOf(page), 'a zoom selects nothing').not.to.include('select=');
    await menuOf(page, 'Response').click();
    await page.getByRole('button', { name: 'Drag to select runs' }).click();
    await dragOver();
    await page.getByText(/^\d+ of 500 runs selected/).waitFor();
    expect(decodeURIComponent(await addressOf(page))).to.match(/p\.gust_speed:.*;o\.touchdown_speed:/);
    // A plot that is drawn anew begins without the values of a run. The library begins a line with a space of no width.
    const values = page.getByText(/^\u200b?run \d+$/);
    for (let x = 0.2; (await values.count()) === 0; x = x > 0.5 ? 0.2 : x + 0.01) {
      await page.mouse.move(box.x + box.width * x, box.y + box.height * 0.6);
      await page.waitForTimeout(50);
    }
    await page.getByRole('link', { name: 'Show these runs', exact: true }).click();
    await page.getByText(/^\d+ of 500 runs$/).waitFor();
  });

  it('has the planted cause first, for an output and for failure, and all of it within two screens', async () => {
    for (const [target, cause] of [
      ['o.touchdown_speed', 'gust_speed'],
      ['o.landing_x', 'entry_angle'],
      ['failed', 'gust_speed'],
    ] as const) {
      const { page, errors } = await suite.open(`batches/${batchId}/explore?target=${target}`, {
        viewport: { width: 1440, height: 900 },
      });
      await page.getByText(/^Pale: not told apart from no influence/).waitFor();
      await page.locator('.rail-bar i').first().waitFor();
      expect(await page.locator('.rail-row').first().textContent(), target).to.match(new RegExp(`^${cause}`));
      await page.locator('.card').nth(5).waitFor();
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      expect(height, target).to.be.at.most(1_800);
      expect(errors).to.deep.equal([]);
      await page.close();
    }
  });

  it('saves each plot as SVG with axes and units, and as CSV; a range from GeoJSON counts the runs inside', async () => {
    const { page, errors } = await suite.open(
      `batches/${batchId}/explore?target=o.touchdown_speed&x=p.gust_speed&cards=tornado,footprint,response,ecdf,matrix,convergence`,
      { viewport: { width: 1600, height: 1000 } },
    );
    const more = await suite.open(
      `batches/${batchId}/explore?target=o.touchdown_speed&by=o.landing&cards=box,parallel`,
      {
        viewport: { width: 1600, height: 1000 },
      },
    );
    const table: readonly [Page, string, string[]][] = [
      [page, 'What drives touchdown_speed [m/s]', ['gust_speed', 'partial rank correlation']],
      [page, 'Footprint', ['landing_x [m]', 'landing_y [m]']],
      [page, 'Response', ['gust_speed [m/s]', 'touchdown_speed [m/s]']],
      [page, 'Cumulative distribution of touchdown_speed', ['touchdown_speed [m/s]', 'share of runs']],
      [page, 'All pairs', ['touchdown_speed [m/s]', 'gust_speed [m/s]']],
      [page, 'Convergence', ['runs', 'Mean of touchdown_speed [m/s]']],
      [more.page, 'touchdown_speed by landing', ['water', 'touchdown_speed [m/s]']],
      [more.page, 'All together', ['gust_speed [m/s]', 'touchdown_speed [m/s]']],
    ];
    for (const [where, heading, texts] of table) {
      // The variables of a card follow from their relevance, which comes after the first picture.
      const labels = cardOf(where, heading).locator('.card-plot svg text');
      for (const text of texts) await labels.filter({ hasText: text }).first().waitFor({ state: 'attached' });
      const saved = await savedFrom(where, heading, 'Save as SVG');
      const svg = await readFile(await saved.path(), 'utf8');
      for (const text of texts) expect(svg, heading).to.include(`>${text}<`);
      expect(svg, 'the file needs no style sheet of the page').not.to.include('var(--');
      const csv = await readFile(await (await savedFrom(where, heading, 'Save as CSV what is drawn')).path(), 'utf8');
      expect(csv.split('\r\n').length, heading).to.be.above(2);
    }
    expect((await savedFrom(page, 'Footprint', 'Save as PNG')).suggestedFilename()).to.match(/\.png$/);
    const square = [
      [0, -100],
      [200, -100],
      [200, 100],
      [0, 100],
      [0, -100],
    ];
    await page
      .getByLabel('Polygon of a range, a GeoJSON file')
      .setInputFiles({ name: 'range.geojson', mimeType: 'application/json', buffer: Buffer.from('{}') });
    await page.getByText('the file holds no Polygon and no MultiPolygon').waitFor();
    await page.getByLabel('Polygon of a range, a GeoJSON file').setInputFiles({
      name: 'range.geojson',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ type: 'Polygon', coordinates: [square] })),
    });
    const said = await page.getByText(/Inside the range: /).textContent();
    const [, inside, of] = /Inside the range: (\d+) of (\d+)\./.exec(said!)!.map(Number);
    // Half of a symmetric distribution is at each side of 0.
    expect(inside! / of!).to.be.within(0.4, 0.6);
    expect([...errors, ...more.errors]).to.deep.equal([]);
  });

  it('fits phones, tablets and desks', async () => {
    for (const width of [390, 820, 1280, 1440]) {
      const { page } = await suite.open(
        `batches/${batchId}/explore?cards=footprint,response,matrix,parallel,statistics,box`,
        { viewport: { width, height: 900 } },
      );
      await page.locator('.card-plot > svg').nth(4).waitFor();
      const inner = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(inner, `${width}`).to.be.at.most(width);
      await page.close();
    }
  });

  it('keeps views by name, and copies link and Python', async () => {
    const { page, errors } = await open('?select=p.gust_speed:10..20');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page
      .getByText('Views', { exact: true })
      .or(page.getByText(/^Views/))
      .first()
      .click();
    await page.getByRole('button', { name: 'Keep this view …' }).click();
    await page.getByLabel('Name').fill('strong gusts');
    await page.getByRole('button', { name: 'Keep it', exact: true }).click();
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    // Another browser sees it too.
    await page.getByText('Views (1)').waitFor();
    const other = await open('');
    await other.page.getByText('Views (1)').click();
    await other.page.getByRole('button', { name: 'strong gusts', exact: true }).click();
    await other.page.getByText(/^\d+ of 500 runs selected/).waitFor();
    expect(decodeURIComponent(await addressOf(other.page))).to.contain('select=p.gust_speed:10..20');
    await page.reload();
    await page.getByText('Views (1)').click();
    await page.getByRole('button', { name: 'strong gusts', exact: true }).click();
    await page.getByText(/^\d+ of 500 runs selected/).waitFor();
    await page.getByRole('button', { name: 'Copy link' }).click();
    const copied = (): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');
    expect(await copied()).to.equal(await addressOf(page));
    await page.getByRole('button', { name: 'Copy as Python' }).click();
    await page.waitForTimeout(200);
    const python = await copied();
    const where = JSON.parse(/quote\((".*")\)/.exec(python)![1]!) as string;
    expect(where).to.equal('parameters.gust_speed >= 10 and parameters.gust_speed <= 20');
    const found = await fetch(
      `${suite.web.url}/batches/${batchId}/table?format=json&where=${encodeURIComponent(where)}`,
    );
    const { matched } = (await found.json()) as { matched: number };
    await page.getByText(`${matched} of 500 runs selected`).waitFor();
    await other.page.getByText('Views (1)').click();
    await other.page.getByRole('button', { name: 'Remove the view strong gusts' }).click();
    await other.page.getByText('Views (1)').waitFor({ state: 'detached' });
    // The first browser reads the views again when its window is entered.
    await page.evaluate('window.dispatchEvent(new Event("focus"))');
    await page.getByText('Views (1)').waitFor({ state: 'detached' });
    expect([...errors, ...other.errors]).to.deep.equal([]);
  });
});
