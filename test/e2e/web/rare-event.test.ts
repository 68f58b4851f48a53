/** A study of rare events in a real browser: its answer while it waits, runs, has ended with and without an estimate, and cannot be read. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { BatchSubmission, Uuid } from '../../../src/contract/types.ts';
import { rareStudy } from '../../support/rounds.ts';
import { scriptedRunner, type Outcome, type ScriptedRunner } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

/** The values of the two parameters of a run. */
type Drawn = Readonly<Record<string, number>>;

describe('web: the probability of a rare violation', () => {
  const suite = webSuite();
  let runner: ScriptedRunner | undefined;

  afterEach(async () => {
    await runner?.stop();
    runner = undefined;
  });

  const submitted = async (name: string, study: BatchSubmission): Promise<Uuid> =>
    (await suite.web.coordinator.submit({ ...study, name })).batch_id;
  const work = async (outcome: (drawn: Drawn, run: number) => Outcome): Promise<void> => {
    runner = await scriptedRunner(suite.web.coordinator, {
      id: 'lab-1',
      places: 50,
      runMs: 2,
      outcome: ({ job: { run_config: it } }) => outcome(it.parameters, it.run_id),
    });
  };
  const sum = ({ a = 0, b = 0 }: Drawn): Outcome => ({ metadata: { y: (a + b) / Math.SQRT2 } });
  const panelOf = (page: Page): Locator =>
    page.locator('section.panel').filter({ has: page.getByRole('heading', { name: /^Rare violations/ }) });
  /** The figures of the panel by their names. */
  const figures = (panel: Locator): Promise<string[]> => panel.locator('.stat').allInnerTexts();

  it('says its phase from the first moment on, and both bounds, the levels, the regions and the limits at its end', async () => {
    const batch = await submitted('two sides', rareStudy({ limit: 3.5 }));
    const { page, errors, foreign } = await suite.open(`batches/${batch}`);
    const panel = panelOf(page);
    await panel.getByText('experimental', { exact: true }).waitFor();
    await panel.getByText('Search:', { exact: true }).waitFor();
    await panel.getByText(/No nominal run has ended yet/).waitFor();
    expect(await panel.getByRole('img').count()).to.equal(0);
    await work(sum);
    await panel.getByText('Ended: confirmed.', { exact: true }).waitFor();
    await panel.getByText(/^Ended.*P\(y >= 3\.5\) in the regions found is .* with 95 % confidence/).waitFor();
    await panel.getByText(/Requirement miss: not shown: one study alone cannot show it/).waitFor();
    const shown = await figures(panel);
    expect(shown.map((it) => it.split('\n')[0])).to.deep.equal([
      'Estimate',
      '95 % in the regions found',
      'Anywhere, 95 %, without an assumption',
      'Search alone',
    ]);
    expect(shown[0]).to.match(/\de-4 in the regions found/);
    expect(shown[1]).to.match(/\de-[45] to \d/);
    expect(shown[2]).to.match(/at most 0\.0\d+ \d+ plain runs/);
    const plots = await panel.getByRole('img').evaluateAll((all) => all.map((it) => it.getAttribute('aria-label')!));
    expect(plots).to.have.length(3);
    expect(plots[0]).to.match(/^Thresholds of the search over its rounds\. level 1: .*, reached by 10 %; /);
    expect(plots[1]).to.match(/bounds of the violations in the regions found, over 200 confirming runs/);
    expect(plots[2]).to.match(/violating states of the search, on average at .* of [ab] and .* of [ab]; .* plain runs/);
    expect(await panel.locator('.plain-run').count()).to.equal(100);
    const codes = await panel.locator('li').evaluateAll((all) => all.map((it) => it.getAttribute('data-code')));
    expect(codes).to.include('rare-one-study');
    await panel.getByText(/^Proposal: \d+ components?/).click();
    expect(await panel.getByRole('row').count()).to.be.greaterThan(1);
    expect([errors, foreign]).to.deep.equal([[], []]);
  });

  it('follows the search while its runs are held', async () => {
    const { coordinator } = suite.web;
    const batch = await submitted('live', rareStudy({ limit: 3.5 }));
    const { page, errors } = await suite.open(`batches/${batch}`);
    const panel = panelOf(page);
    await work((drawn, run) => {
      if (run === 149) void coordinator.pauseBatch(batch);
      return sum(drawn);
    });
    await panel.getByText(/^Search, level 1:$/).waitFor();
    const [label] = await panel.getByRole('img').evaluateAll((all) => all.map((it) => it.getAttribute('aria-label')!));
    expect(label).to.match(/^Thresholds of the search over its rounds\. level 1: [^;]*$/);
    expect(await panel.locator('.violating-runs').count()).to.equal(0);
    await coordinator.resumeBatch(batch);
    await panel.getByText('Ended: confirmed.', { exact: true }).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('answers two studies together on the page of each, and follows the open study', async () => {
    const { coordinator } = suite.web;
    const response = await coordinator.submit({ ...rareStudy({ limit: 3.5, studies: 2 }), name: 'pair' });
    const [first, second] = response.studies!;
    await coordinator.pauseBatch(second!);
    const { page, errors } = await suite.open(`batches/${first}`);
    await work(sum);
    const panel = panelOf(page);
    await panel.getByText('Search:', { exact: true }).waitFor();
    await page.getByText(/^Running: its runs have ended, and a study that was submitted with it has not/).waitFor();
    await coordinator.resumeBatch(second!);
    await panel.getByText(/^Ended: confirmed\. By both studies, the violations in the regions found/).waitFor();
    await page.getByText(/^OK: the requirement miss is met, as far as regions were found \(experimental\)\./).waitFor();
    await panel.getByText(/met, as far as regions were found; plain runs alone show P </).waitFor();
    const codes = await panel.locator('li').evaluateAll((all) => all.map((it) => it.getAttribute('data-code')));
    expect(codes).not.to.include('rare-one-study');
    await panel.getByText('Study 1, this one').waitFor();
    const sentence = await panel.getByText(/By both studies/).textContent();
    await panel.getByRole('link', { name: 'Study 2' }).click();
    await panel.getByText('Study 2, this one').waitFor();
    expect(await panel.getByText(/By both studies/).textContent()).to.equal(sentence);
    expect(errors).to.deep.equal([]);
  });

  /** Asks for more runs in the panel, after the text of the question has been compared. */
  const extend = async (page: Page, panel: Locator, says: RegExp, runs: string): Promise<void> => {
    await panel.getByRole('group', { name: 'More runs' }).getByRole('button', { name: 'Extend' }).click();
    const question = page.getByRole('dialog', { name: /^Extend “/ });
    expect(await question.innerText()).to.match(says);
    await question.getByRole('textbox').fill(runs);
    await question.getByRole('button', { name: 'Extend the study' }).click();
  };

  it('extends a confirmed study after a question, and says why a number of runs is refused', async () => {
    const batch = await submitted('more draws', rareStudy({ limit: 3.5 }));
    const { page, errors } = await suite.open(`batches/${batch}`);
    const panel = panelOf(page);
    await panel.getByText('Search:', { exact: true }).waitFor();
    expect(await panel.getByRole('group', { name: 'More runs' }).count(), 'while it is open').to.equal(0);
    await work(sum);
    await panel.getByText('Ended: confirmed.', { exact: true }).waitFor();
    const { total_jobs: runs } = (await suite.web.coordinator.batch(batch)).batch;
    await panel.getByRole('button', { name: 'Extend' }).click();
    await page.getByRole('button', { name: 'Do not extend it' }).click();
    expect((await suite.web.coordinator.batch(batch)).batch.status, 'refused by the viewer').to.equal('Completed');
    await extend(page, panel, /continues with further draws of the same attempt/, 'many');
    await panel.getByText('The study was not extended.').waitFor();
    await panel.getByText(/runs/).first().waitFor();
    await extend(page, panel, /Further confirming runs/, '300');
    await panel.getByRole('img', { name: /over 500 confirming runs/ }).waitFor();
    await panel.getByText('Ended: confirmed.', { exact: true }).waitFor();
    expect(await panel.getByText('The study was not extended.').count()).to.equal(0);
    expect((await suite.web.coordinator.batch(batch)).batch.total_jobs).to.equal(runs + 300);
    expect(errors.filter((it) => !it.includes('422'))).to.deep.equal([]);
  });

  it('extends a search that reached no violation together with the study that was submitted with it', async () => {
    const study = rareStudy({ limit: 3.5, studies: 2 });
    study.config.monte_carlo.runs = 100 + 2 * 50 + 200 + 150;
    const response = await suite.web.coordinator.submit({ ...study, name: 'small budget' });
    const [first, second] = response.studies!;
    const { page, errors } = await suite.open(`batches/${first}`);
    await work(sum);
    const panel = panelOf(page);
    await panel.getByText(/^Ended: not reached/).waitFor();
    await extend(
      page,
      panel,
      /The study submitted with it is extended by as many runs\.\s+Runs by which the budget grows/,
      '900',
    );
    await panel.getByText(/^Ended: confirmed\. By both studies/).waitFor();
    await panel.getByRole('link', { name: 'Study 2' }).click();
    await panel.getByText('Study 2, this one').waitFor();
    await extend(page, panel, /This study alone is extended/, '100');
    await panel.getByRole('img', { name: /over 300 confirming runs/ }).waitFor();
    const { coordinator } = suite.web;
    const budgets = [(await coordinator.batch(first!)).batch.budget, (await coordinator.batch(second!)).batch.budget];
    expect(budgets).to.deep.equal([1450, 1550]);
    expect(errors).to.deep.equal([]);
  });

  it('shows the further draws of an extension that is over before the page receives a word of it', async () => {
    const { coordinator, url } = suite.web;
    const batch = await submitted('short extension', rareStudy({ limit: 3.5 }));
    const { page, errors } = await suite.page();
    let isHeld = false;
    let reconnect = (): void => {};
    await page.routeWebSocket(/\/live/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        if (!isHeld) socket.send(message);
      });
      reconnect = () => void socket.close();
    });
    await work(sum);
    await page.goto(`${url}/#/batches/${batch}`);
    const panel = panelOf(page);
    await panel.getByText('Ended: confirmed.', { exact: true }).waitFor();
    await panel.getByRole('img', { name: /over 200 confirming runs/ }).waitFor();
    isHeld = true;
    await coordinator.extendBatch(batch, { runs: 100 });
    while ((await coordinator.batch(batch)).batch.status !== 'Completed') await sleep(10);
    isHeld = false;
    reconnect();
    await panel.getByRole('img', { name: /over 300 confirming runs/ }).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('says why there is no estimate, and what the plain runs exclude', async () => {
    const batch = await submitted('constant', rareStudy());
    await work(() => ({ metadata: { y: 1 } }));
    const { page, errors } = await suite.open(`batches/${batch}`);
    const panel = panelOf(page);
    await panel.getByText('Ended: constant output.', { exact: true }).waitFor();
    await panel.getByText(/every run gave the same y: is this the right output\?/).waitFor();
    const shown = await figures(panel);
    expect(shown[0]).to.match(/^Estimate\n+–/);
    expect(shown[1]).to.match(/\n+–$/);
    expect(shown[2]).to.match(/at most 0\.0\d+ 100 plain runs/);
    expect(await panel.getByText(/^(Search|Tune|Confirm)[,:]/).count()).to.equal(0);
    expect(await panel.getByRole('button', { name: 'Extend' }).count(), 'an end that is final').to.equal(0);
    expect(errors).to.deep.equal([]);
  });

  it('says that the answer could not be computed, and keeps the rest of the page', async () => {
    const batch = await submitted('unreadable', rareStudy());
    const { page } = await suite.page();
    await page.route(/\/rare-event/, (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: JSON.stringify({
          code: 'unavailable',
          title: 'Unavailable',
          status: 503,
          detail: 'the worker has ended',
        }),
      }),
    );
    await page.goto(`${suite.web.url}/#/batches/${batch}`);
    await page.getByText('The probability could not be computed.').waitFor();
    await page.getByText('Rounds', { exact: true }).waitFor();
  });
});
