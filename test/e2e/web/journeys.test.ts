/** Journeys through the dashboard, in a real browser with a real coordinator. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { tableFromIPC } from '@uwdata/flechette';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { Page } from 'playwright-core';
import type { Runner, StudyTransitions } from '../../../src/contract/types.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { parseCondition } from '../../../src/domain/study/condition.ts';
import type { Coordinator } from '../../../src/coordinator/lifecycle.ts';
import { descent, descentStudy, scriptedRunner } from '../../support/web-server.ts';
import { addressOf } from '../../support/browser.ts';
import { webSuite } from '../../support/web-suite.ts';

describe('web: journeys', () => {
  const suite = webSuite({ id: 'lab-1', places: 20, runMs: 20, outcome: descent });

  it('submits a study with the form and follows it to its end', async () => {
    const { page, errors } = await suite.open('submit');
    await page.getByRole('button', { name: /^Submit/ }).click();
    await page.getByText('a study needs a name').waitFor();
    await page.getByLabel('Name of the study').fill('by hand');
    await page.getByLabel(/^Simulation/).fill('descent');
    await page.getByLabel('Runs', { exact: true }).fill('30');
    await page.getByRole('button', { name: 'Add a parameter' }).click();
    await page.getByLabel('std dev').fill('-1');
    await page.getByText('must be >= 0').waitFor();
    await page.getByLabel('std dev').fill('2');
    await page.getByText('Preview of the design').waitFor();
    await page.getByRole('button', { name: 'Submit 30 runs' }).click();
    await page.getByRole('heading', { name: 'by hand' }).waitFor();
    await page
      .getByText('30 of 30')
      .or(page.locator('.title').getByText('100 %', { exact: true }))
      .first()
      .waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('a study with a selection, a correlation and a weighted list is submitted by the form', async () => {
    const { page, errors } = await suite.open('submit');
    await page.getByLabel('Name of the study').fill('selected');
    await page.getByLabel(/^Simulation/).fill('descent');
    await page.getByLabel(/^Selected runs/).fill('9-3');
    await page.getByText('which ends before it begins').waitFor();
    await page.getByLabel(/^Selected runs/).fill('3-6,10-20:5');
    await page.getByRole('button', { name: 'Add a parameter' }).click();
    await page.getByRole('button', { name: 'Add a parameter' }).click();
    await page.getByLabel('Distribution').nth(1).selectOption('discrete');
    await page.getByLabel(/^values/).fill('1:2 5:0');
    await page.getByText('must be > 0').waitFor();
    await page.getByLabel(/^values/).fill('1:2 5:1');
    await page
      .getByLabel(/^source/)
      .first()
      .fill('bench test of March');
    await page
      .getByLabel(/^source/)
      .last()
      .fill('a guess');
    await page
      .getByLabel(/^source/)
      .last()
      .fill('');
    await page.getByRole('button', { name: 'Add a correlation' }).click();
    await page.getByLabel(/^rank correlation/).fill('1.5');
    await page.getByText('must be above -1 and below 1').waitFor();
    await page.getByLabel(/^rank correlation/).fill('-0.5');
    await page.getByRole('button', { name: 'Submit 7 runs' }).click();
    await page.getByRole('heading', { name: 'selected' }).waitFor();
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    const { config } = await suite.web.coordinator.submission(/batches\/([^/?]+)/.exec(await addressOf(page))![1]!);
    expect(config.monte_carlo.run_ids).to.equal('3-6,10-20:5');
    expect(config.correlations).to.deep.equal([{ parameters: ['parameter_1', 'parameter_2'], rank: -0.5 }]);
    expect(config.dispersions['parameter_1']?.source).to.equal('bench test of March');
    expect(config.dispersions['parameter_2']).not.to.have.property('source');
    await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
    await page.getByRole('link', { name: '#20' }).click();
    await page.getByRole('heading', { name: 'Run #20' }).waitFor();
    await page.getByRole('link', { name: '← #15' }).click();
    await page.getByRole('heading', { name: 'Run #15' }).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('a study with a requirement, an output, a policy and a label is submitted by the form, then audited', async () => {
    const { page, errors } = await suite.open('submit');
    await page.getByLabel('Name of the study').fill('with goals');
    await page.getByLabel(/^Simulation/).fill('descent');
    await page.getByLabel('Runs', { exact: true }).fill('40');
    await page.getByRole('button', { name: 'Add a requirement' }).click();
    await page.getByLabel('Requirement', { exact: true }).fill('slow');
    await page.getByLabel(/^Output /).fill('speed');
    await page.getByLabel(/^passes where/).fill('about 5');
    await page.getByText(parseCondition('about 5') as string).waitFor();
    await page.getByLabel(/^passes where/).fill('< 5');
    await page.getByLabel(/^confidence/).fill('2');
    await page.getByText('Outputs', { exact: true }).click();
    await page.getByRole('button', { name: 'Add an output' }).click();
    await page.getByRole('group', { name: 'output_1' }).getByLabel('Output', { exact: true }).fill('speed');
    await page.getByRole('group', { name: 'output_1' }).getByLabel('units').fill('m/s');
    await page.getByText('Policy', { exact: true }).click();
    await page.getByLabel(/^Most failed runs/).fill('5%');
    await page.getByLabel(/^Priority/).fill('3');
    await page.getByText('Labels', { exact: true }).click();
    await page.getByRole('button', { name: 'Add a label' }).click();
    await page.getByLabel('Label', { exact: true }).fill('campaign');
    await page.getByLabel('value', { exact: true }).fill('2026-q4');
    await page.getByText('Telemetry', { exact: true }).click();
    await page.getByLabel(/^Show it live/).check();
    await page.getByText('Early termination', { exact: true }).click();
    await page.getByLabel(/^Kill a run/).check();
    await page.getByLabel(/^Kill a run/).uncheck();
    await page.getByRole('button', { name: 'Submit 40 runs' }).click();
    await page.getByText('The study was not accepted.').waitFor();
    expect(await page.locator('[data-pointer="/requirements/0/confidence"] .fault').textContent()).to.not.equal('');
    await page.getByLabel(/^confidence/).fill('');
    await page.getByRole('button', { name: 'Submit 40 runs' }).click();
    await page.getByRole('heading', { name: 'with goals' }).waitFor();
    await page.locator('.title').getByText('100 %', { exact: true }).first().waitFor();
    const idOf = async (): Promise<string> => /batches\/([^/?]+)/.exec(await addressOf(page))![1]!;
    const { config, requirements, outputs, policy, labels } = await suite.web.coordinator.submission(await idOf());
    expect([config.telemetry.live, config.early_termination.enabled]).to.deep.equal([true, false]);
    expect({ requirements, outputs, policy, labels }).to.deep.equal({
      requirements: [{ name: 'slow', output: 'speed', condition: '< 5', probability: 0.95 }],
      outputs: { speed: { units: 'm/s' } },
      policy: { max_failures: '5%', priority: 3 },
      labels: { campaign: '2026-q4' },
    });
    const audited = await idOf();
    await page.getByRole('button', { name: 'Spot check', exact: true }).click();
    await page.getByLabel(/^Part of the finished runs/).fill('10');
    await page.getByRole('button', { name: 'Start the spot check' }).click();
    await page.getByText('Spot check of').first().waitFor();
    expect((await suite.web.coordinator.batch(await idOf())).batch).to.deep.include({
      total_jobs: 4,
      parent: { batch_id: audited, relation: 'audit' },
    });
    expect(errors.filter((it) => !it.includes('422') && !it.includes('400'))).to.deep.equal([]);
  });

  it("the coordinator's refusal is shown at the field", async () => {
    const { page } = await suite.open('submit');
    await page.getByLabel('Name of the study').fill('refused');
    await page.getByLabel(/^Simulation/).fill('x'.repeat(5_000));
    await page.getByRole('button', { name: /^Submit/ }).click();
    await page.getByText('The study was not accepted.').waitFor();
    expect(await page.locator('[data-pointer="/config/simulation/name"] .fault').textContent()).to.not.equal('');
  });

  it('opens a study file, shows it in the form and submits it', async () => {
    const { page } = await suite.open('submit');
    const text = JSON.stringify(descentStudy('from a file', 25));
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 's.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
    await page
      .getByText('2.3')
      .or(page.locator('[data-pointer="/config/dispersions/entry_speed/units"]'))
      .first()
      .waitFor();
    expect(await page.getByLabel('Name of the study').inputValue()).to.equal('from a file');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'bad.yaml', mimeType: 'text/yaml', buffer: Buffer.from('a: [') });
    await page.getByText('The file could not be read.').waitFor();
    await page.getByRole('button', { name: 'Submit 25 runs' }).click();
    await page.getByRole('heading', { name: 'from a file' }).waitFor();
  });

  it('groups failures, filters by group, and keeps the filter over a reload', async () => {
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('with failures', 200));
    const { page } = await suite.open(`batches/${batch_id}`);
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    const { jobs_by_status: counts } = await suite.web.coordinator.batch(batch_id);
    const heading = page.getByRole('heading', { name: new RegExp(`^Failures: ${counts.Failed} runs, \\d+ kinds?$`) });
    const groups = page.getByRole('region', { name: 'Failures by message' }).locator('tbody tr');
    const title = await heading.textContent();
    expect(title).to.match(new RegExp(`, ${await groups.count()} kinds?$`));
    await page
      .getByRole('link', { name: /chute torn/ })
      .first()
      .click();
    const shown = page.getByText(/^\d+ of 200 runs$/);
    await shown.waitFor();
    const rows = Number.parseInt((await shown.textContent()) ?? '', 10);
    expect(rows).to.be.within(1, counts.Failed);
    await page.reload();
    await page.getByText(`${rows} of 200 runs`, { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Message/ }).click();
    await page.getByText(`${counts.Failed} of 200 runs`, { exact: true }).waitFor();
  });

  it('drains a runner with a reason and resumes it', async () => {
    const { page } = await suite.open('runners');
    await page.getByRole('button', { name: 'Drain lab-1' }).click();
    await page.getByLabel(/Why/).fill('new disk');
    await page.getByRole('button', { name: 'Drain', exact: true }).click();
    await page.getByText('new disk').waitFor();
    expect((await suite.web.coordinator.runner('lab-1')).drain_reason).to.equal('new disk');
    await page.getByRole('button', { name: 'Resume lab-1' }).click();
    await page.getByText('new disk').waitFor({ state: 'detached' });
    expect((await suite.web.coordinator.runner('lab-1')).accepting_jobs).to.equal(true);
  });

  it('shows the lost slots of a runner as they are reported', async () => {
    const { coordinator } = suite.web;
    const { capabilities } = await coordinator.runner('lab-1');
    const instance = 'i';
    await coordinator.register({ id: 'stuck-1', instance, capabilities, slots_lost: 2 });
    const { page, errors } = await suite.open('runners');
    const row = page.getByRole('row').filter({ hasText: 'stuck-1' });
    await row.getByText('2 lost').waitFor();
    await coordinator.heartbeat('stuck-1', { instance, holding: [], slots_lost: 3 });
    await row.getByText('3 lost').waitFor();
    await coordinator.heartbeat('stuck-1', { instance, holding: [] });
    await row.getByText('lost').waitFor({ state: 'detached' });
    expect(errors).to.deep.equal([]);
    await coordinator.signOff('stuck-1', { instance });
    await coordinator.forgetRunner('stuck-1');
  });

  it('forgets a runner after a confirmation, once it holds no runs', async () => {
    const { coordinator } = suite.web;
    const leaving = await scriptedRunner(coordinator, { id: 'old-1', places: 2, runMs: 600_000, outcome: descent });
    const { page, errors } = await suite.open('runners');
    const row = page.getByRole('row').filter({ hasText: 'old-1' });
    const forget = page.getByRole('button', { name: 'Forget old-1' });
    await row.getByText('Idle').waitFor();
    await page.getByText('A runner can be forgotten once it is Offline and holds no runs.').waitFor();
    expect(await forget.count()).to.equal(0);
    await leaving.stop();
    await coordinator.signOff('old-1', { instance: 'script-old-1' });
    await forget.click();
    await page.keyboard.press('Escape');
    expect((await coordinator.runner('old-1')).status).to.equal('Offline');
    await forget.click();
    await page.getByRole('button', { name: 'Forget', exact: true }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByText('of 1', { exact: true }).waitFor();
    expect((await coordinator.runners({})).runners.map((it) => it.id)).to.deep.equal(['lab-1']);
    expect(errors).to.deep.equal([]);
  });

  /** Sends the page a message as if the coordinator had lost `lab-1`. */
  async function openWithoutLab(heldIds: string[]): Promise<{ page: Page }> {
    const watched = await suite.page();
    await watched.page.routeWebSocket(/\/live$/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((text) => {
        const message = JSON.parse(text.toString()) as { data: { runners?: Runner[] } | null };
        const runners = message.data?.runners?.map((it) => ({ ...it, status: 'Offline', current_jobs: heldIds }));
        socket.send(JSON.stringify({ ...message, data: { ...message.data, runners } }));
      });
    });
    await watched.page.goto(`${suite.web.url}/#/runners`);
    return watched;
  }

  it('explains why a runner that holds runs cannot be forgotten yet', async () => {
    const { page } = await openWithoutLab(['01a1fd98-3194-88c4-bee9-7d1200000001']);
    const forget = page.getByRole('button', { name: 'Forget lab-1', disabled: true });
    await forget.waitFor();
    const note = await forget.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${note}"]`).textContent()).to.equal('Its runs are given to others first.');
  });

  it('does not forget a runner that has returned, and shows the reason', async () => {
    const { page } = await openWithoutLab([]);
    await page.getByRole('button', { name: 'Forget lab-1' }).click();
    await page.getByRole('button', { name: 'Forget', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('lab-1 was not forgotten.').waitFor();
    await alert.getByText('only an Offline runner without runs can be forgotten').waitFor();
    expect((await suite.web.coordinator.runner('lab-1')).status).to.not.equal('Offline');
  });

  it('cancels a study after a confirmation', async () => {
    const { batch_id } = await suite.web.coordinator.submit(
      descentStudy('to be cancelled', 5, { container: { image: '', cpu_request: '900', memory_request: '0' } }),
    );
    const { page } = await suite.open(`batches/${batch_id}`);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.keyboard.press('Escape');
    expect((await suite.web.coordinator.batch(batch_id)).batch.status).to.equal('Pending');
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the study' }).click();
    await page.getByText('Cancelled 5').waitFor();
  });

  it('pauses, resumes, extends and reruns a study, and links it with those that came of it', async () => {
    const submission = { ...descentStudy('grows', 40), labels: { campaign: 'growth' } };
    submission.config.monte_carlo.sampling_method = 'monte_carlo';
    const { batch_id } = await suite.web.coordinator.submit(submission);
    const { page, errors } = await suite.open(`batches/${batch_id}`);
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Rerun failed' }).click();
    await page.getByLabel(/^Version of the simulation/).fill('2.0');
    await page.getByRole('button', { name: /^Run \d+ again$/ }).click();
    await page.getByText('Reruns').waitFor();
    await page.getByRole('link', { name: batch_id.slice(0, 13) }).click();
    await page.getByText('Rerun as').waitFor();
    await page.getByRole('button', { name: 'Extend' }).click();
    const runs = page.getByLabel(/^Runs of the whole design/);
    expect(await runs.inputValue()).to.equal('80');
    await runs.fill('40');
    await page.getByRole('button', { name: 'Extend the study' }).click();
    await page.getByRole('alert').getByText('give more than 40').waitFor();
    await suite.web.coordinator.drain('lab-1');
    await page.getByRole('button', { name: 'Extend' }).click();
    await page.getByLabel(/^Runs of the whole design/).fill('45');
    await page.getByRole('button', { name: 'Extend the study' }).click();
    await page.getByText('Extends').waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByLabel('Why (optional)').fill('a look');
    await page.getByRole('button', { name: 'Pause the study' }).click();
    await page.getByText('Paused: a look').waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await suite.web.coordinator.resume('lab-1');
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'campaign=growth' }).click();
    await page.getByRole('button', { name: /^campaign=growth/ }).waitFor();
    const listed = page.getByRole('region', { name: 'Table of studies' }).getByRole('row');
    await listed.nth(3).waitFor();
    const names = await listed.allTextContents();
    expect(names, 'the heading, the study, its rerun and its extension').to.have.length(4);
    expect(errors.filter((it) => !it.includes('422'))).to.deep.equal([]);
  });

  it("a run's states are stepped back and forth", async () => {
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('steps', 1));
    const { page } = await suite.open(`batches/${batch_id}`);
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    await page.goto(`${suite.web.url}/#/inspect/job/${batch_id.slice(0, 28)}00000001`);
    const chart = page.getByRole('region', { name: 'Statechart of Run #0', exact: true });
    await chart.getByText('COMPLETE: Running → Completed').waitFor();
    await page.getByRole('button', { name: 'First step' }).click();
    // The first steps can be those of its runner, before the run exists.
    const lit = chart.locator('.state-box.lit .name');
    while (!(await lit.allTextContents()).includes('Claimed'))
      await page.getByRole('button', { name: 'Forth one step' }).click();
    expect(await chart.locator('.edge.taken').count()).to.equal(1);
    await page.getByRole('button', { name: 'Back one step' }).click();
    expect(await lit.textContent()).to.equal('Pending');
  });

  it('shows the transitions of one study, with their numbers and the times in states', async () => {
    const batch_id = await suite.completed(descentStudy('moves', 30));
    const response = await fetch(`${suite.web.url}/batches/${batch_id}/transitions?wait=20`);
    const { transitions } = (await response.json()) as StudyTransitions;
    const completed = transitions.find((it) => it.event === 'COMPLETE')!.count;
    const { page, errors } = await suite.open('machines/job');
    await page.getByLabel('Numbers of').selectOption(batch_id);
    await page.getByText('Totals of all 30 runs, from').waitFor();
    const figures = page.locator('.edge-label').filter({ hasText: 'COMPLETE' }).locator('.rate');
    expect(await figures.textContent()).to.equal(`${completed} in all`);
    const started = page.locator('.edge-label').filter({ hasText: 'START' }).locator('.rate');
    expect(await started.textContent()).to.equal('30 in all');
    expect(await page.locator('.state-box').filter({ hasText: 'Running' }).locator('.mean').count()).to.equal(1);
    const row = page.getByRole('region', { name: 'States' }).getByRole('row').filter({ hasText: 'Claimed' });
    expect(await row.textContent()).to.include('has taken the run, and has not started it');
    // The choice is in the address, and the whole page is reachable by keys.
    expect(await addressOf(page)).to.include(`study=${batch_id}`);
    await page.getByLabel('Numbers of').focus();
    for (let tabs = 0; tabs < 3; tabs++) await page.keyboard.press('Tab');
    expect(errors).to.deep.equal([]);
  });

  it('opens a recording and steps through it', async () => {
    const { page } = await suite.open('inspect');
    const text = await readFile(join(packageRoot, 'snapshots/format-1/job-stale-reports.json'));
    const file = { name: 'stale.json', mimeType: 'application/json', buffer: text };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('heading', { name: 'stale.json' }).waitFor();
    await page
      .getByText(/^refused in /)
      .first()
      .click();
    await page
      .getByText(/ is false/)
      .or(page.getByText(/has no transition for/))
      .first()
      .waitFor();
  });

  it('reads a page again whose requests found no coordinator', async () => {
    const batch_id = await suite.completed(descentStudy('unread', 20));
    const { page } = await suite.open(`batches/${batch_id}`);
    let isAway = true;
    await page.route(`**/batches/${batch_id}**`, (route) => (isAway ? route.abort() : route.continue()));
    await page.reload();
    await page.getByText('The study could not be read.').waitFor();
    isAway = false;
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
  });

  it('reconnects by itself and shows the missed changes', async () => {
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('continues', 400));
    const { page } = await suite.open(`batches/${batch_id}`);
    await page.getByText('Live').waitFor();
    await suite.web.interrupt(600);
    await page.getByText('Not connected').waitFor();
    await page.getByText('Live').waitFor();
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
  });

  it('downloads the table of runs in each format', async () => {
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('files', 40));
    const { page } = await suite.open(`batches/${batch_id}`);
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    const expected = await storedRows(suite.web.coordinator, batch_id);
    await page.reload();
    for (const format of ['CSV', 'JSON', 'Parquet', 'Arrow']) {
      const saved = page.waitForEvent('download');
      await page.getByText('Export').click();
      await page.getByRole('button', { name: format, exact: true }).click();
      const download = await saved;
      expect(download.suggestedFilename()).to.equal(`files.${format.toLowerCase()}`);
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
      const content = Buffer.concat(chunks);
      const rows = await READERS[format]!(content);
      expect(rows, format).to.deep.equal(expected);
    }
  });

  it('saves the report of a study as one file that loads nothing', async () => {
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('report', 40));
    const { page, errors } = await suite.open(`batches/${batch_id}`);
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByText('Export').click();
    await page.getByRole('button', { name: 'Report', exact: true }).click();
    const download = await saved;
    expect(download.suggestedFilename()).to.equal('report.html');
    // A browser takes a file for a page by its name.
    const path = `${await download.path()}.html`;
    await download.saveAs(path);
    const reader = await page.context().newPage();
    const asked: string[] = [];
    reader.on('request', (request) => asked.push(request.url()));
    await reader.goto(`file://${path}`);
    expect(asked).to.deep.equal([`file://${path}`]);
    expect(await reader.getByRole('heading', { level: 1 }).textContent()).to.equal('report');
    expect(await reader.getByRole('img', { name: /^Distribution of / }).count()).to.be.above(0);
    const isCut = await reader.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    expect(isCut, 'the page is wider than the window').to.equal(false);
    expect(errors).to.deep.equal([]);
  });
});

/** One run as a row of a file; missing values are null. */
type Row = Record<string, unknown>;

const OUTPUTS = ['miss_distance', 'peak_heat_rate', 'touchdown_speed'];

/** The expected content of a file, from the coordinator. */
async function storedRows(coordinator: Coordinator, batchId: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const chunk of (await coordinator.jobs({ batch_id: [batchId] })).chunks) {
    for (const job of chunk) {
      const { metadata, execution_secs, execution_time_secs } = await coordinator.jobResult(job.id);
      const row: Row = {
        run_id: job.run_config.run_id,
        status: job.status,
        error_message: job.error_message ?? null,
        execution_secs: execution_secs ?? execution_time_secs,
      };
      for (const [name, value] of Object.entries(job.run_config.parameters)) row[`parameters.${name}`] = value;
      for (const name of OUTPUTS) row[`outputs.${name}`] = metadata[name] ?? null;
      rows.push(row);
    }
  }
  return rows;
}

/** The columns that the expected rows have. */
const plainRow = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([name]) => name.startsWith('parameters.') || PLAIN.has(name) || OUTPUTS.some((it) => name === `outputs.${it}`),
    ),
  );
const PLAIN = new Set(['run_id', 'status', 'error_message', 'execution_secs']);
const TEXTS = new Set(['status', 'error_message']);

/** Parses the CSV of these tests: quoted texts may contain commas, quotes and line ends. */
function readCsv(content: Buffer): Row[] {
  const records: string[][] = [[]];
  for (const [, quoted, plain = '', end] of content.toString().matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    records.at(-1)!.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ',') records.push([]);
  }
  const [names = [], ...rows] = records.filter((it) => it.length > 0);
  const typed = (name: string, text: string): unknown => (text === '' ? null : TEXTS.has(name) ? text : Number(text));
  return rows.map((texts) => plainRow(Object.fromEntries(names.map((name, at) => [name, typed(name, texts[at]!)]))));
}

const READERS: Record<string, (content: Buffer) => Row[] | Promise<Row[]>> = {
  CSV: readCsv,
  JSON: (content) => (JSON.parse(content.toString()) as { rows: Row[] }).rows.map(plainRow),
  Parquet: async (content) =>
    (await parquetReadObjects({ file: Uint8Array.from(content).buffer, compressors })).map(plainRow),
  Arrow: (content) => (tableFromIPC(Uint8Array.from(content)).toArray() as Row[]).map(plainRow),
};
