/** The dashboard of a coordinator with tokens, created by the command that the page shows. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { packageRoot } from '../../../src/base/package.ts';
import { openBrowser, watchedPage } from '../../support/browser.ts';
import { descentStudy, startWeb, type WebServer } from '../../support/web-server.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const program = join(packageRoot, 'dist/bin/simbatch.js');

describe('web: tokens', function () {
  let browser: Browser | undefined;
  let web: WebServer;
  let lookOnly: string;

  /** Runs a `simbatch` command line as the page shows it, over the data directory of this test. */
  async function run(command: string): Promise<string> {
    const words = command.replace('./data', web.folder).split(' ').slice(1);
    const token = (await promisify(execFile)(process.execPath, [program, ...words])).stdout.trim();
    // A running coordinator reads new tokens about once a second.
    const headers = { authorization: `Bearer ${token}` };
    const answer = async (init: RequestInit): Promise<number> => (await fetch(`${web.url}/batches`, init)).status;
    while ((await answer({})) !== 401 || (await answer({ headers })) !== 200) await pause(50);
    return token;
  }

  before(async function () {
    browser = await openBrowser(true);
    if (browser === undefined) return this.skip();
    web = await startWeb({ withTokens: true });
    await web.coordinator.submit(descentStudy('with tokens', 3));
    lookOnly = await run('simbatch token create --scope read --data-dir ./data');
  });

  after(async () => {
    await browser?.close();
    await web?.close();
  });

  async function enter(page: Page, token: string): Promise<void> {
    await page.getByLabel(/^Token/).fill(token);
    await page.getByRole('button', { name: 'Use it' }).click();
  }

  it('shows the owners of studies, and the client that made each entry of a history', async () => {
    const alice = web.coordinator.as('alice');
    const { batch_id } = await alice.submit(descentStudy('of a client', 3));
    await alice.pauseBatch(batch_id, 'a look');
    const { page } = await watchedPage(browser!, web.url);
    await page.goto(web.url);
    await enter(page, lookOnly);
    const owner = (study: string) => page.getByRole('row', { name: study }).locator('[data-label="Owner"]');
    await owner('of a client').waitFor();
    expect(await owner('of a client').textContent()).to.equal('alice');
    expect(await owner('with tokens').textContent(), 'submitted without a token').to.equal('–');
    await page.getByRole('link', { name: 'of a client' }).click();
    const events = page.getByRole('region', { name: 'Events of the study' });
    await events.getByRole('row', { name: 'paused alice a look' }).waitFor();
    await page.close();
  });

  it('asks for a token, accepts one created by the shown command, stores it, and removes it', async () => {
    const { page, foreign } = await watchedPage(browser!, web.url);
    await page.goto(web.url);
    await page.getByText('This coordinator requires a token').waitFor();
    expect(await page.getByText('with tokens').count()).to.equal(0);
    const token = await run((await page.getByRole('textbox', { name: 'Command' }).textContent()) ?? '');
    await enter(page, token);
    await page.getByRole('link', { name: 'with tokens' }).waitFor();
    await page.getByText('Live').waitFor();
    const { batch_id } = await web.coordinator.submit(descentStudy('while one looks', 3));
    await page.getByRole('link', { name: 'while one looks' }).click();
    await page.locator('.title').getByText('0 %', { exact: true }).waitFor();
    await page.reload();
    // The runs are read by a worker, the batch by the page, its changes over the WebSocket.
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('link', { name: '#2' }).waitFor();
    await page.getByRole('link', { name: 'Explore', exact: true }).click();
    await page
      .getByRole('button', { name: /^entry_speed/ })
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the study' }).click();
    await page.getByText('Cancelled 3').waitFor();
    expect((await web.coordinator.batch(batch_id)).batch.status).to.equal('Cancelled');
    await page.goto(`${web.url}/docs/`);
    await page.getByText('Submit a study').first().waitFor();
    await page.goto(web.url);
    await page.getByRole('button', { name: 'Forget token' }).click();
    await page.getByText('This coordinator requires a token').waitFor();
    expect(foreign).to.deep.equal([]);
    await page.close();
  });

  it('reports a refused token and allows another try', async () => {
    const { page } = await watchedPage(browser!, web.url);
    await page.goto(web.url);
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('button', { name: 'Enter token' }).click();
    await enter(page, 'sbt_00000000_wrong');
    await page.getByText('This coordinator refused the token').waitFor();
    await enter(page, lookOnly);
    await page.getByRole('link', { name: 'with tokens' }).waitFor();
    await page.close();
  });

  it('names the missing scope', async () => {
    const { page } = await watchedPage(browser!, web.url);
    await page.goto(web.url);
    await enter(page, lookOnly);
    await page.getByRole('button', { name: 'Cancel with tokens' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the study' }).click();
    await page.getByText(/needs the scope `submit`/).waitFor();
    await page.close();
  });

  it('asks again when the token is revoked while the page is open, and stops retrying', async () => {
    const mine = await run('simbatch token create --scope read --data-dir ./data');
    const { page } = await watchedPage(browser!, web.url);
    let opened = 0;
    page.on('websocket', () => (opened += 1));
    await page.goto(web.url);
    await enter(page, mine);
    await page.getByText('Live').waitFor();
    const before = opened;
    await promisify(execFile)(process.execPath, [program, 'token', 'revoke', mine, '--data-dir', web.folder]);
    await page.getByText('This coordinator refused the token').waitFor();
    await page.getByText('Not connected: a token is needed').waitFor();
    // Longer than the first pauses between two attempts.
    await pause(1_500);
    expect(opened).to.equal(before);
    await enter(page, lookOnly);
    await page.getByText('Live').waitFor();
    await page.close();
  });

  it('opens no WebSocket without a token', async () => {
    for (const path of ['/live', '/inspect']) {
      const socket = new WebSocket(web.url.replace('http', 'ws') + path, ['simbatch']);
      const outcome = await new Promise((resolve) => {
        socket.addEventListener('open', () => resolve('open'));
        socket.addEventListener('error', () => resolve('refused'));
      });
      expect(outcome, path).to.equal('refused');
    }
  });
});
