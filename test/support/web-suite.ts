/** The hooks of a suite in the browser: a browser, a coordinator with the dashboard, and a scripted runner where one is wanted. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { BatchSubmission, Uuid } from '../../src/contract/types.ts';
import { openBrowser, watchedPage, type WatchedPage } from './browser.ts';
import { scriptedRunner, startWeb, type ScriptedRunner, type ScriptOptions, type WebServer } from './web-server.ts';

export interface WebSuite {
  /** Only in hooks and tests. */
  readonly web: WebServer;
  /** A page in a context of its own. */
  page(options?: BrowserContextOptions): Promise<WatchedPage>;
  /** Submits a study and waits until all its runs have ended. */
  completed(study: BatchSubmission): Promise<Uuid>;
}

const LOOK_MS = 30;

/**
 * Registers the hooks of the suite that is being described; it is skipped without a browser.
 * @param script of the runner; a function where it depends on the server.
 */
export function webSuite(script?: ScriptOptions | ((web: WebServer) => ScriptOptions)): WebSuite {
  let browser: Browser | undefined;
  let web: WebServer | undefined;
  let runner: ScriptedRunner | undefined;

  before(async function () {
    browser = await openBrowser();
    if (browser === undefined) return this.skip();
    web = await startWeb();
    if (script === undefined) return;
    runner = await scriptedRunner(web.coordinator, typeof script === 'function' ? script(web) : script);
  });
  after(async () => {
    await browser?.close();
    await runner?.stop();
    await web?.close();
  });

  const suite: WebSuite = {
    get web() {
      if (web === undefined) throw new Error('the hooks of the suite have not run');
      return web;
    },
    page: (options) => watchedPage(browser!, suite.web.url, options),
    async completed(study) {
      const { coordinator } = suite.web;
      const { batch_id } = await coordinator.submit(study);
      while ((await coordinator.batch(batch_id)).batch.status !== 'Completed')
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      return batch_id;
    },
  };
  return suite;
}
