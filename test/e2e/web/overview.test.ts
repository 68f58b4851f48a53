/** The overview of a study in a real browser: its figures, findings with their action, a lost connection. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { descent, descentStudy } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

describe('web: overview', () => {
  const suite = webSuite({ id: 'lab-1', places: 20, runMs: 10, outcome: descent });

  async function open(address: string): Promise<{ page: Page; errors: string[] }> {
    return await suite.open(`batches/${address}`, { viewport: { width: 1280, height: 800 } });
  }

  /** Waits for a title: the pages' policy forbids the functions that a waiting of the browser would need. */
  async function shownTitle(page: Page, title: string): Promise<void> {
    for (let round = 0; round < 300 && (await page.title()) !== title; round += 1) await page.waitForTimeout(50);
    expect(await page.title()).to.equal(title);
  }

  it('shows verdict, outputs, causes and failures on the first screen', async () => {
    const { batch_id } = await suite.web.coordinator.submit({
      ...descentStudy('first screen', 600),
      requirements: [{ name: 'near', output: 'miss_distance', condition: '<= 25', probability: 0.5, confidence: 0.95 }],
    });
    const { page, errors } = await open(batch_id);
    await page.getByText('100 %', { exact: true }).waitFor();
    await page
      .getByRole('article', { name: 'Requirement near' })
      .getByRole('img', { name: /^Passing share over the number of runs, 1 to 600, .* 600 runs: .* required 50 %$/ })
      .waitFor();
    const shown = [
      page.getByRole('article', { name: 'Requirement near' }).getByText('met', { exact: true }),
      page.getByRole('region', { name: 'Outputs' }).getByRole('link', { name: 'miss_distance' }),
      page.getByRole('img', { name: /^miss_distance: .* runs$/ }),
      page.getByText(/^gust_speed >= [\d.]+: \d+ of \d+ failures, in/),
      page.getByRole('link', { name: /guidance.Divergence/ }),
    ];
    for (const it of shown) {
      await it.waitFor();
      const box = (await it.boundingBox())!;
      expect(box.y + box.height, 'on the first screen').to.be.below(800);
    }
    const head = (await page.locator('.tabs').boundingBox())!;
    expect(head.y, 'a short head, with a banner').to.be.below(230);
    await page.getByRole('link', { name: 'Explore', exact: true }).nth(1).click();
    await page.getByText(/^\d+ of 600 runs selected/).waitFor();
    expect(errors).to.deep.equal([]);
    await page.context().close();
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
    await page.getByText('100 %', { exact: true }).waitFor();
    expect((await suite.web.coordinator.runner('lab-1')).accepting_jobs).to.equal(true);
    expect(errors).to.deep.equal([]);
    await page.context().close();
  });

  it('a paused study is resumed by the button of its banner', async () => {
    await suite.web.coordinator.drain('lab-1');
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('paused', 20));
    await suite.web.coordinator.pauseBatch(batch_id, 'lunch');
    await suite.web.coordinator.resume('lab-1');
    const { page } = await open(batch_id);
    await page.getByText(/^it was paused, /).waitFor();
    await page.getByRole('button', { name: 'Resume the study' }).click();
    await page.getByText('100 %', { exact: true }).waitFor();
    expect(await page.getByText(/^Planned inputs/).count()).to.equal(0);
    await page.context().close();
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
    await page.getByRole('button', { name: 'Cancel the batch' }).click();
    await page.getByText('Cancelled: wrong model').waitFor();
    expect(await page.locator('.title').textContent(), 'no run of it ended').to.match(/Cancelled0 %/);
    await page.context().close();
  });

  it('the title of the tab shows the progress', async () => {
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('in the title', 30));
    const { page } = await open(batch_id);
    await shownTitle(page, 'Completed: in the title · simbatch');
    expect(await page.evaluate('document.querySelector("link[rel=icon]").href')).to.match(/^data:image\/png/);
    await page.getByRole('link', { name: 'Pool' }).first().click();
    await shownTitle(page, 'Pool · simbatch');
    await page.context().close();
  });
});
