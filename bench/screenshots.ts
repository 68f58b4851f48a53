/**
 * Makes the pictures of docs/images from the real pages over a real coordinator: `npm run screenshots`. With a folder as its
 * argument it writes every page in all sizes and themes there instead, to be looked at.
 */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../src/base/package.ts';
import { openBrowser } from '../test/support/browser.ts';
import { descentStudy } from '../test/support/web-server.ts';
import { contactSheet } from './support/contact-sheet.ts';
import { dashboardScene, type DashboardScene } from './support/dashboard-scene.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Look {
  theme: 'light' | 'dark';
  width: number;
  height: number;
}
interface Picture extends Look {
  name: string;
  address: string;
}

const SIZES = [
  [1_280, 800],
  [1_920, 1_080],
  [390, 844],
] as const;

/** Every page of the dashboard. */
const pagesOf = (it: DashboardScene): Record<string, string> => ({
  studies: '#/batches',
  overview: `#/batches/${it.done}`,
  running: `#/batches/${it.running}`,
  blocked: `#/batches/${it.blocked}`,
  rocket: `#/batches/${it.rocket}`,
  runs: `#/batches/${it.done}/runs?where=gust_speed > 15 and state:failed&sort=-p.gust_speed`,
  explore: `#/batches/${it.done}/explore?select=p.gust_speed:10..`,
  compare: `#/batches/${it.done}/compare?with=${it.running}`,
  study: `#/batches/${it.done}/study`,
  run: `#/jobs/${it.failedRun}`,
  telemetry: `#/jobs/${it.endedRun}`,
  pool: '#/runners',
  runner: '#/runners/lab-07',
  inspector: `#/inspect/job/${it.failedRun}`,
  'machine-runner': '#/machines/runner',
  submit: '#/submit',
  api: 'docs/',
});

const browser = await openBrowser();
if (browser === undefined) throw new Error('screenshots need chromium: apt-get install chromium');
const scene = await dashboardScene();
const pages = pagesOf(scene);

/** Writes one picture and returns its path. */
async function take(folder: string, { name, address, theme, width, height }: Picture): Promise<string> {
  const context = await browser!.newContext({ viewport: { width, height }, colorScheme: theme });
  const page = await context.newPage();
  await page.goto(`${scene.web.url}/${address}`);
  if (name.startsWith('submit')) {
    const buffer = Buffer.from(JSON.stringify(descentStudy('descent, from a file', 500)));
    await page.locator('input[type=file]').setInputFiles({ name: 'study.yaml', mimeType: 'text/yaml', buffer });
  }
  if (name.startsWith('telemetry')) await page.getByRole('button', { name: 'Compare with the other runs' }).click();
  await pause(address === '#/runners' ? 6_000 : 2_500);
  // On a busy machine the answers take longer.
  await page.locator('p.answer:not([role])').waitFor({ state: 'detached' });
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path });
  await context.close();
  return path;
}

const folder = process.argv[2];
if (folder === undefined) {
  const images = join(packageRoot, 'docs/images');
  await mkdir(images, { recursive: true });
  const light = { theme: 'light', width: 1_280, height: 800 } as const;
  const pictures: Picture[] = [
    { ...light, name: 'studies', address: pages['studies']!, height: 480 },
    { ...light, name: 'overview', address: pages['overview']! },
    { ...light, name: 'explore', address: pages['explore']!, theme: 'dark', height: 1_000 },
    { ...light, name: 'runs', address: pages['runs']!, height: 620 },
    { ...light, name: 'compare', address: pages['compare']!, height: 1_480 },
    { ...light, name: 'run', address: pages['run']! },
    { ...light, name: 'telemetry', address: pages['telemetry']!, height: 760 },
    { ...light, name: 'pool', address: pages['pool']!, theme: 'dark' },
    { ...light, name: 'inspector', address: pages['inspector']!, width: 1_440, height: 900 },
    { ...light, name: 'machine-runner', address: pages['machine-runner']!, theme: 'dark', height: 1_180 },
    { ...light, name: 'submit', address: pages['submit']!, height: 860 },
    { ...light, name: 'phone', address: pages['overview']!, theme: 'dark', width: 390, height: 844 },
  ];
  for (const it of pictures) {
    const path = await take(images, it);
    console.log(`${path}: ${Math.round((await stat(path)).size / 1024)} kB`);
  }
  await contactSheet(
    browser,
    pictures.map(({ name }) => join(images, `${name}.png`)),
    join(images, 'contact-sheet.png'),
  );
} else {
  await mkdir(folder, { recursive: true });
  const paths: string[] = [];
  for (const [name, address] of Object.entries(pages))
    for (const [width, height] of SIZES)
      for (const theme of ['light', 'dark'] as const)
        paths.push(await take(folder, { name: `${name}-${width}-${theme}`, address, theme, width, height }));
  await contactSheet(browser, paths, join(folder, 'contact-sheet.png'));
  console.log(`${paths.length} pictures in ${folder}`);
}

await browser.close();
await scene.close();
