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
});
