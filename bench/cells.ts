/**
 * A study of many cells (arguments: cells of two axes, samples of each; 100 and 1,000): the time of its answers by cell, of its report, and until its page
 * shows the table of cells in a real browser, while the study has ended and after a start of the analysis worker without its columns.
 */
import { openBrowser } from '../test/support/browser.ts';
import { descentStudy, startWeb } from '../test/support/web-server.ts';
import type { ScenarioAxis } from '../src/contract/types.ts';
import { SCENARIOS_FEATURE } from '../src/domain/histories/feature.ts';

const [asked = 100, samples = 1_000] = process.argv.slice(2).map(Number);
const side = Math.round(Math.sqrt(asked));
const levels = (name: string): ScenarioAxis =>
  Object.fromEntries(Array.from({ length: side }, (_, at) => [`${name}${at}`, {}]));

const web = await startWeb();
const { coordinator } = web;
const capabilities = {
  max_concurrent_jobs: 1_000,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
  features: [SCENARIOS_FEATURE],
};
const [id, instance] = ['bench', 'bench'];
await coordinator.register({ id, instance, heartbeat_interval_secs: 60, capabilities });
const submission = descentStudy('cells', samples);
submission.config.monte_carlo.sampling_method = 'monte_carlo';
submission.config.scenarios = { site: levels('s'), wind: levels('w') };
submission.requirements = [
  { name: 'soft', output: 'speed', condition: '< 5', probability: 0.9 },
  { name: 'pooled', output: 'speed', condition: '< 5', probability: 0.9, in: 'pooled' },
];
const { batch_id } = await coordinator.submit(submission);
for (;;) {
  const { assignments } = await coordinator.claim(id, { instance, max_jobs: 1_000, wait_seconds: 0 });
  if (assignments.length === 0) break;
  const about = assignments.map(({ job, attempt }) => ({ job_id: job.id, attempt }));
  await coordinator.reports(id, { instance, reports: about.map((it) => ({ type: 'start' as const, ...it })) });
  const reports = assignments.map(({ job }, at) => {
    const run = job.run_config.run_id;
    const cell = run % (side * side);
    const speed = (run * 7919) % 1_000 < 20 + cell / side ? 9 : 1;
    const result = { execution_time_secs: 1, output_files: [], metadata: { speed } };
    if (run % 50 === 7)
      return { type: 'fail' as const, ...about[at]!, result, reason: 'exit' as const, error_message: 'diverged' };
    return { type: 'complete' as const, ...about[at]!, result };
  });
  await coordinator.reports(id, { instance, reports });
}
const { batch } = await coordinator.batch(batch_id);
console.log(`${side * side} cells, ${batch.total_jobs} runs: ${batch.status}`);

const questions = [
  'verdicts?by=site,wind',
  'summary?by=site,wind',
  'attribution',
  'table?limit=100',
  'verdicts?by=site',
];
for (const question of questions) {
  const [cpu, startedMs] = [process.cpuUsage(), performance.now()];
  const answer = await fetch(`${web.url}/batches/${batch_id}/${question}`);
  const bytes = (await answer.arrayBuffer()).byteLength;
  const { user, system } = process.cpuUsage(cpu);
  const spent = `${Math.round(performance.now() - startedMs)} ms, CPU ${Math.round((user + system) / 1_000)} ms`;
  console.log(`${question}: ${answer.status}, ${spent} of all threads, ${bytes} bytes`);
}
const browser = await openBrowser();
if (browser === undefined) throw new Error('this needs chromium: apt-get install chromium');
for (let round = 0; round < 3; round += 1) {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  const startedMs = performance.now();
  await page.goto(`${web.url}/#/batches/${batch_id}`);
  await page.locator('.study-head .status-bar').waitFor();
  const head = performance.now() - startedMs;
  await page.getByRole('article', { name: 'Requirement soft' }).waitFor({ timeout: 60_000 });
  const shown = `state after ${Math.round(head)} ms, cells after ${Math.round(performance.now() - startedMs)} ms`;
  console.log(`page: ${shown}`);
  const picture = process.env['BENCH_PICTURE'];
  if (round === 2 && picture !== undefined) await page.screenshot({ path: picture, fullPage: true });
  await page.close();
}
await browser.close();
await web.close();
