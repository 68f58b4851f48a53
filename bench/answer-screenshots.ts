/**
 * Makes a picture of the page of a study for each answer, light and dark, with a contact sheet:
 * `node dist/bench/answer-screenshots.js [FOLDER]`, `answers` without one. Prints level, sentence and title of each.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Assignment, BatchSubmission, Uuid } from '../src/contract/types.ts';
import { openBrowser } from '../test/support/browser.ts';
import { descent, descentStudy, scriptedRunner, startWeb, type Outcome } from '../test/support/web-server.ts';
import { contactSheet } from './support/contact-sheet.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const folder = process.argv[2] ?? 'answers';
const browser = await openBrowser();
if (browser === undefined) throw new Error('screenshots need chromium: apt-get install chromium');
const web = await startWeb();
const { coordinator } = web;

/** A study whose module is missing fails in every run. */
const outcome = (assignment: Assignment): Outcome =>
  assignment.job.run_config.metadata.simulation_name === 'broken'
    ? {
        reason: 'exit',
        message:
          'Traceback (most recent call last):\n  File "/opt/descent/main.py", line 3, in <module>\n    import aero\nModuleNotFoundError: No module named \'aero\'',
      }
    : descent(assignment);
const runner = await scriptedRunner(coordinator, { id: 'lab-07', places: 16, runMs: 20, outcome });

function study(name: string, runs: number, probability: number, compute = {}, limit = 25): BatchSubmission {
  const made = descentStudy(name, runs, compute);
  // The scripted runner reports no telemetry: a limit would be a finding on every picture.
  made.config.early_termination = { ...made.config.early_termination, enabled: false };
  made.config.telemetry.variables = [];
  return {
    ...made,
    requirements: [
      { name: 'lands in the area', output: 'miss_distance', condition: `<= ${limit}`, probability },
      { name: 'soft touchdown', output: 'touchdown_speed', condition: '< 12', probability: 0.8 },
    ],
    outputs: { miss_distance: { units: 'm' }, touchdown_speed: { units: 'm/s' } },
  };
}

async function submitted(submission: BatchSubmission): Promise<Uuid> {
  return (await coordinator.submit(submission)).batch_id;
}
async function ended(submission: BatchSubmission): Promise<Uuid> {
  const id = await submitted(submission);
  for (;;) {
    const { status } = (await coordinator.batch(id)).batch;
    if (status !== 'Pending' && status !== 'Running') return id;
    await pause(100);
  }
}

const broken = study('the module is missing', 420, 0.9);
broken.config.simulation.name = 'broken';
const large = { container: { image: 'none', cpu_request: '64', memory_request: '1Gi' } };
const studies: Record<string, Uuid> = {
  met: await ended(study('descent, baseline', 600, 0.8)),
  violated: await ended(study('descent, stronger gusts', 600, 0.99, {}, 12)),
  'not-enough': await ended(study('descent, first look', 12, 0.8)),
  crashed: await ended(broken),
};
studies['blocked'] = await submitted(study('chute variant C', 60, 0.9, large));
const cancelled = await submitted(study('descent, old chute', 6_000, 0.9));
await pause(2_000);
await coordinator.cancelBatch(cancelled, 'the chute model is wrong');
studies['cancelled'] = cancelled;
studies['running'] = await submitted(study('descent, long', 40_000, 0.9));
await pause(2_000);

await mkdir(folder, { recursive: true });
const paths: string[] = [];
for (const [name, id] of Object.entries(studies))
  for (const theme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, colorScheme: theme });
    const page = await context.newPage();
    await page.goto(`${web.url}/#/batches/${id}`);
    const line = page.locator('.answer');
    while ((await line.textContent({ timeout: 30_000 })) === '…') await pause(100);
    await pause(1_500);
    const path = join(folder, `${name}-${theme}.png`);
    await page.screenshot({ path });
    paths.push(path);
    if (theme === 'light') console.log(`${name}: ${await line.textContent()}\n  title: ${await page.title()}`);
    await context.close();
  }
await contactSheet(browser, paths, join(folder, 'contact-sheet.png'));
console.log(`${paths.length} pictures in ${folder}`);
await browser.close();
await runner.stop();
await web.close();
