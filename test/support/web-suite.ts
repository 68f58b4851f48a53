/** The hooks of a suite in the browser: a browser, a coordinator with the dashboard, and a runner where one is wanted. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { Client } from '../../src/client/client.ts';
import type { BatchSubmission, Uuid } from '../../src/contract/types.ts';
import type { JobStatus } from '../../src/contract/enums.ts';
import { jobId } from '../../src/domain/ids.ts';
import { openBrowser, SharedContext, watchedPage, type WatchedPage } from './browser.ts';
import { Site } from './runner-process.ts';
import {
  scriptedRunner,
  startWeb,
  type ScriptedRunner,
  type ScriptOptions,
  type WebOptions,
  type WebServer,
} from './web-server.ts';

export interface WebSuite {
  /** Only in hooks and tests. */
  readonly web: WebServer;
  /** A page that finds nothing of another one, as in a context of its own. A page of a test closes with the test. */
  readonly page: (options?: BrowserContextOptions) => Promise<WatchedPage>;
  /** Such a page at an address of the dashboard, such as `runners`. */
  readonly open: (address: string, options?: BrowserContextOptions) => Promise<WatchedPage>;
  /** Submits a study and waits until all its runs have ended. */
  readonly completed: (study: BatchSubmission) => Promise<Uuid>;
}

export interface RunnerSuite extends WebSuite {
  /** The folder and the processes of real runners. */
  readonly site: Site;
  readonly client: Client;
  /** Submits a study of one run and resolves with its job once this has one of these states. */
  until(study: BatchSubmission, ...states: readonly JobStatus[]): Promise<Uuid>;
}

const LOOK_MS = 60;

/**
 * Registers the hooks of the suite that is being described; it is skipped without a browser.
 * @param script of the runner; a function where it depends on the server.
 * @param options of the coordinator and its dashboard; `isLight`: its browser has no notifications.
 */
export function webSuite(
  script?: ScriptOptions | ((web: WebServer) => ScriptOptions),
  { isLight = true, ...options }: WebOptions & { isLight?: boolean } = {},
): WebSuite {
  let web: WebServer | undefined;
  let runner: ScriptedRunner | undefined;
  const suite = suiteOf(() => web, isLight);
  before(async () => {
    web = await startWeb(options);
    if (script === undefined) return;
    runner = await scriptedRunner(web.coordinator, typeof script === 'function' ? script(web) : script);
  });
  after(async () => {
    await runner?.stop();
    await web?.close();
  });
  return suite;
}

/**
 * Registers the hooks of a suite with real runners, which its tests start.
 * @param options of the coordinator; read when it starts.
 * @param isFresh each test has a coordinator and a folder of its own.
 */
export function runnerSuite({
  options = () => ({}),
  isFresh = false,
}: { options?: () => WebOptions; isFresh?: boolean } = {}): RunnerSuite {
  let web: WebServer | undefined;
  let site: Site | undefined;
  const suite = suiteOf(() => web);
  const [begin, end] = isFresh ? [beforeEach, afterEach] : [before, after];
  begin(async () => {
    web = await startWeb(options());
    site = new Site();
  });
  end(async () => {
    await site?.clean();
    await web?.close();
  });
  const client = (): Client => new Client({ endpoint: suite.web.url });
  return {
    get web() {
      return suite.web;
    },
    page: suite.page,
    open: suite.open,
    completed: suite.completed,
    get site() {
      return present(site);
    },
    get client() {
      return client();
    },
    async until(study, ...states) {
      const job = jobId((await client().submit(study)).batch_id, 0);
      while (!states.includes((await client().job(job)).status))
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      return job;
    },
  };
}

/** With the hooks of the browser. */
function suiteOf(current: () => WebServer | undefined, isLight = true): WebSuite {
  let browser: Browser | undefined;
  let shared: SharedContext | undefined;
  before(async function () {
    browser = await openBrowser(isLight);
    if (browser === undefined) return this.skip();
    shared = new SharedContext(browser);
  });
  const opened: WatchedPage[] = [];
  /** Where the pages of the current test begin, which close with it. */
  let ofTest = 0;
  beforeEach(() => {
    ofTest = opened.length;
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed')
      for (const it of opened) if (!it.page.isClosed()) process.stderr.write(`${await shownOn(it)}\n`);
    for (const { page: own } of opened.splice(ofTest)) await own.close();
  });
  after(() => browser?.close());
  const web = (): WebServer => present(current());
  const page = async (options: BrowserContextOptions = {}): Promise<WatchedPage> => {
    const { url } = web();
    const { viewport, ...others } = options;
    const isPlain = Object.keys(others).length === 0 && viewport !== null;
    const watched =
      (isPlain ? await present(shared).page(url, viewport) : undefined) ??
      (await watchedPage(present(browser), url, options));
    opened.push(watched);
    return watched;
  };
  return {
    get web() {
      return web();
    },
    page,
    async open(address, options) {
      const watched = await page(options);
      await watched.page.goto(`${web().url}/#/${address}`);
      return watched;
    },
    async completed(study) {
      const { coordinator } = web();
      const { batch_id } = await coordinator.submit(study);
      while ((await coordinator.batch(batch_id)).batch.status !== 'Completed')
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      return batch_id;
    },
  };
}

/** Returns the address, the errors, the unanswered requests and the text of a page, for a test that failed. */
async function shownOn({ page, errors, waiting }: WatchedPage): Promise<string> {
  const text = await page.evaluate<string>('document.body.innerText').catch(String);
  const unanswered = [...waiting].map((it) => `waits for ${it.method()} ${it.url()}`);
  const shown = text.replaceAll(/\s*\n\s*/g, ' | ').slice(0, 9_000);
  return [`the page ${page.url()}`, ...errors, ...unanswered, shown].join('\n');
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the hooks of the suite have not run');
  return value;
}
