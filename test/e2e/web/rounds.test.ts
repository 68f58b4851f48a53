/** An adaptive study in a real browser: its rounds as bands and as a list, while it waits, takes rounds, runs and is closed. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { packageRoot } from '../../../src/base/package.ts';
import type { BatchSubmission, Uuid } from '../../../src/contract/types.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { scriptedRunner, type ScriptedRunner } from '../../support/web-server.ts';
import { addressOf } from '../../support/browser.ts';
import { webSuite } from '../../support/web-suite.ts';

const LOOK_MS = 60;
const PROGRAM = join(packageRoot, 'dist/bin/simbatch.js');

describe('web: rounds of an adaptive study', () => {
  const suite = webSuite();
  let runner: ScriptedRunner | undefined;

  afterEach(async () => {
    await runner?.stop();
    runner = undefined;
  });

  const named = (name: string, runs: number): BatchSubmission => ({ ...adaptiveStudy({ runs }), name });
  const submitted = async (name: string, runs: number): Promise<Uuid> =>
    (await suite.web.coordinator.submit(named(name, runs))).batch_id;
  const rowsOf = (count: number): { r: number; x: number }[] =>
    Array.from({ length: count }, (_, at) => ({ r: at % 10, x: at }));
  /** Run 1 of each ten crashes. */
  const work = async (): Promise<void> => {
    runner = await scriptedRunner(suite.web.coordinator, {
      id: 'lab-1',
      places: 8,
      runMs: 5,
      outcome: ({ job: { run_config: it } }) =>
        it.run_id % 10 === 1
          ? { reason: 'exit', message: 'r is too large' }
          : { metadata: { miss: it.parameters['r']! + it.parameters['wind']! } },
    });
  };
  const waits = async (batchId: Uuid): Promise<void> => {
    while ((await suite.web.coordinator.batch(batchId)).batch.waiting_for_rows !== true)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  };
  const bands = (page: Page): Promise<string[]> =>
    page
      .getByRole('group', { name: 'Runs by round and state' })
      .getByRole('link')
      .evaluateAll((links) => links.map((it) => it.getAttribute('title') ?? ''));

  it('waits for rows, says since when and how to append, and draws each round as it is appended and runs', async () => {
    const { coordinator } = suite.web;
    const batch = await submitted('optimisation', 40);
    const { page, errors } = await suite.open(`batches/${batch}`);
    await page.getByText('Waiting for rows', { exact: true }).first().waitFor();
    await page.getByText(/^since \d/).waitFor();
    await page.getByText('No round was appended yet', { exact: true }).waitFor();
    const command = page.getByRole('textbox', { name: 'Command that appends a round' });
    expect(await command.textContent()).to.match(
      /^echo '\{"x":0,"r":5\}' \| simbatch append \S+ - --key round-0 --wait --endpoint /,
    );

    await coordinator.appendRound(batch, { key: 'generation-0', rows: rowsOf(4) });
    await page.getByText('1 round. Round 0, generation-0 next: 0 of 4 runs ended').waitFor();
    expect(await bands(page)).to.deep.equal(['Round 0, generation-0: 4 Pending']);
    expect(await command.count()).to.equal(0);

    await work();
    await page.getByText('1 round, all ended').waitFor();
    await coordinator.appendRound(batch, { key: 'generation-1', rows: rowsOf(10) });
    await page.getByText('2 rounds, all ended').waitFor();
    await page.getByText('14 of 14 runs ended; budget 40').waitFor();
    expect(await bands(page)).to.deep.equal([
      'Round 0, generation-0: 3 Completed, 1 Failed',
      'Round 1, generation-1: 9 Completed, 1 Failed',
    ]);
    const shown = (await command.textContent())!.replace('simbatch', `${process.execPath} ${PROGRAM}`);
    const { stdout } = await promisify(execFile)('sh', ['-c', shown]);
    expect(stdout).to.match(/^ *14 +ok /m);
    await page.getByText('3 rounds, all ended').waitFor();
    await page.getByTitle('Round 2, round-2: 1 Completed').waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('a band shows the runs of its round, with the columns round and draw', async () => {
    const { coordinator } = suite.web;
    const batch = await submitted('common numbers', 40);
    await coordinator.appendRound(batch, { key: 'a', rows: rowsOf(3) });
    await coordinator.appendRound(batch, { key: 'b', rows: rowsOf(4), draws: [7, 8, 7, 8] });
    await work();
    await waits(batch);
    const { page, errors } = await suite.open(`batches/${batch}`);
    await page.getByRole('link', { name: /^Round 1, b: .*show these runs$/ }).click();
    await page.getByText('4 of 7 runs', { exact: true }).waitFor();
    await page.locator('.grid-row').nth(3).waitFor();
    const headings = await page.locator('.grid-head .sort .clip').allTextContents();
    expect(headings.slice(0, 4)).to.deep.equal(['Run', 'State', 'Round', 'Draw']);
    const cells = await page
      .locator('.grid-row')
      .evaluateAll((rows) => rows.map((row) => [3, 4].map((at) => row.children[at]!.textContent)));
    expect(cells).to.deep.equal([
      ['1', '7'],
      ['1', '8'],
      ['1', '7'],
      ['1', '8'],
    ]);
    expect(errors).to.deep.equal([]);
  });

  it('lists the rounds in pages, the latest first, and shares bands among more rounds than the bar shows', async () => {
    const { coordinator } = suite.web;
    const batch = await submitted('long', 2_000);
    for (let round = 0; round < 500; round += 1) await coordinator.appendRound(batch, { round, rows: rowsOf(1) });
    const { page, errors } = await suite.open(`batches/${batch}/rounds`);
    await page.getByRole('region', { name: 'Rounds' }).waitFor();
    const listed = (): Promise<string[]> => page.locator('td[data-label=Round]').allTextContents();
    expect([(await listed()).length, (await listed())[0]]).to.deep.equal([50, '499']);
    await page.getByRole('button', { name: 'Earlier' }).click();
    await page.getByRole('link', { name: '449', exact: true }).waitFor();
    expect(await addressOf(page)).to.include('page=9');
    await page.getByRole('link', { name: /^Rounds 496 to 499: .*show these runs$/ }).waitFor();
    const drawn = await bands(page);
    expect([drawn.length, drawn[0]]).to.deep.equal([125, 'Rounds 0 to 3: 4 Pending']);
    // The bar continues where it is, and reads no round again.
    await coordinator.appendRound(batch, { round: 500, rows: rowsOf(2) });
    await page.getByRole('link', { name: /^Rounds 500 to 503: 2 Pending|^Round 500: 2 Pending/ }).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('is listed as waiting since when, with its budget, and ends when it is closed', async () => {
    const { coordinator } = suite.web;
    const batch = await submitted('closed in the end', 30);
    await coordinator.appendRound(batch, { key: 'a', rows: rowsOf(3) });
    await work();
    await waits(batch);
    const { page, errors } = await suite.open('batches?search=closed');
    const row = page.getByRole('row', { name: /closed in the end/ });
    await row.getByText('Waiting for rows').waitFor();
    await row.getByText(/^since/).waitFor();
    await row.getByText('3 of 3 (budget 30)').waitFor();
    await row.getByRole('link', { name: 'closed in the end' }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Close the study' }).click();
    await page.getByText(/, closed$/).waitFor();
    await page.locator('.title').getByText('Completed').waitFor();
    expect((await coordinator.batch(batch)).batch.closed).to.equal(true);
    expect(errors).to.deep.equal([]);
  });

  it('the values of runs that are appended reach the plots, and chosen runs have no intervals', async () => {
    const { coordinator } = suite.web;
    const batch = await submitted('explored', 40);
    await coordinator.appendRound(batch, { key: 'a', rows: rowsOf(3) });
    await work();
    await waits(batch);
    const { page, errors } = await suite.open(`batches/${batch}/explore`);
    await page.getByText('n = 3', { exact: true }).first().waitFor();
    await coordinator.appendRound(batch, { key: 'b', rows: rowsOf(10) });
    await page.getByText('n = 13', { exact: true }).first().waitFor();
    await page
      .getByText(/hese runs were chosen/)
      .first()
      .waitFor();
    expect(await page.locator('.interval').allTextContents()).to.deep.equal([]);
    expect(errors).to.deep.equal([]);
  });

  it('is submitted with the form, with a chosen parameter inside its bounds', async () => {
    const { page, errors } = await suite.open('submit');
    await page.getByLabel('Name of the study').fill('by form');
    await page.getByLabel(/^Simulation/).fill('nozzle');
    await page.getByRole('button', { name: 'Add a parameter' }).click();
    expect(
      await page.locator('select').filter({ hasText: 'lognormal' }).locator('option').allTextContents(),
    ).not.to.include('chosen');
    await page.getByLabel(/^Sampling/).selectOption('adaptive');
    await page.locator('select').filter({ hasText: 'lognormal' }).selectOption('chosen');
    await page.getByLabel('lower').fill('0.1');
    await page.getByLabel('upper').fill('0.4');
    await page.getByText(/Chosen parameters get their values/).waitFor();
    await page.getByLabel(/^Sampling/).selectOption('monte_carlo');
    await page.getByText(/only an adaptive study has/).waitFor();
    await page.getByLabel(/^Sampling/).selectOption('adaptive');
    await page.getByRole('button', { name: 'Submit up to 100 runs' }).click();
    await page.getByText('Waiting for rows', { exact: true }).first().waitFor();
    const [, , id] = new URL(await addressOf(page)).hash.split('/');
    const { config } = await suite.web.coordinator.submission(id!);
    expect([config.adaptive, config.dispersions['parameter_1']!.distribution]).to.deep.equal([
      { algorithm: 'external' },
      { type: 'chosen', lower: 0.1, upper: 0.4 },
    ]);
    expect(errors).to.deep.equal([]);
  });
});
