/** Units and meanings of a study, where the pages name its parameters and outputs. */
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { openBrowser, watchedPage } from '../support/browser.ts';
import {
  descent,
  descentStudy,
  scriptedRunner,
  startWeb,
  type ScriptedRunner,
  type WebServer,
} from '../support/web-server.ts';

describe('web: units', function () {
  this.timeout(120_000);
  let browser: Browser | undefined;
  let web: WebServer;
  let runner: ScriptedRunner;
  before(async function () {
    browser = await openBrowser();
    if (browser === undefined) return this.skip();
    web = await startWeb();
    runner = await scriptedRunner(web.coordinator, { id: 'lab-1', places: 20, runMs: 20, outcome: descent });
    return undefined;
  });
  after(async () => {
    await browser?.close();
    await runner?.stop();
    await web?.close();
  });

  it('are beside the names of parameters and declared outputs: in plots, columns, the study and a run', async () => {
    const { batch_id: batchId } = await web.coordinator.submit({
      ...descentStudy('with units', 20),
      outputs: { miss_distance: { units: 'km', description: 'from the planned landing point' } },
    });
    const { page } = await watchedPage(browser!, web.url, { viewport: { width: 1600, height: 1000 } });
    await page.goto(`${web.url}/#/batches/${batchId}`);
    await page.getByText('100 %', { exact: true }).waitFor();
    await page.goto(`${web.url}/#/batches/${batchId}/explore`);
    await page.getByRole('img', { name: /^Distribution of miss_distance \[km\]/ }).waitFor();
    await page.getByRole('img', { name: /^Distribution of entry_speed \[m\/s\]/ }).waitFor();
    expect(await page.getByText('drag_factor [').count()).to.equal(0);
    await page.goto(`${web.url}/#/batches/${batchId}/runs`);
    await page.getByRole('columnheader', { name: 'entry_speed [m/s]' }).waitFor();
    await page.goto(`${web.url}/#/batches/${batchId}/study`);
    await page.getByText('from the planned landing point').first().waitFor();
    await page.goto(`${web.url}/#/jobs/${batchId.slice(0, 28)}00000001`);
    await page.getByText('miss_distance [km]').first().waitFor();
    await page.context().close();
  });
});
