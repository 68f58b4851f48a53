/** Every page in a real browser: no violation that axe finds, no foreign request, no error, no overflow on a phone. */
import { expect } from 'chai';
import type { Uuid } from '../../../src/contract/types.ts';
import { meaningOf } from '../../../src/base/text/lexicon.ts';
import { requireClean } from '../../support/clean-page.ts';
import { descent, descentStudy, scriptedRunner } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

describe('web: pages', () => {
  const suite = webSuite({ id: 'lab-1', places: 40, runMs: 10, outcome: descent });
  let batchId: Uuid;
  let failedId: Uuid;
  let rerunId: Uuid;
  let waitingId: Uuid;

  before(async () => {
    const gone = await scriptedRunner(suite.web.coordinator, { id: 'gone-1', places: 1, runMs: 10, outcome: descent });
    await gone.stop();
    await suite.web.coordinator.signOff('gone-1', { instance: 'script-gone-1' });
    batchId = await suite.completed(descentStudy('axe study', 120));
    for await (const chunk of (await suite.web.coordinator.jobs({ batch_id: [batchId], status: ['Failed'] })).chunks) {
      failedId ??= chunk[0]!.id;
    }
    rerunId = (await suite.web.coordinator.rerunBatch(batchId, { select: { states: ['Failed'] } })).batch_id;
    waitingId = (
      await suite.web.coordinator.submit(
        descentStudy('waits', 10, { container: { image: 'none', cpu_request: '64', memory_request: '0' } }),
      )
    ).batch_id;
    await suite.web.coordinator.reportLauncher({
      launcher: 'lab',
      poll_seconds: 3_600,
      problems: [],
      queues: [
        {
          name: 'main',
          engine: 'slurm',
          max: 4,
          counts: { Queued: 1, Busy: 2 },
          why: ['4 runs of rocket wait: submits 1 allocation for 4 runs each'],
        },
      ],
      unserved: [],
      allocations: [{ allocation: 'slurm/main/a1b2c3d4e5f6', queue: 'main', state: 'Queued', reason: 'Resources' }],
    });
  });

  const PAGES: [name: string, address: () => string, shows: string | RegExp][] = [
    ['studies', () => '#/batches', 'axe study'],
    ['overview of a study', () => `#/batches/${batchId}`, /^Failures: /],
    ['runs', () => `#/batches/${batchId}/runs`, '120 runs'],
    ['filtered runs', () => `#/batches/${batchId}/runs?status=Failed&where=gust_sped > 1`, /did you mean/],
    ['explore', () => `#/batches/${batchId}/explore?select=p.gust_speed:5..30`, /runs selected/],
    [
      'other plots',
      () => `#/batches/${batchId}/explore?cards=box,parallel,statistics&colour=p.gust_speed&log=p.gust_speed`,
      /All 120 runs/,
    ],
    ['comparison', () => `#/batches/${batchId}/compare?with=${rerunId}`, /^Configuration: /],
    ['study', () => `#/batches/${batchId}/study`, '20260301'],
    ['run', () => `#/jobs/${failedId}`, 'Why it failed'],
    ['pool', () => '#/runners', 'Forget'],
    ['runner', () => '#/runners/lab-1', /^Latest attempts/],
    ['inspector of a run', () => `#/inspect/job/${failedId}`, /^FAIL: Running → /],
    ['inspector of a runner', () => '#/inspect/runner/lab-1', 'No transition at this step.'],
    ['inspector of a study', () => `#/inspect/batch/${batchId}`, 'No transition at this step.'],
    ['inspector of the supervisor', () => '#/inspect', 'All statecharts'],
    ['job machine of a study', () => `#/machines/job?study=${batchId}`, 'Totals of all 120 runs'],
    ['batch machine', () => '#/machines/batch', 'overAndCancelled'],
    ['runner machine', () => '#/machines/runner', 'takesOver'],
    ['supervisor machine', () => '#/machines/supervisor', 'WRITE_FAILED'],
    ['attempt machine', () => '#/machines/attempt', 'One execution of a run, as its runner sees it'],
    ['allocation machine', () => '#/machines/allocation', 'submits 1 allocation'],
    ['submit', () => '#/submit', 'Add a parameter'],
  ];
  // Colours follow from the scheme and places from the width: each scheme, and each width.
  const LOOKS = [
    { name: '1280x800, light', options: { colorScheme: 'light', viewport: { width: 1280, height: 800 } } },
    { name: '1920x1080, dark', options: { colorScheme: 'dark', viewport: { width: 1920, height: 1080 } } },
    { name: '390x844, dark', options: { colorScheme: 'dark', viewport: { width: 390, height: 844 } } },
  ] as const;

  for (const { name: look, options } of LOOKS) {
    it(`are accessible, quiet, within their width, and nothing is clipped: ${look}`, async () => {
      const { page, errors, foreign } = await suite.page(options);
      for (const [name, address, shows] of PAGES) {
        await page.goto(`${suite.web.url}/${address()}`);
        // The title of an edge of a statechart has the words of its label, and is never visible.
        await page.getByText(shows).filter({ visible: true }).first().waitFor();
        await requireClean(page, name);
      }
      // The refused filter is an answer of the coordinator.
      expect(errors.filter((it) => !it.includes('400'))).to.deep.equal([]);
      expect(foreign).to.deep.equal([]);
    });

    it(`have dialogs that are accessible and not clipped: ${look}`, async () => {
      const { page, errors } = await suite.page(options);
      await page.goto(`${suite.web.url}/#/batches/${waitingId}`);
      const dialog = page.locator('dialog[open]');
      const close = async (): Promise<void> => {
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      };
      for (const name of ['Cancel', 'Pause', 'Extend']) {
        await page.getByRole('button', { name, exact: true }).click();
        await dialog.waitFor();
        await requireClean(page, `the dialog ${name}`);
        await close();
      }
      await page.keyboard.press('?');
      await dialog.waitFor();
      await requireClean(page, 'the list of keys');
      await close();
      await page.keyboard.press('Control+k');
      await page.getByRole('option').first().waitFor();
      await requireClean(page, 'the palette');
      await close();
      await page.getByText('Export').click();
      // The list finds its side after it has opened.
      await page.waitForTimeout(150);
      await requireClean(page, 'the open menu');
      await page.goto(`${suite.web.url}/#/batches/${batchId}/runs`);
      for (const run of [1, 2]) await page.getByRole('checkbox', { name: `Select run ${run}`, exact: true }).check();
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      await page.getByRole('region', { name: 'Runs side by side' }).waitFor();
      await requireClean(page, 'runs side by side');
      await close();
      await page.getByText(/^Columns/).click();
      await page.waitForTimeout(150);
      await requireClean(page, 'the choice of columns');
      await page.goto(`${suite.web.url}/#/runners`);
      await page.getByRole('button', { name: 'Drain lab-1' }).click();
      await dialog.waitFor();
      await requireClean(page, 'the question before a drain');
      expect(errors).to.deep.equal([]);
    });
  }

  it('say what a word means at its headings, the columns of tables and the names of figures', async () => {
    const { page } = await suite.page();
    const meant = async (address: string, selector: string, text: string): Promise<string | null> => {
      await page.goto(`${suite.web.url}/${address}`);
      return page.locator(selector).filter({ hasText: text }).first().getAttribute('title');
    };
    expect(await meant(`#/batches/${batchId}/compare?with=${rerunId}`, 'dt', 'Runs in both')).to.equal(
      meaningOf('run'),
    );
    expect(await meant('#/runners', 'th', 'Runner')).to.equal(meaningOf('runner'));
    expect(await meant('#/submit', '.panel h2', 'Requirements')).to.equal(meaningOf('requirement'));
    expect(await meant('#/submit', '.panel h2', 'Preview')).to.equal(null);
  });

  it('have tables that fit a phone, but for the statistics of all outputs', async () => {
    const { page } = await suite.page({ viewport: { width: 390, height: 844 } });
    const wide: string[] = [];
    for (const [name, address, shows] of PAGES.filter(([it]) => !it.includes('machine'))) {
      await page.goto(`${suite.web.url}/${address()}`);
      await page.getByText(shows).first().waitFor();
      const found = await page.evaluate<string[]>(
        "[...document.querySelectorAll('.scroll')].filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.getAttribute('aria-label'))",
      );
      wide.push(...found.map((it) => `${name}: ${it}`));
    }
    // A statechart keeps a size that can be read.
    const allowed = /: (Statistics of the outputs|Statechart of .*, scrollable)$/;
    expect(wide.filter((it) => !allowed.test(it))).to.deep.equal([]);
  });

  it('show the API without requests to other hosts', async () => {
    const { page, errors, foreign } = await suite.page();
    await page.goto(`${suite.web.url}/docs`);
    await page.getByText('Submit a study').first().waitFor();
    expect(errors).to.deep.equal([]);
    expect(foreign).to.deep.equal([]);
  });

  it('have a policy that blocks inline scripts', async () => {
    for (const path of ['/', '/docs/']) {
      const response = await fetch(suite.web.url + path);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).to.include("script-src 'self'").and.include("default-src 'none'").and.not.include('unsafe');
      const html = await response.text();
      expect(html).to.not.match(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/);
    }
  });

  it('are cached for ever with a hash in the name, and revalidated otherwise', async () => {
    const html = await (await fetch(suite.web.url)).text();
    const asset = /\/assets\/[^"]+\.js/.exec(html)?.[0] ?? '';
    const cached = async (path: string): Promise<string | null> =>
      (await fetch(suite.web.url + path)).headers.get('cache-control');
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
      const response = await fetch(suite.web.url + path);
      expect(response.status).to.equal(404);
      expect(response.headers.get('content-type')).to.include('problem+json');
    });
  }
});
