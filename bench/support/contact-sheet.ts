/** A sheet of pictures with their names, to be looked at. */
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';

/** All pictures of a list on one sheet, with their names. */
export async function contactSheet(opened: Browser, paths: readonly string[], path: string): Promise<void> {
  const page = await opened.newPage({ viewport: { width: 1_600, height: 900 } });
  const figures = await Promise.all(
    paths.map(async (it) => {
      const data = (await readFile(it)).toString('base64');
      const name = it.slice(it.lastIndexOf('/') + 1, -4);
      return `<figure><img src="data:image/png;base64,${data}"><figcaption>${name}</figcaption></figure>`;
    }),
  );
  const style =
    'body{margin:16px;display:grid;grid-template-columns:repeat(4,1fr);gap:14px;font:13px system-ui;background:#fff;align-items:start}figure{margin:0}img{max-width:100%;max-height:380px;border:1px solid #b9c1cc}';
  await page.setContent(`<style>${style}</style>${figures.join('')}`);
  await page.screenshot({ path, fullPage: true });
  await page.close();
}
