/** Debian's chromium, for tests that look at pages. Skips the suite where it is missing. */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page, type Request } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The browser, or undefined where there is none and that is allowed. */
export async function openBrowser(): Promise<Browser | undefined> {
  const executablePath = PATHS.find((it) => existsSync(it));
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

/** A page that remembers what it should not have done. */
export async function watchedPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
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
