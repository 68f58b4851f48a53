/** The browser's notification at the end of a study: with the permission, on a page that is not seen, once. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { descent, descentStudy } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

interface Shown {
  title: string;
  body: string;
}

/** Records the notifications that the page shows, and lets a test hide the page. The permission stays the browser's own. */
const RECORD = `
  window.shown = [];
  window.Notification = new Proxy(window.Notification, {
    construct(target, args) {
      const made = Reflect.construct(target, args);
      window.shown.push({ title: made.title, body: made.body });
      window.made = made;
      return made;
    },
  });
  window.isHidden = false;
  Object.defineProperty(document, 'hidden', { get: () => window.isHidden });
`;

describe('web: the notification at the end of a study', () => {
  const suite = webSuite({ id: 'lab-1', places: 4, runMs: 5, outcome: descent }, { isLight: false });

  async function open(name: string, permissions: string[]): Promise<{ page: Page; errors: string[]; batch: string }> {
    const { coordinator, url } = suite.web;
    const { batch_id: batch } = await coordinator.submit(descentStudy(name, 8));
    await coordinator.pauseBatch(batch);
    const { page, errors } = await suite.page({ permissions });
    await page.addInitScript(RECORD);
    await page.goto(`${url}/#/batches/${batch}`);
    await page.getByRole('heading', { name }).waitFor();
    return { page, errors, batch };
  }
  const shown = (page: Page): Promise<Shown[]> => page.evaluate<Shown[]>('window.shown');
  const hide = (page: Page): Promise<unknown> => page.evaluate('window.isHidden = true');
  const ended = async (page: Page): Promise<void> => {
    while (!(await page.title()).startsWith('Not OK: ')) await page.waitForTimeout(50);
  };

  it('is shown once when the study ends on a page that is not seen', async () => {
    const { page, errors, batch } = await open('not seen', ['notifications']);
    expect(await page.evaluate('Notification.permission')).to.equal('granted');
    expect(await page.getByRole('button', { name: 'Notify me' }).count()).to.equal(0);
    await hide(page);
    await suite.web.coordinator.resumeBatch(batch);
    await ended(page);
    expect(await shown(page)).to.deep.equal([
      { title: 'not seen', body: 'Not OK: 1 of 8 runs did not complete: 1 run crashed.' },
    ]);
    await page.reload();
    await page.getByRole('heading', { name: 'not seen' }).waitFor();
    await hide(page);
    await page.waitForTimeout(300);
    expect(await shown(page), 'a study that had ended before').to.deep.equal([]);
    expect(errors).to.deep.equal([]);
  });

  it('brings the page to the front when it is clicked', async () => {
    const { page, batch } = await open('clicked', ['notifications']);
    await hide(page);
    await suite.web.coordinator.resumeBatch(batch);
    await ended(page);
    await page.evaluate('window.focused = 0; window.focus = () => (window.focused += 1)');
    await page.evaluate('window.made.dispatchEvent(new Event("click"))');
    expect(await page.evaluate('window.focused')).to.equal(1);
  });

  it('is not shown on a page that is seen', async () => {
    const { page, batch } = await open('seen', ['notifications']);
    await suite.web.coordinator.resumeBatch(batch);
    await ended(page);
    expect(await shown(page)).to.deep.equal([]);
  });

  it('is not shown without the permission, which a button asks for', async () => {
    const { page, batch } = await open('not allowed', []);
    // Headless browsers refuse without asking; a browser with a window asks its user.
    const permission = await page.evaluate<string>('Notification.permission');
    expect(permission).not.to.equal('granted');
    const button = page.getByRole('button', { name: 'Notify me' });
    if (permission === 'default') await button.waitFor();
    else expect(await button.count()).to.equal(0);
    await hide(page);
    await suite.web.coordinator.resumeBatch(batch);
    await ended(page);
    expect(await shown(page)).to.deep.equal([]);
  });
});
