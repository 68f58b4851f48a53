/** The cells of a study with scenarios on its page: a table by levels, and the runs of a cell. */
import { expect } from 'chai';
import { jobId } from '../../../src/domain/ids.ts';
import { descentStudy, scriptedRunner, type Outcome } from '../../support/web-server.ts';
import { until } from '../support.ts';
import { addressOf } from '../../support/browser.ts';
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
    await page.goto(`${suite.web.url}/#/jobs/${jobId(batch_id, 4)}`);
    await page.getByText("launch site=o'hara, wind=storm, sample 1").waitFor();
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
    submission.requirements = [
      { name: 'low', output: 'speed', condition: '< 11.5', probability: 0.5 },
      { name: 'crashed', output: 'speed', condition: '< 3', probability: 0.5 },
    ];
    const { batch_id } = await suite.web.coordinator.submit(submission);
    const outcome = ({ job }: { job: { run_config: { metadata: Record<string, any> } } }): Outcome => {
      const { sample, scenario } = job.run_config.metadata as { sample: number; scenario: Record<string, string> };
      return { metadata: { speed: sample + (scenario['wind'] === 'storm' ? 4 + (sample % 2) : 0), level: 3 } };
    };
    const runner = await scriptedRunner(suite.web.coordinator, { id: 'lab-1', places: 50, runMs: 2, outcome });
    const { page, errors } = await suite.open(`batches/${batch_id}`);
    await page
      .getByText('60 of 60')
      .or(page.locator('.title').getByText('100 %', { exact: true }))
      .first()
      .waitFor();
    await runner.stop();
    const panel = page.locator('section', {
      has: page.getByRole('heading', { name: 'Differences between two levels' }),
    });
    const rows = async (): Promise<string[]> =>
      panel.getByRole('region', { name: 'Differences of the outputs' }).getByRole('row').allTextContents();
    await panel
      .getByText(/^site=south minus site=north, by sample, averaged over 2 pairs of cells; 12 pairs/)
      .waitFor();
    await panel.getByText('1 cell that only one of the levels has, left out').waitFor();
    await panel.getByLabel('Axis').selectOption('wind');
    await panel.getByText(/^wind=storm minus wind=calm, by sample; 12 pairs/).waitFor();
    const [head, first, ...others] = await rows();
    expect(head).to.equal('OutputSamplesMean difference (storm − calm)p, adjusted');
    expect(first).to.match(/^speed m\/s124\.5 \[4\.168 to 4\.832\]0\.00/);
    expect(others).to.include('level 120 [0 to 0]–');
    await panel.getByRole('button', { name: 'Swap' }).click();
    await panel.getByText(/^wind=calm minus wind=storm/).waitFor();
    expect((await rows())[1]).to.match(/-4\.5 \[-4\.832 to -4\.168\]/);
    await panel.getByLabel('before').selectOption('breeze');
    await panel.getByText(/^wind=calm minus wind=breeze, by sample, averaged over 2 pairs/).waitFor();
    expect(await panel.getByLabel('after').locator('option').allTextContents()).to.deep.equal(['calm', 'storm']);
    await panel.getByLabel('Axis').selectOption('wind');
    await panel.getByText(/12 pairs: 0 samples broke, 0 mended \(McNemar p = 1\)/).waitFor();
    const failing = panel.getByLabel('failing');
    expect(await failing.locator('option').allTextContents()).to.deep.equal(['failed runs', 'requirement low']);
    await failing.selectOption('low');
    // Calm samples are at most 11; from sample 7 on a storm makes 12 and more.
    await panel.getByText(/12 pairs: 5 samples broke, 0 mended \(failing: low; McNemar p = 0\.063\)/).waitFor();
    await panel.getByLabel('Axis').selectOption('site');
    await panel
      .getByText(/^site=south minus site=north.*12 pairs: 0 samples broke, 0 mended \(failing: low;/)
      .waitFor();
    await failing.selectOption('failed runs');
    await panel.getByText(/^site=south minus site=north.*12 pairs: 0 samples broke, 0 mended \(McNemar/).waitFor();
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

  it('are written in the form: axes, levels, skipped cells, epistemic inputs and weights, with their faults in place', async () => {
    const { page, errors } = await suite.open('submit', { viewport: { width: 1280, height: 900 } });
    await page.getByLabel('Name of the study').fill('by cells');
    await page.getByLabel(/^Simulation/).fill('descent');
    await page.getByLabel('Sampling').selectOption('monte_carlo');
    await page.getByLabel('Runs', { exact: true }).fill('60');
    await page.getByRole('button', { name: 'Add a parameter' }).click();
    await page.locator('summary', { hasText: 'Scenarios' }).click();
    await page.getByRole('button', { name: 'Add an axis' }).click();
    await page.getByRole('button', { name: 'Add an axis' }).click();
    const rename = async (label: string, at: number, to: string): Promise<void> => {
      await page.getByLabel(label, { exact: true }).nth(at).fill(to);
      await page.getByLabel(label, { exact: true }).nth(at).blur();
    };
    await rename('Axis', 0, 'site');
    await rename('Axis', 1, 'wind');
    for (const [at, name] of ['andoya', 'esrange', 'calm', 'storm'].entries()) await rename('Level', at, name);
    await page.getByText('4 cells, 60 runs in each: 240 runs.').waitFor();

    const level = (name: string) => page.getByRole('group', { name: `level ${name}` });
    await level('andoya of site').getByRole('button', { name: 'Replace an input' }).click();
    await level('andoya of site').getByLabel('value').fill('90');
    await level('storm of wind').getByRole('button', { name: 'Replace an input' }).click();
    await page.getByText('replaces "parameter_1", as the axis site does; one axis replaces a parameter').waitFor();
    await page.getByText('The preview appears when the faults are corrected.').waitFor();
    await level('storm of wind').getByLabel('replaces').fill('gust');
    await level('storm of wind').getByLabel('replaces').blur();
    await level('storm of wind').getByLabel('by').selectOption('uniform');
    await level('storm of wind').getByLabel('max').fill('-5');
    await page.getByText('must be <= max (-5), not 0').first().waitFor();
    await level('storm of wind').getByLabel('max').fill('25');

    await page.getByRole('button', { name: 'Skip cells' }).click();
    const skipped = page.getByRole('group', { name: 'skipped cells 1' });
    await skipped.getByLabel('site').selectOption('esrange');
    await skipped.getByLabel('wind').selectOption('any');
    await page.getByText('2 cells (2 skipped), 60 runs in each: 120 runs.').waitFor();
    await skipped.getByLabel('wind').selectOption('storm');
    await rename('Level', 3, 'gale');
    await page.getByText('3 cells (1 skipped), 60 runs in each: 180 runs.').waitFor();

    await page.getByRole('button', { name: 'Add a requirement' }).click();
    await page.getByLabel('Requirement', { exact: true }).fill('soft');
    await page.getByLabel(/^Output \(/).fill('speed');
    await page.getByLabel(/^passes where/).fill('< 5');
    await page.getByLabel('in cells').selectOption('pooled');
    const weights = page.getByRole('group', { name: 'site', exact: true });
    await weights.getByLabel('with weights').check();
    await weights.getByLabel('esrange').fill('');
    await page.getByText('lacks the weight of "esrange"; give one for every level of the axis').waitFor();
    await weights.getByLabel('esrange').fill('0.3');
    await weights.getByLabel('andoya').fill('0.7');
    await page.getByRole('heading', { name: 'Runs needed to meet the requirements, in each cell' }).waitFor();
    await page.getByText('samples of all cells').waitFor();

    await page.locator('summary', { hasText: 'Epistemic inputs' }).click();
    await page.getByRole('button', { name: 'Add an epistemic input' }).click();
    await page.getByText('is "pooled", and an epistemic input is not random').waitFor();
    await page.getByLabel('in cells').selectOption('worst');
    await page.getByLabel('Input', { exact: true }).fill('bias');
    await page.getByLabel('Input', { exact: true }).blur();
    await page.getByLabel(/^interval/).fill('1 -1');
    await page.getByText('the first number must be less than the second').waitFor();
    await page.getByLabel(/^interval/).fill('-1 1');
    await page.getByLabel(/^levels/).fill('1000000000');
    await page.getByText('levels, a whole number from 2 to 256').waitFor();
    await page.getByLabel(/^levels/).fill('3');
    await page.getByText('9 cells (3 skipped), 60 runs in each: 540 runs.').waitFor();
    await page.getByText('Those of all cells together.').waitFor();
    for (const width of [390, 820, 1280, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const inner = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(inner, `${width}`).to.be.at.most(width);
    }
    await page.getByRole('button', { name: 'Submit 540 runs' }).click();
    await page.getByRole('heading', { name: 'by cells' }).waitFor();
    const id = /batches\/([0-9a-f-]+)/.exec(await addressOf(page))![1]!;
    const { config, requirements } = await suite.web.coordinator.submission(id);
    expect(config.scenarios).to.deep.equal({
      site: { andoya: { parameter_1: 90 }, esrange: {} },
      wind: { calm: {}, gale: { gust: { type: 'uniform', min: 0, max: 25 } } },
      skip: [{ site: 'esrange', wind: 'gale' }],
    });
    expect(config.epistemic).to.deep.equal({ bias: { interval: [-1, 1], levels: 3 } });
    expect(requirements).to.deep.equal([
      { name: 'soft', output: 'speed', condition: '< 5', probability: 0.95, in: 'worst' },
    ]);
    expect(errors).to.deep.equal([]);
  });

  it('are refused in the form and as YAML where their shape is unknown, and the page stays', async () => {
    const { page, errors } = await suite.open('submit');
    await page.getByRole('button', { name: 'YAML' }).click();
    const text = page.getByLabel('Study as YAML');
    await text.click();
    // The text comes with the module that writes it.
    let written = '';
    await until(async () => (written = await text.inputValue()).includes('config:'));
    await text.fill(written.replace('config:\n', 'config:\n  scenarios:\n    wind:\n  epistemic:\n    bias: {}\n'));
    await page.getByText('must have axes of levels').waitFor();
    await page.getByText('must have an interval of two numbers').waitFor();
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByText('must have axes of levels').waitFor();
    await page.getByText('must have an interval of two numbers').waitFor();
    expect(errors).to.deep.equal([]);
  });
});
