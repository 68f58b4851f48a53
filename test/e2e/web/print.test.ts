/** Pages of the dashboard on paper, as Chromium prints them from the dark theme: their words, whole and none over another. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Uuid } from '../../../src/contract/types.ts';
import { descent, descentStudy } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';
import { skipWithout, withoutProgram } from '../support.ts';

interface Word {
  page: number;
  text: string;
  box: readonly [left: number, top: number, right: number, bottom: number];
}

/** The words of a PDF file with their boxes in points. */
function wordsIn(file: string): Word[] {
  const html = execFileSync('pdftotext', ['-bbox', file, '-'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  return html
    .split('<page ')
    .slice(1)
    .flatMap((text, page) =>
      [...text.matchAll(/<word xMin="(.+?)" yMin="(.+?)" xMax="(.+?)" yMax="(.+?)">(.*?)<\/word>/g)].map((it) => ({
        page,
        text: it[5]!,
        box: [Number(it[1]), Number(it[2]), Number(it[3]), Number(it[4])] as const,
      })),
    );
}

/** Pairs of words of which one covers more than a quarter of the other. */
function overprinted(words: readonly Word[]): string[] {
  const area = ([left, top, right, bottom]: Word['box']): number =>
    Math.max(0, right - left) * Math.max(0, bottom - top);
  const found: string[] = [];
  for (const [at, a] of words.entries())
    for (const b of words.slice(at + 1)) {
      if (a.page !== b.page) continue;
      const shared = area([
        Math.max(a.box[0], b.box[0]),
        Math.max(a.box[1], b.box[1]),
        Math.min(a.box[2], b.box[2]),
        Math.min(a.box[3], b.box[3]),
      ]);
      if (shared > 0.25 * Math.min(area(a.box), area(b.box))) found.push(`${a.text} / ${b.text}`);
    }
  return found;
}

describe('web: print', () => {
  const suite = webSuite({ id: 'lab-1', places: 20, runMs: 5, outcome: descent });
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-print-'));
  let batchId: Uuid;
  let rerunId: Uuid;

  before(async function () {
    skipWithout(this, withoutProgram('pdftotext'));
    batchId = await suite.completed({
      ...descentStudy('printed', 120),
      requirements: [{ name: 'lands near its target', output: 'miss_distance', condition: '< 1000', probability: 0.9 }],
    });
    rerunId = await suite.completed(descentStudy('printed again', 120));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Prints a page on A4; returns its words, and the text in the layout of the page. */
  async function printed(page: Page, name: string): Promise<{ words: Word[]; text: string }> {
    await page.waitForLoadState('networkidle');
    await page.locator('.skeleton').waitFor({ state: 'detached' });
    await page.locator('section[aria-label=Answer]').waitFor();
    const file = join(folder, `${name}.pdf`);
    writeFileSync(file, await page.pdf({ format: 'A4', printBackground: false }));
    const text = execFileSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8' });
    return { words: wordsIn(file), text };
  }

  async function opened(address: string): Promise<Page> {
    const { page } = await suite.open(address, { colorScheme: 'dark' });
    return page;
  }

  it('has the answer, the requirements and the states of a study, and no controls', async () => {
    const page = await opened(`batches/${batchId}`);
    await page.getByText('lands near its target').first().waitFor();
    const { words, text } = await printed(page, 'overview');
    const flat = text.replaceAll(/\s+/g, ' ');
    expect(flat).to.include('printed').and.include('lands near its target').and.include('miss_distance');
    expect(flat).to.match(/Completed 1?\d\d/);
    for (const control of ['Extend', 'Study file', 'Search', 'Spot check', 'Rerun failed'])
      expect(flat).not.to.include(control);
    expect(overprinted(words)).to.deep.equal([]);
  });

  it('has the runs on the screen and the comparison, none of their words over another', async () => {
    const runs = await opened(`batches/${batchId}/runs`);
    await runs.getByText('120 runs').first().waitFor();
    const table = await printed(runs, 'runs');
    expect(table.text).to.match(/#0\s+\S*Completed|#0\s+\S*Failed/);
    expect(overprinted(table.words)).to.deep.equal([]);
    await runs.close();
    const compared = await opened(`batches/${batchId}/compare?with=${rerunId}`);
    await compared.getByText(/^Configuration: /).waitFor();
    const comparison = await printed(compared, 'compare');
    expect(comparison.text).to.include('Runs in both');
    expect(overprinted(comparison.words)).to.deep.equal([]);
  });

  it('is dark on light', async () => {
    const page = await opened(`batches/${batchId}`);
    await page.locator('.panel').first().waitFor();
    await page.evaluate("document.documentElement.dataset.theme = 'dark'");
    await page.emulateMedia({ media: 'print' });
    const [text, paper] = await page.evaluate<[string, string]>(
      "[getComputedStyle(document.querySelector('h1')).color, getComputedStyle(document.querySelector('.panel')).backgroundColor]",
    );
    expect([text, paper]).to.deep.equal(['rgb(24, 32, 43)', 'rgb(255, 255, 255)']);
  });
});
