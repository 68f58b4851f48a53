/** The overview of a study in a real browser: its figures, findings with their action, a lost connection. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { descent, descentStudy } from '../../support/web-server.ts';
import { until } from '../support.ts';
import { addressOf } from '../../support/browser.ts';
import { webSuite } from '../../support/web-suite.ts';

/** `#2d9a6b` as a browser computes it. */
const rgbOf = (hex: string): string =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.trim().slice(at, at + 2), 16)).join(', ')})`;

const styleOf = (page: Page, selector: string, name: string): Promise<string> =>
  page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${name}`);

describe('web: overview', () => {
  const suite = webSuite({ id: 'lab-1', places: 20, runMs: 10, outcome: descent });

  async function open(address: string, height = 800): Promise<{ page: Page; errors: string[] }> {
    return await suite.open(`batches/${address}`, { viewport: { width: 1.6 * height, height } });
  }

  /** Waits for a title: the pages' policy forbids the functions that a waiting of the browser would need. */
  async function shownTitle(page: Page, title: string): Promise<void> {
    for (let round = 0; round < 300 && (await page.title()) !== title; round += 1) await page.waitForTimeout(50);
    expect(await page.title()).to.equal(title);
  }

  it('shows the plot of the worst requirement, verdicts, outputs, causes and failures on the first screen', async () => {
    const { batch_id } = await suite.web.coordinator.submit({
      ...descentStudy('first screen', 600),
      requirements: [{ name: 'near', output: 'miss_distance', condition: '<= 25', probability: 0.5, confidence: 0.95 }],
    });
    const { page, errors } = await open(batch_id, 900);
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    await page
      .getByRole('article', { name: 'Requirement near' })
      .getByRole('img', { name: /^Passing share over the number of runs, 1 to 600, .* 600 runs: .* required 50 %/ })
      .waitFor();
    const plot = page.getByRole('img', { name: /^Distribution of miss_distance over \d+ runs: limit 25, P5 / });
    const shown = [
      plot,
      plot.getByText('limit 25', { exact: true }),
      plot.getByText(/^P95 [\d.]+$/),
      plot.getByText(/^miss_distance .*\d+ crashed, not in the bars/),
      page.getByRole('article', { name: 'Requirement near' }).getByText('met', { exact: true }),
      page.getByRole('region', { name: 'Outputs' }).getByRole('link', { name: 'miss_distance' }),
      page.getByRole('img', { name: /^miss_distance: .* runs$/ }),
      // Each cause by itself; the card of the failures follows below.
      page.getByText(/^guidance\.Divergence: .*\(crashed, \d+ runs\)/).first(),
    ];
    await page.getByRole('link', { name: /guidance.Divergence/ }).waitFor();
    await page.getByText(/^gust_speed >= [\d.]+: \d+ of \d+ failures, in/).waitFor();
    for (const it of shown) {
      await it.waitFor();
      const box = (await it.boundingBox())!;
      expect(box.y + box.height, 'on the first screen').to.be.below(900);
    }
    expect((await plot.locator('.field').boundingBox())!.height, 'the height of the plot').to.be.within(170, 260);
    await page.getByRole('heading', { name: 'What drives miss_distance' }).waitFor();
    await page.getByRole('img', { name: /^gust_speed: -?[\d.]+/ }).waitFor();
    const head = (await page.locator('.tabs').boundingBox())!;
    expect(head.y, 'a short head, with the answer, its steps and a banner').to.be.below(330);
    await page.getByRole('link', { name: 'Explore', exact: true }).nth(1).click();
    await page.getByText(/^\d+ of 600 runs selected/).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('has the file of the study in a drawer over any of its tabs, and at its earlier address', async () => {
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('drawer', 3));
    const { page } = await suite.open(`batches/${batch_id}/runs?status=Completed`);
    await page.getByRole('button', { name: 'Study file' }).click();
    const drawer = page.getByRole('dialog', { name: 'The study as submitted' });
    await drawer.getByText('vehicle_mass').first().waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    // The browser hides a dialog, and notifies the page a little later.
    await until(async () => (await addressOf(page)).endsWith('/runs?status=Completed'));
    await page.goto(`${suite.web.url}/#/batches/${batch_id}/study`);
    await drawer.getByText('vehicle_mass').first().waitFor();
    const box = (await drawer.boundingBox())!;
    expect(Math.round(box.x + box.width), 'at the right').to.equal(page.viewportSize()!.width);
    await drawer.getByRole('button', { name: 'Close' }).click();
    await drawer.waitFor({ state: 'detached' });
  });

  it('a blocked study is unblocked by the button of its banner', async () => {
    await suite.web.coordinator.drain('lab-1', 'new disk');
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('waits for lab-1', 20));
    const { page, errors } = await open(batch_id);
    const reasons = page.locator('section', { has: page.getByRole('heading', { name: 'Blocked: no run can start' }) });
    await reasons.getByText(/drained/).waitFor();
    await reasons.getByText('To unblock', { exact: true }).waitFor();
    await reasons.getByText(/^it was submitted, .*: no run has been claimed$/).waitFor();
    await page.getByRole('heading', { name: /^Planned inputs \(\d+\)$/ }).waitFor();
    await page
      .getByRole('alert')
      .getByText(/lab-1|drained/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Resume lab-1' }).click();
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    expect((await suite.web.coordinator.runner('lab-1')).accepting_jobs).to.equal(true);
    expect(errors).to.deep.equal([]);
  });

  it('a paused study is resumed by the button of its banner', async () => {
    await suite.web.coordinator.drain('lab-1');
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('paused', 20));
    await suite.web.coordinator.pauseBatch(batch_id, 'lunch');
    await suite.web.coordinator.resume('lab-1');
    const { page } = await open(batch_id);
    await page.getByText(/^it was paused, /).waitFor();
    await page.getByRole('alert').getByRole('button', { name: 'Resume the study' }).click();
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    expect(await page.getByText(/^Planned inputs/).count()).to.equal(0);
  });

  it('a lost connection is said, with the last state dimmed and actions off, until it is back', async () => {
    const large = { container: { image: 'none', cpu_request: '64', memory_request: '0' } };
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('loses the connection', 10, large));
    const { page } = await open(batch_id);
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true });
    await cancel.waitFor();
    await page.getByText('Live').waitFor();
    const away = suite.web.interrupt(2_500);
    await page.getByText(/^No connection to the coordinator since/).waitFor();
    expect(await cancel.isDisabled()).to.equal(true);
    expect(await page.getByRole('heading', { name: 'loses the connection' }).count()).to.equal(1);
    await away;
    await page.getByText(/^No connection to the coordinator since/).waitFor({ state: 'detached' });
    expect(await cancel.isDisabled()).to.equal(false);
    await cancel.click();
    await page.getByLabel('Why (optional)').fill('wrong model');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the study' }).click();
    await page.getByText('Cancelled: wrong model').waitFor();
    // No run of it ended. The progress comes with another answer than the sentence.
    await page
      .locator('.title')
      .filter({ hasText: /Cancelled0 %/ })
      .waitFor();
  });

  it('the first line is the answer, in the colour of its level; the bar is green only where it is ok', async () => {
    const near = { name: 'near', output: 'miss_distance', condition: '<= 25', confidence: 0.95 };
    const colours: string[] = [];
    for (const [probability, word] of [
      [0.5, 'OK'],
      [0.9999, 'Not OK'],
    ] as const) {
      const study = { ...descentStudy(`answer ${word}`, 200), requirements: [{ ...near, probability }] };
      study.requirements[0]!.condition = probability === 0.5 ? '<= 25' : '<= 5';
      study.config.early_termination = { ...study.config.early_termination, enabled: false };
      study.config.telemetry.variables = [];
      const { batch_id } = await suite.web.coordinator.submit(study);
      const { page, errors } = await open(batch_id);
      await shownTitle(page, `${word}: answer ${word} · simbatch`);
      // A requirement may be decided before the last run: the line is compared after it.
      await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
      const found = await fetch(`${suite.web.url}/batches/${batch_id}/answer`);
      const { sentence } = (await found.json()) as { sentence: string };
      await page
        .locator('main p')
        .first()
        .and(page.getByText(sentence, { exact: true }))
        .waitFor();
      expect(await styleOf(page, 'main p', 'fontSize')).to.equal('24px');
      colours.push(await styleOf(page, 'main p', 'color'));
      const green = await page.evaluate('getComputedStyle(document.documentElement).getPropertyValue("--completed")');
      const shown = await styleOf(page, '.status-bar .s-Completed', 'backgroundColor');
      expect(shown === rgbOf(green as string), word).to.equal(word === 'OK');
      expect(errors).to.deep.equal([]);
      await page.close();
    }
    expect(new Set(colours).size).to.equal(2);
  });

  it('the title of the tab shows the progress', async () => {
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('in the title', 30));
    const { page } = await open(batch_id);
    await shownTitle(page, 'OK: in the title · simbatch');
    expect(await page.evaluate('document.querySelector("link[rel=icon]").href')).to.match(/^data:image\/png/);
    await page.getByRole('link', { name: 'Pool' }).first().click();
    await shownTitle(page, 'Pool · simbatch');
  });
});
