/** The pages of the pool in a real browser: lanes of slots, history, the page of a runner. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import { descent, descentStudy } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

interface Bar {
  jobId: string;
  from: number;
  to: number;
  outcome: string;
}

describe('web/pool/lanes', () => {
  let lanesOf: (bars: Bar[], least: number) => Bar[][];
  let utilisation: (lanes: Bar[][], from: number, to: number) => number;
  before(async () => {
    const url = new URL('../../../../web/src/pool/lanes.ts', import.meta.url).href;
    ({ lanesOf, utilisation } = (await tsImport(url, import.meta.url)) as {
      lanesOf: typeof lanesOf;
      utilisation: typeof utilisation;
    });
  });
  const bar = (from: number, to: number): Bar => ({ jobId: `${from}`, from, to, outcome: 'completed' });

  it('no two runs of a lane overlap, and a free lane is used again', () => {
    const lanes = lanesOf([bar(0, 5), bar(5, 9), bar(1, 3), bar(3, 4)], 2);
    expect(lanes.map((lane) => lane.map((it) => it.from))).to.deep.equal([
      [0, 5],
      [1, 3],
    ]);
    expect(lanesOf([bar(0, 5), bar(1, 5)], 1)).to.have.length(2);
  });

  it('the utilisation counts the time within the window alone', () => {
    expect(utilisation([[bar(0, 10)], []], 5, 15)).to.equal(0.25);
    expect(utilisation([[bar(0, Infinity)]], 0, 10)).to.equal(1);
  });
});

describe('web: pool', () => {
  const suite = webSuite({ id: 'lab-1', places: 3, runMs: 60, outcome: descent });

  it('shows a lane for each slot with the runs in it, and the latest attempts of a runner with their errors', async () => {
    const { batch_id } = await suite.web.coordinator.submit(descentStudy('in lanes', 90));
    while ((await suite.web.coordinator.batch(batch_id)).batch.status !== 'Completed')
      await new Promise((resolve) => setTimeout(resolve, 50));
    const { attempts } = await suite.web.coordinator.poolHistory(['lab-1']);
    expect(attempts).to.have.length(90);
    const { page, errors } = await suite.page();
    await page.goto(`${suite.web.url}/#/runners`);
    await page.locator('.lane a').nth(80).waitFor({ state: 'attached' });
    expect(await page.locator('.lane').count()).to.equal(3);
    await page.getByRole('img', { name: 'Slots of connected runners, and runs held, over time' }).waitFor();
    await page.getByRole('link', { name: 'lab-1' }).first().click();
    await page.getByRole('heading', { name: 'lab-1' }).waitFor();
    const failed = attempts.filter((it) => it.outcome === 'failed').length;
    expect(failed).to.be.above(0);
    await page.getByText(`Latest attempts: ${failed} of 90 did not complete`).waitFor();
    await page
      .getByText(/guidance.Divergence|chute torn|was met/)
      .first()
      .waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('refuses the attempts of too many runners at once', async () => {
    const names = Array.from({ length: 51 }, (_, at) => `runner_id=r${at}`).join('&');
    const answer = await fetch(`${suite.web.url}/pool/history?${names}`);
    expect(answer.status).to.equal(400);
    expect(((await answer.json()) as { detail: string }).detail).to.match(/names 51 runners; name at most 50/);
  });
});

describe('web: pool with counted resources', () => {
  const suite = webSuite(undefined, { settings: { resources: { comsol: 2 } } });

  it('shows what runners and the site have in use and which runs wait, as it changes', async () => {
    const { coordinator, url } = suite.web;
    await coordinator.register({
      id: 'lab-1',
      instance: 'i',
      capabilities: {
        max_concurrent_jobs: 4,
        cpu_cores: 0,
        memory_gb: 0,
        gpu_available: true,
        supported_simulation_types: [],
        resources: { gpu: 4 },
      },
    });
    const { page, errors } = await suite.page();
    await page.goto(`${url}/#/runners`);
    await page.getByText('comsol 0 of 2 in use').waitFor();
    const study = descentStudy('with licences', 5);
    const { batch_id: id } = await coordinator.submit({
      ...study,
      config: { ...study.config, compute: { ...study.config.compute, resources: { gpu: 1, comsol: 1 } } },
    });
    await page
      .getByText(/comsol 0 of 2 in use.*5 runs wait/)
      .first()
      .waitFor();
    await coordinator.claim('lab-1', { instance: 'i', max_jobs: 4, wait_seconds: 0 });
    await page
      .getByText(/comsol 2 of 2 in use by study with licences; 3 runs wait/)
      .first()
      .waitFor();
    await page.getByText('2/4 gpu in use').waitFor();
    await page.getByRole('link', { name: 'with licences' }).first().click();
    await page.waitForURL(`**/#/batches/${id}*`);
    expect(errors).to.deep.equal([]);
  });
});
