/** The coordinator below a path of a site, with a real nginx in front: the dashboard in a real browser, and each client. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { Client } from '../../../src/client/client.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { openBrowser, watchedPage } from '../../support/browser.ts';
import { NGINX, startNginx, type Nginx } from '../../support/nginx.ts';
import { Site as RunnerSite } from '../../support/runner-process.ts';
import { descent, descentStudy, scriptedRunner, startWeb, type WebServer } from '../../support/web-server.ts';
import { skipWithout, until, withoutProgram } from '../support.ts';

const RUNS = 40;

/** The coordinator is in this process, which must not wait for a child. */
const run = promisify(execFile);

for (const strips of [false, true]) {
  describe(`a coordinator after nginx, ${strips ? 'which removes the path' : 'which passes the path on'}`, () => {
    let browser: Browser | undefined;
    let web: WebServer | undefined;
    let nginx: Nginx | undefined;
    before(async function () {
      skipWithout(this, withoutProgram(NGINX));
      browser = await openBrowser(true);
      web = await startWeb({ basePath: '/simbatch' });
      nginx = await startNginx(Number(new URL(web.url).port), { strips });
    });
    after(async () => {
      await browser?.close();
      await nginx?.stop();
      await web?.close();
    });
    const endpoint = (): string => `${nginx!.url}/simbatch`;

    it('shows the dashboard live in a browser, asks nothing outside the path and meets no error', async function () {
      if (browser === undefined) return this.skip();
      const { page, errors, foreign } = await watchedPage(browser, nginx!.url);
      const outside: string[] = [];
      page.on('request', (it) => {
        const { pathname, protocol } = new URL(it.url());
        if (protocol.startsWith('http') && !pathname.startsWith('/simbatch')) outside.push(pathname);
      });
      const sockets: string[] = [];
      page.on('websocket', (it) => sockets.push(new URL(it.url()).pathname));
      await page.goto(`${nginx!.url}/simbatch`);
      await page.getByRole('heading', { name: 'Studies' }).first().waitFor();
      const { batch_id } = await new Client({ endpoint: endpoint() }).submit(descentStudy('proxied study', RUNS));
      // The new study arrives by the live feed.
      await page.getByRole('link', { name: 'proxied study' }).first().click();
      await page.locator('.title').getByText('0 %', { exact: true }).first().waitFor();
      const runner = await scriptedRunner(web!.coordinator, { id: 'r1', places: 8, runMs: 5, outcome: descent });
      await page.locator('.title').getByText('100 %', { exact: true }).first().waitFor();
      await runner.stop();
      // The table of runs is read page by page in a worker.
      await page.goto(`${endpoint()}/#/batches/${batch_id}/runs`);
      await page
        .getByText(new RegExp(`${RUNS} runs`))
        .first()
        .waitFor();
      await page.getByRole('link', { name: 'API', exact: true }).click();
      await page.getByText('/batches/{batch_id}/answer').first().waitFor();
      expect(new URL(page.url()).pathname).to.equal('/simbatch/docs/');
      await page.getByRole('link', { name: 'Studies' }).first().click();
      await page.getByRole('link', { name: 'proxied study' }).first().waitFor();
      expect(sockets).to.include('/simbatch/live');
      expect({ errors, foreign, outside }).to.deep.equal({ errors: [], foreign: [], outside: [] });
      await page.close();
    });

    it('serves the TypeScript client with pages, the runner, the command line and Python', async () => {
      const client = new Client({ endpoint: endpoint() });
      const site = new RunnerSite();
      try {
        const { batch_id } = await client.submit(descentStudy('by a runner', 3));
        const runner = site.start(endpoint());
        await until(async () => (await client.batch(batch_id)).batch.status === 'Completed');
        await runner.end('SIGTERM');
        const listed: number[] = [];
        for await (const it of client.jobs({ batch_id: [batch_id] }, { pageSize: 2 }))
          listed.push(it.run_config.run_id);
        expect(listed).to.deep.equal([0, 1, 2]);
        const shown = await run(process.execPath, [
          join(packageRoot, 'dist/bin/simbatch.js'),
          'open',
          batch_id,
          '--print',
          '--endpoint',
          endpoint(),
        ]);
        expect(shown.stdout.trim()).to.equal(`${endpoint()}/#/batches/${batch_id}`);
        const python = `import simbatch\nb = simbatch.connect(${JSON.stringify(endpoint())}).open("${batch_id}")\nprint(b.status, len(list(b.rows())))`;
        const said = await run('python3', ['-c', python], {
          env: { ...process.env, PYTHONPATH: join(packageRoot, 'clients/python') },
        });
        expect(said.stdout.trim()).to.equal('Completed 3');
      } finally {
        await site.clean();
      }
    });
  });
}
