/** Debian's chromium, for tests that look at pages. Skips the suite where it is missing. */
import { existsSync } from 'node:fs';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  type Request,
} from 'playwright-core';

/** The same browser without windows and notifications takes a quarter less of the processor. */
const LIGHT_PATH = '/usr/bin/chromium-headless-shell';
const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Pages of a context share a process where they can: to start one takes most of a second of processor time.
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
];

/**
 * The browser, or undefined where there is none and that is allowed.
 * @param isLight in its light form, where that is installed.
 */
export async function openBrowser(isLight = false): Promise<Browser | undefined> {
  const executablePath = [...(isLight ? [LIGHT_PATH] : []), ...PATHS].find((it) => existsSync(it));
  if (executablePath !== undefined) return chromium.launch({ executablePath, args: FLAGS });
  if (process.env['SIMBATCH_REQUIRE_ALL'] === '1')
    throw new Error(`no browser at ${PATHS.join(', ')}; apt-get install chromium`);
  return undefined;
}

export interface WatchedPage {
  page: Page;
  /** Errors on the console (also of the Content-Security-Policy) and uncaught ones. */
  errors: string[];
  /** Requests to other hosts than the one under test. */
  foreign: string[];
  /** The requests without an end yet. */
  waiting: Set<Request>;
}

/** Shorter than the limit of a test, so that the error says what was waited for; on a busy machine a page takes long. */
const PATIENCE_MS = 240_000;

const VIEWPORT = { width: 1280, height: 900 };

/** A page that remembers what it should not have done, in a context of its own, which ends with it. */
export async function watchedPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: VIEWPORT, ...options });
  const watched = await watchedPageIn(context, url);
  watched.page.once('close', () => void context.close());
  return watched;
}

async function watchedPageIn(context: BrowserContext, url: string): Promise<WatchedPage> {
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const watched: WatchedPage = { page, errors: [], foreign: [], waiting: new Set() };
  const { host } = new URL(url);
  page.on('console', (message) => message.type() === 'error' && watched.errors.push(message.text()));
  page.on('pageerror', (error) => watched.errors.push(error.message));
  page.on('requestfinished', (request) => watched.waiting.delete(request));
  page.on('requestfailed', (request) => watched.waiting.delete(request));
  page.on('request', (request) => {
    watched.waiting.add(request);
    const address = new URL(request.url());
    if (address.host !== host && !['data:', 'blob:'].includes(address.protocol)) watched.foreign.push(request.url());
  });
  page.on('websocket', (socket) => new URL(socket.url()).host !== host && watched.foreign.push(socket.url()));
  return watched;
}

/**
 * One context for the pages of a suite that are open one after the other. Each finds it empty, as a context of its own: but its process and
 * the program of the pages are there already.
 */
export class SharedContext {
  readonly #browser: Browser;
  #context: BrowserContext | undefined;
  /** Keeps the process. */
  #anchor: Page | undefined;
  #current: Page | undefined;

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** The next page; undefined while the one before it is open. */
  async page(url: string, viewport: { width: number; height: number } = VIEWPORT): Promise<WatchedPage | undefined> {
    if (this.#current?.isClosed() === false) return undefined;
    this.#context ??= await this.#browser.newContext({ viewport: VIEWPORT });
    this.#anchor ??= await this.#context.newPage();
    // A page without a program, of this very server.
    await this.#anchor.goto(`${url}/healthz`);
    await this.#context.clearCookies();
    await this.#context.clearPermissions();
    const session = await this.#context.newCDPSession(this.#anchor);
    await session.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes: 'all' });
    await session.detach();
    const watched = await watchedPageIn(this.#context, url);
    await watched.page.setViewportSize(viewport);
    this.#current = watched.page;
    return watched;
  }
}

/** The address as the page itself has it: `page.url()` learns of a change a little later than the elements of the page show it. */
export const addressOf = (page: Page): Promise<string> => page.evaluate<string>('window.location.href');
