/** Every page in a real browser: no violation that axe finds, no foreign request, no error, no overflow on a phone. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { Uuid } from '../../src/contract/types.ts';
import { openBrowser, watchedPage } from '../support/browser.ts';
import {
  descent,
  descentStudy,
  scriptedRunner,
  startWeb,
  type ScriptedRunner,
  type WebServer,
} from '../support/web-server.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe('web: pages', function () {
  this.timeout(90_000);
  let browser: Browser | undefined;
  let web: WebServer;
  let runner: ScriptedRunner | undefined;
  let batchId: Uuid;
  let failedId: Uuid;

  before(async function () {
    browser = await openBrowser();
    if (browser === undefined) return this.skip();
    web = await startWeb();
    runner = await scriptedRunner(web.coordinator, { id: 'lab-1', places: 40, runMs: 10, outcome: descent });
    const gone = await scriptedRunner(web.coordinator, { id: 'gone-1', places: 1, runMs: 10, outcome: descent });
    await gone.stop();
    await web.coordinator.signOff('gone-1', { instance: 'script-gone-1' });
    batchId = (await web.coordinator.submit(descentStudy('axe study', 120))).batch_id;
    for (;;) {
      const { batch } = await web.coordinator.batch(batchId);
      if (batch.status === 'Completed') break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    for await (const chunk of (await web.coordinator.jobs({ batch_id: [batchId], status: ['Failed'] })).chunks) {
      failedId ??= chunk[0]!.id;
    }
    await web.coordinator.submit(
      descentStudy('waits', 10, { container: { image: 'none', cpu_request: '64', memory_request: '0' } }),
    );
  });

  after(async () => {
    await browser?.close();
    await runner?.stop();
    await web?.close();
  });

  const PAGES: [name: string, address: () => string, shows: string][] = [
    ['studies', () => '#/batches', 'axe study'],
    ['overview of a batch', () => `#/batches/${batchId}`, 'Failures: '],
    ['runs', () => `#/batches/${batchId}/runs`, '120 runs'],
    ['explore', () => `#/batches/${batchId}/explore?select=p.gust_speed:5..30`, 'runs selected'],
    ['study', () => `#/batches/${batchId}/study`, '20260301'],
    ['run', () => `#/jobs/${failedId}`, 'Why it failed'],
    ['pool', () => '#/runners', 'Forget'],
    ['job machine', () => `#/machines/job/${failedId}`, 'Step 3 of 3: Failed'],
    ['batch machine', () => '#/machines/batch', 'overAndCancelled'],
    ['runner machine', () => '#/machines/runner', 'takesOver'],
    ['supervisor machine', () => '#/machines/supervisor', 'WRITE_FAILED'],
    ['submit', () => '#/submit', 'Add a parameter'],
  ];
  const LOOKS = [
    { name: 'light', options: { colorScheme: 'light' } },
    { name: 'dark', options: { colorScheme: 'dark' } },
    { name: 'phone', options: { colorScheme: 'light', viewport: { width: 390, height: 800 } } },
  ] as const;

  for (const { name: look, options } of LOOKS) {
    it(`are accessible, quiet and within their width: ${look}`, async () => {
      const { page, errors, foreign } = await watchedPage(browser!, web.url, options);
      for (const [name, address, shows] of PAGES) {
        await page.goto(`${web.url}/${address()}`);
        await page.getByText(shows).first().waitFor();
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
        expect(overflow, `${name} is wider than the window`).to.be.at.most(0);
        // Through the debugger, which the page's policy does not bind.
        await page.evaluate(AXE);
        const found = await page.evaluate(async () => {
          const { axe } = globalThis as unknown as {
            axe: {
              run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
            };
          };
          return (await axe.run()).violations.map(
            (it) => `${it.id}: ${it.nodes[0]?.html.slice(0, 200)} ${it.nodes[0]?.failureSummary}`,
          );
        });
        expect(found, name).to.deep.equal([]);
      }
      expect(errors).to.deep.equal([]);
      expect(foreign).to.deep.equal([]);
      await page.context().close();
    });
  }

  it('show the API without requests to other hosts', async () => {
    const { page, errors, foreign } = await watchedPage(browser!, web.url);
    await page.goto(`${web.url}/docs`);
    await page.getByText('Submit a study').first().waitFor();
    expect(errors).to.deep.equal([]);
    expect(foreign).to.deep.equal([]);
    await page.context().close();
  });

  it('have a policy that blocks inline scripts', async () => {
    for (const path of ['/', '/docs/']) {
      const response = await fetch(web.url + path);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).to.include("script-src 'self'").and.include("default-src 'none'").and.not.include('unsafe');
      const html = await response.text();
      expect(html).to.not.match(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/);
    }
  });

  it('are cached for ever with a hash in the name, and revalidated otherwise', async () => {
    const html = await (await fetch(web.url)).text();
    const asset = /\/assets\/[^"]+\.js/.exec(html)?.[0] ?? '';
    const cached = async (path: string): Promise<string | null> =>
      (await fetch(web.url + path)).headers.get('cache-control');
    expect(await cached(asset)).to.equal('public, max-age=31536000, immutable');
    expect(await cached('/')).to.equal('no-cache');
  });

  for (const path of [
    '/assets/..%2f..%2fpackage.json',
    '/assets/none.js',
    '/docs/../package.json',
    '/assets/.hidden',
    '/index.htm',
  ]) {
    it(`have nothing at ${path}`, async () => {
      const response = await fetch(web.url + path);
      expect(response.status).to.equal(404);
      expect(response.headers.get('content-type')).to.include('problem+json');
    });
  }
});
