/** Makes the pictures in docs/images from the real pages over a real coordinator: `npm run screenshots`. */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../src/base/package.ts';
import { openBrowser } from '../test/support/browser.ts';
import { descent, descentStudy, scriptedRunner, startWeb } from '../test/support/web-server.ts';

const folder = join(packageRoot, 'docs/images');
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const browser = await openBrowser();
if (browser === undefined) throw new Error('screenshots need chromium: apt-get install chromium');
await mkdir(folder, { recursive: true });
const web = await startWeb();
const runners = [
  await scriptedRunner(web.coordinator, { id: 'lab-07', places: 8, runMs: 60, outcome: descent, tags: ['lab'] }),
  await scriptedRunner(web.coordinator, { id: 'lab-08', places: 16, runMs: 90, outcome: descent, tags: ['lab'] }),
  await scriptedRunner(web.coordinator, { id: 'ws-anna', name: 'Anna, desk', places: 4, runMs: 90, outcome: descent }),
];
const gone = await scriptedRunner(web.coordinator, { id: 'ws-ben', places: 4, runMs: 90, outcome: descent });
const done = (await web.coordinator.submit(descentStudy('descent, baseline', 2_000))).batch_id;
while ((await web.coordinator.batch(done)).batch.status !== 'Completed') await pause(200);
await web.coordinator.drain('ws-anna', 'memory being replaced');
await gone.stop();
await web.coordinator.signOff('ws-ben', { instance: 'script-ws-ben' });
await web.coordinator.submit(descentStudy('descent, stronger gusts', 20_000));
const waiting = { container: { image: 'none', cpu_request: '64', memory_request: '1Gi' } };
await web.coordinator.submit(descentStudy('chute variant C', 60, waiting));
let failed = '';
for await (const chunk of (await web.coordinator.jobs({ batch_id: [done], status: ['Failed'] })).chunks) {
  failed ||= chunk[0]?.id ?? '';
}
await pause(2_000);

interface Picture {
  name: string;
  address: string;
  theme: 'light' | 'dark';
  width?: number;
  height: number;
}
const PICTURES: Picture[] = [
  { name: 'batches', address: '#/batches', theme: 'light', height: 420 },
  { name: 'batch', address: `#/batches/${done}`, theme: 'light', height: 830 },
  {
    name: 'distributions',
    address: `#/batches/${done}/plots?select=p.gust_speed:10..40`,
    theme: 'dark',
    height: 1_020,
  },
  { name: 'runs', address: `#/batches/${done}/runs?status=Failed&sort=-p.gust_speed`, theme: 'light', height: 760 },
  { name: 'run', address: `#/jobs/${failed}`, theme: 'light', height: 800 },
  { name: 'runners', address: '#/runners', theme: 'dark', height: 790 },
  { name: 'machine', address: `#/machines/job/${failed}`, theme: 'light', height: 900 },
  { name: 'machine-runner', address: '#/machines/runner', theme: 'dark', height: 1_180 },
  { name: 'submit', address: '#/submit', theme: 'light', height: 860 },
  { name: 'phone', address: `#/batches/${done}`, theme: 'dark', width: 390, height: 844 },
];

for (const { name, address, theme, width = 1_280, height } of PICTURES) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
  const page = await context.newPage();
  await page.goto(`${web.url}/${address}`);
  if (name === 'submit') {
    const buffer = Buffer.from(JSON.stringify(descentStudy('descent, from a file', 500)));
    await page.locator('input[type=file]').setInputFiles({ name: 'study.yaml', mimeType: 'text/yaml', buffer });
  }
  await pause(name === 'runners' ? 6_000 : 2_000);
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path });
  console.log(`${path}: ${Math.round((await stat(path)).size / 1024)} kB`);
  await context.close();
}

await browser.close();
for (const runner of runners) await runner.stop();
await web.close();
