/** The inspector in a browser: the way to a failing attempt, Ctrl K, steps, refused events, a copy that leaves the actor alone, its size. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Uuid } from '../../../src/contract/types.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import { descent, descentStudy } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

describe('web: inspector', () => {
  const suite = webSuite({ id: 'lab-1', places: 20, runMs: 10, outcome: descent });
  let batchId: Uuid;
  let failedId: Uuid;

  before(async () => {
    batchId = await suite.completed(descentStudy('inspected', 120));
    for await (const chunk of (await suite.web.coordinator.jobs({ batch_id: [batchId], status: ['Failed'] })).chunks)
      failedId ??= chunk[0]!.id;
  });

  const chartOf = (page: Page, name: string) =>
    page.getByRole('region', { name: `Statechart of ${name}`, exact: true });
  const run = (): string => `Run #${runIdOf(failedId)}`;

  it('reaches a failing attempt in two clicks from its study', async () => {
    const { page, errors } = await suite.open(`batches/${batchId}`, { viewport: { width: 1440, height: 900 } });
    await page.getByRole('link', { name: 'Inspect', exact: true }).click();
    await page.getByRole('region', { name: 'Failing runs' }).getByRole('link').first().click();
    await page.getByText(/^FAIL: Running → /).waitFor();
    expect(await page.locator('.log-rows [aria-current]').textContent()).to.include('FAIL');
    expect(await page.locator('.state-box.lit .name').first().textContent()).to.be.oneOf(['Failed', 'Pending']);
    // The difference that the event made.
    expect(await page.locator('.context-changes').textContent()).to.include('outcome');
    expect(errors).to.deep.equal([]);
  });

  it('finds a run by its study and number with Ctrl K', async () => {
    const { page } = await suite.open('runners');
    await page.getByRole('link', { name: 'lab-1' }).first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Search studies/ }).fill(`inspected #${runIdOf(failedId)}`);
    await page.getByRole('option', { name: new RegExp(`^Inspect inspected #${runIdOf(failedId)}`) }).click();
    await page.getByRole('heading', { name: `${run()} of inspected` }).waitFor();
  });

  it('shows a refused event with its guard and the values that it read', async () => {
    const { page } = await suite.open('inspect/runner/lab-1', { viewport: { width: 1440, height: 900 } });
    await chartOf(page, 'Runner lab-1').waitFor();
    const capabilities = {
      max_concurrent_jobs: 1,
      cpu_cores: 1,
      memory_gb: 1,
      gpu_available: false,
      supported_simulation_types: [],
    };
    const stranger = { id: 'lab-1', name: 'x', tags: [], instance: 'stranger', capabilities };
    await suite.web.coordinator.register(stranger).catch(() => {});
    await page.getByRole('tab', { name: 'Refused (1)' }).click();
    const panel = page.getByRole('tabpanel');
    await panel.getByText('takesOver').first().waitFor();
    expect(await panel.textContent())
      .to.include('event.instance = stranger')
      .and.include('context.instance = script-lab-1');
    expect(await panel.textContent()).to.include('since its start');
  });

  it('sends an event to a copy, and nothing to the live runner', async () => {
    const { page } = await suite.open('inspect/runner/lab-1', { viewport: { width: 1440, height: 900 } });
    await chartOf(page, 'Runner lab-1').waitFor();
    const state = (): string => suite.web.coordinator.parts.directory.state('runner', 'lab-1')!.value;
    const before = state();
    const sent: string[] = [];
    page.on('request', (it) => it.method() !== 'GET' && sent.push(it.url()));
    await page
      .getByRole('button', { name: 'Latest step' })
      .click({ force: true })
      .catch(() => {});
    await page.getByRole('tab', { name: /^What would/ }).click();
    await page.getByRole('tabpanel').locator('select').selectOption({ label: 'DRAIN' });
    await page.getByRole('button', { name: 'Send to the copy' }).click();
    const result = page.getByRole('status', { name: 'Result on the copy' });
    await result.getByText('→ Drained').waitFor();
    expect(await result.textContent())
      .to.include('runner.drained')
      .and.include('drained');
    expect([state(), sent]).to.deep.equal([before, []]);
  });

  it('fits 1440x900 without scrolling the page, and every width', async () => {
    const addresses = [`inspect/job/${failedId}`, 'inspect/runner/lab-1', `inspect/batch/${batchId}`, 'inspect'];
    for (const [width, height] of [
      [1440, 900],
      [1280, 800],
      [820, 1180],
      [390, 844],
    ] as const) {
      const { page } = await suite.page({ viewport: { width, height } });
      for (const address of addresses) {
        await page.goto(`${suite.web.url}/#/${address}`);
        await page.locator('.inspector .chart').first().waitFor();
        const [tall, wide] = await page.evaluate<[number, number]>(
          '[document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]',
        );
        expect(wide, `${address} at ${width}`).to.be.at.most(0);
        if (width === 1440) expect(tall, `${address} is taller than ${height}`).to.be.at.most(0);
      }
      await page.close();
    }
  });
});
