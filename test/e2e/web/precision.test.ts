/** Studies that stop when they are precise, in a real browser: the fields of a precision in the form, and the panel while the study runs and after its stop. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { descentStudy } from '../../support/web-server.ts';
import { addressOf } from '../../support/browser.ts';
import { webSuite } from '../../support/web-suite.ts';

const PRECISION = [
  { output: 'miss_distance', quantity: 'mean', bounds: [0, 200], half_width: 20 },
  { output: 'miss_distance', quantity: 'p90', half_width: 10 },
] satisfies NonNullable<BatchSubmission['policy']>['precision'];

const preciseStudy = (name: string, runs: number, replicates: number, halfWidth = 20): BatchSubmission => {
  const study = descentStudy(name, runs);
  study.config.monte_carlo = { ...study.config.monte_carlo, replicates };
  const [mean, p90] = PRECISION;
  return { ...study, policy: { stop_when: 'precise', precision: [{ ...mean!, half_width: halfWidth }, p90!] } };
};

/** The panel of the precisions. */
const panelOf = (page: Page): Locator =>
  page.locator('section', { has: page.getByRole('heading', { name: 'Precision', exact: true }) });

describe('web: precision', () => {
  const suite = webSuite({
    id: 'lab-1',
    places: 20,
    runMs: 5,
    outcome: ({ job }) => ({ metadata: { miss_distance: 40 + 2 * (job.run_config.parameters.gust_speed ?? 0) } }),
  });

  it('the panel shows how near a study is, its stop at a whole replicate, and that no interval is approximate', async () => {
    const { coordinator } = suite.web;
    const batchId = await suite.completed(preciseStudy('precise', 4000, 500));
    let status = await coordinator.batch(batchId);
    // A study that has just ended is judged some milliseconds later.
    for (; status.precision === undefined; status = await coordinator.batch(batchId))
      await new Promise((resolve) => setTimeout(resolve, 20));
    const { batch, precision } = status;
    expect((batch.stopped_at_run_id! + 1) % 8).to.equal(0);
    const { page, errors } = await suite.open(`batches/${batchId}`, { viewport: { width: 1280, height: 800 } });
    const panel = panelOf(page);
    await panel.getByText(`stopped at run ${batch.stopped_at_run_id}`).waitFor();
    for (const [row, quantity] of ['mean', 'P90'].entries()) {
      const article = panel.getByRole('article', { name: `Precision of miss_distance, ${quantity}` });
      await article.getByText('reached', { exact: true }).waitFor();
      expect(await article.getAttribute('data-precision')).to.equal('reached');
      expect(await article.getAttribute('title')).to.equal(precision[row]!.sentence);
    }
    expect(await panel.getByText(/approximate/).count()).to.equal(0);
    expect(errors).to.deep.equal([]);
  });

  it('the panel says why a study that has ended did not stop, and which interval is approximate', async () => {
    const study = preciseStudy('not precise enough', 1600, 200);
    study.policy!.precision = [{ output: 'miss_distance', quantity: 'mean', half_width: 1e-3 }];
    const batchId = await suite.completed(study);
    const { page, errors } = await suite.open(`batches/${batchId}`, { viewport: { width: 390, height: 800 } });
    const article = page.getByRole('article', { name: 'Precision of miss_distance, mean' });
    await article.getByText('not reached', { exact: true }).waitFor();
    await article.getByText(/^not precise enough: half-width [\d.]+ of 0.001 wanted; about [\d]+ runs more$/).waitFor();
    await page.getByText(/the interval of the mean of miss_distance is approximate/).waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth'), 'no sideways scrolling').to.be.at.most(
      390,
    );
    expect(errors).to.deep.equal([]);
  });

  it('the form takes replicates, bounds and a target, shows the faults at their fields, and submits them', async () => {
    const { page, errors } = await suite.open('submit', { viewport: { width: 1280, height: 900 } });
    await page.getByLabel('Name of the study').fill('precise by form');
    await page.getByLabel('Simulation', { exact: false }).first().fill('descent');
    await page.getByLabel('Runs', { exact: true }).fill('800');
    await page.getByText('Policy', { exact: true }).click();
    await page.getByLabel('Stops by itself when').selectOption('precise');
    await page.getByRole('button', { name: 'Add a precision' }).click();
    const row = page.getByRole('group', { name: 'Precision 1' });
    await page.getByText(/^The interval of a mean without bounds is approximate/).waitFor();
    await row.getByLabel('Output').fill('miss_distance');
    await row.getByLabel(/^bounds/).fill('0 200');
    await row.getByLabel(/^half-width/).fill('20');
    const submit = page.getByRole('button', { name: 'Submit 800 runs' });
    await submit.click();
    // A Latin hypercube has to say which runs are replicates.
    await page.getByText(/the runs of one latin_hypercube design are not independent/).waitFor();
    await page.getByLabel(/^Replicates/).fill('10');
    await submit.click();
    await page.getByText(/^is 10, too few for the precision of the mean of miss_distance/).waitFor();
    await page.getByLabel(/^Replicates/).fill('100');
    await submit.click();
    await page.getByRole('heading', { name: 'precise by form' }).waitFor();
    await panelOf(page).waitFor();
    const batchId = /batches\/([^?/]+)/.exec(await addressOf(page))![1]!;
    const { policy, config } = await suite.web.coordinator.submission(batchId);
    expect(policy!.precision).to.deep.equal([
      { output: 'miss_distance', quantity: 'mean', half_width: 20, bounds: [0, 200] },
    ]);
    expect(config.monte_carlo).to.include({ runs: 800, replicates: 100 });
    // The browser reports the refusal of 10 replicates as an error of its own.
    expect(errors.filter((it) => !it.includes('422'))).to.deep.equal([]);
  });
});
