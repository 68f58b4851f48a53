/** The cells of a study with scenarios on its page: a table by levels, and the runs of a cell. */
import { expect } from 'chai';
import { descentStudy, scriptedRunner, type Outcome } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

describe('web: scenarios', () => {
  const suite = webSuite();

  it('show each requirement by the levels of the axes, and lead to the runs of a cell', async () => {
    const submission = descentStudy('cells', 40);
    submission.config.monte_carlo.sampling_method = 'monte_carlo';
    submission.config.scenarios = {
      'launch site': { "o'hara": {}, south: {} },
      wind: { calm: {}, storm: {} },
      skip: [{ 'launch site': 'south', wind: 'storm' }],
    };
    submission.requirements = [{ name: 'soft', output: 'speed', condition: '< 5', probability: 0.8 }];
    const { batch_id } = await suite.web.coordinator.submit(submission);
    const outcome = ({ job }: { job: { run_config: { run_id: number } } }): Outcome => ({
      metadata: { speed: job.run_config.run_id % 3 === 1 ? 9 : 1 },
    });
    const runner = await scriptedRunner(suite.web.coordinator, { id: 'lab-1', places: 50, runMs: 2, outcome });
    const { page, errors } = await suite.open(`batches/${batch_id}`);
    const cells = page.getByRole('article', { name: 'Requirement soft' });
    await cells.getByText('violated: speed < 5').waitFor();
    await runner.stop();
    const texts = await cells.getByRole('row').allTextContents();
    expect(texts).to.deep.equal(['launch sitecalmstorm', "o'hara100 % met0 % violated", 'south100 % met']);
    await cells.getByRole('link', { name: /violated/ }).click();
    await page.waitForURL(/runs\?where=/);
    await page.getByText('launch site', { exact: true }).first().waitFor({ state: 'attached' });
    expect(errors).to.deep.equal([]);
  });

  it('compare two levels of an axis, sample by sample, and say what is left out', async () => {
    const submission = descentStudy('levels', 12);
    submission.config.monte_carlo.sampling_method = 'monte_carlo';
    submission.config.scenarios = {
      site: { north: {}, south: {} },
      wind: { calm: {}, breeze: {}, storm: {} },
      skip: [{ site: 'south', wind: 'storm' }],
    };
    submission.outputs = { speed: { units: 'm/s' } };
    const { batch_id } = await suite.web.coordinator.submit(submission);
    const outcome = ({ job }: { job: { run_config: { metadata: Record<string, any> } } }): Outcome => {
      const { sample, scenario } = job.run_config.metadata as { sample: number; scenario: Record<string, string> };
      return { metadata: { speed: sample + (scenario['wind'] === 'storm' ? 4 + (sample % 2) : 0), level: 3 } };
    };
    const runner = await scriptedRunner(suite.web.coordinator, { id: 'lab-1', places: 50, runMs: 2, outcome });
    const { page, errors } = await suite.open(`batches/${batch_id}`);
    await page
      .getByText('60 of 60')
      .or(page.getByText('100 %', { exact: true }))
      .first()
      .waitFor();
    await runner.stop();
    const panel = page.locator('section', {
      has: page.getByRole('heading', { name: 'Differences between two levels' }),
    });
    const rows = async (): Promise<string[]> =>
      panel.getByRole('region', { name: 'Differences of the outputs' }).getByRole('row').allTextContents();
    await panel
      .getByText(/^Site=south minus site=north, by sample, averaged over 2 pairs of cells; 12 pairs/)
      .waitFor();
    await panel.getByText('1 cell that only one of the levels has, left out').waitFor();
    await panel.getByLabel('Axis').selectOption('wind');
    await panel.getByText(/^Wind=storm minus wind=calm, by sample; 12 pairs/).waitFor();
    const [head, first, ...others] = await rows();
    expect(head).to.equal('OutputSamplesMean difference (storm − calm)p, adjusted');
    expect(first).to.match(/^speed m\/s124\.5 \[4\.168 to 4\.832\]0\.00/);
    expect(others).to.include('level 1200');
    await panel.getByRole('button', { name: 'Swap' }).click();
    await panel.getByText(/^Wind=calm minus wind=storm/).waitFor();
    expect((await rows())[1]).to.match(/-4\.5 \[-4\.832 to -4\.168\]/);
    await panel.getByLabel('before').selectOption('breeze');
    await panel.getByText(/^Wind=calm minus wind=breeze, by sample, averaged over 2 pairs/).waitFor();
    expect(await panel.getByLabel('after').locator('option').allTextContents()).to.deep.equal(['calm', 'storm']);
    expect(errors).to.deep.equal([]);
  });

  it('are also the numbers of an epistemic input, over which an output has bounds', async () => {
    const submission = descentStudy('intervals', 20);
    submission.config.monte_carlo.sampling_method = 'monte_carlo';
    submission.config.epistemic = { bias: { interval: [-1, 1], levels: 3 } };
    submission.requirements = [{ name: 'soft', output: 'speed', condition: '< 2', probability: 0.8 }];
    const { batch_id } = await suite.web.coordinator.submit(submission);
    const outcome = ({ job }: { job: { run_config: { parameters: Record<string, unknown> } } }): Outcome => ({
      metadata: { speed: 2 + Number(job.run_config.parameters['bias']) },
    });
    const runner = await scriptedRunner(suite.web.coordinator, { id: 'lab-1', places: 50, runMs: 2, outcome });
    const { page, errors } = await suite.open(`batches/${batch_id}`);
    const cells = page.getByRole('article', { name: 'Requirement soft' });
    await cells.getByText('violated: speed < 2').waitFor();
    await runner.stop();
    expect((await cells.getByRole('row').allTextContents())[0]).to.equal('-101');
    await page.getByText('speed: mean from 1 (bias=-1) to 3 (bias=1) over 3 cells').waitFor();
    await page.getByRole('img', { name: /^Share of runs at or below each value of speed/ }).waitFor();
    await page.getByText('inner approximation of the intervals of bias').first().waitFor();
    expect(errors).to.deep.equal([]);
  });
});
