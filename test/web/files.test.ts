/** The files of a run on its page, read from a real runner. */
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { openBrowser, watchedPage } from '../support/browser.ts';
import { Site } from '../support/runner-process.ts';
import { study } from '../support/studies.ts';
import { startWeb, type WebServer } from '../support/web-server.ts';
import { Client } from '../../src/client/client.ts';
import { jobId } from '../../src/domain/ids.ts';

describe('web: files of a run', function () {
  this.timeout(60_000);
  let browser: Browser | undefined;
  let web: WebServer | undefined;
  let site: Site | undefined;
  before(async function () {
    browser = await openBrowser();
    if (browser === undefined) this.skip();
    web = await startWeb();
    site = new Site();
  });
  after(async () => {
    await browser?.close();
    await site?.clean();
    await web?.close();
  });

  it('are listed, shown and downloaded', async () => {
    if (browser === undefined || web === undefined || site === undefined) return;
    site.start(web.url, ['--serve-files']);
    const client = new Client({ endpoint: web.url });
    const submission = study({ runs: 1 });
    submission.config.compute.container.environment = { BEHAVE: 'files' };
    const job = jobId((await client.submit(submission)).batch_id, 0);
    while ((await client.job(job)).status !== 'Completed') await new Promise((resolve) => setTimeout(resolve, 50));
    const { page, errors, foreign } = await watchedPage(browser, web.url);
    await page.goto(`${web.url}/#/jobs/${job}`);
    await page.getByRole('button', { name: 'Show deep/er/grün % #1.csv' }).click();
    await page.getByRole('region', { name: 'deep/er/grün % #1.csv' }).getByRole('cell', { name: '2' }).waitFor();
    await page.getByRole('button', { name: 'Show stdout.log' }).click();
    await page.getByText('printed by the simulation').waitFor();
    expect(await page.getByRole('button', { name: 'Show page.html' }).count()).to.equal(0);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download large.bin' }).click();
    expect((await saved).suggestedFilename()).to.equal('large.bin');
    expect([errors, foreign]).to.deep.equal([[], []]);
  });
});
