/** The demands on every page in a browser: accessible, nothing clipped, within the window. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { clippedOn } from './clipped.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** No violation that axe finds, nothing clipped, nothing wider than the window. */
export async function requireClean(page: Page, name: string): Promise<void> {
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  expect(overflow, `${name} is wider than the window`).to.be.at.most(0);
  expect(await clippedOn(page), `clipped on ${name}`).to.deep.equal([]);
  // Through the debugger, which the page's policy does not bind.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
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
