/** The telemetry of an ended run on its page, read from a real runner: limits, the moment of a hit, and the band of the study. */
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { requireClean } from '../../support/clean-page.ts';
import type { RunnerProcess } from '../../support/runner-process.ts';
import { study } from '../../support/studies.ts';
import { runnerSuite } from '../../support/web-suite.ts';

const RUNS = 6;

describe('web: telemetry of an ended run', () => {
  const suite = runnerSuite();
  let runner: RunnerProcess;
  let batchId: string;

  before(async function () {
    runner = suite.site.start(suite.web.url, ['--serve-files']);
    const submission = study({
      runs: RUNS,
      config: {
        early_termination: {
          enabled: true,
          check_frequency_hz: 100,
          conditions: [{ variable: 'altitude', condition: '< 60', description: 'too low' }],
        },
        telemetry: { sampling_rate_hz: 0 },
      },
    });
    submission.config.compute.max_retries = 0;
    submission.config.compute.container.environment = {
      BEHAVE: 'dive',
      PROTO: join(packageRoot, 'clients/telemetry.proto'),
    };
    submission.outputs = { top_speed: { units: 'm/s', censored: 'speed' } };
    submission.requirements = [{ name: 'slow', output: 'top_speed', condition: '<= 30', probability: 0.5 }];
    batchId = (await suite.client.submit(submission)).batch_id;
    while (['Pending', 'Running'].includes((await suite.client.batch(batchId)).batch.status))
      await new Promise((resolve) => setTimeout(resolve, 50));
  });

  it('is plotted with its limits, the moment a condition was met, units, and the band of the other runs', async () => {
    const { page, errors, foreign } = await suite.open(`jobs/${jobId(batchId, 2)}`, {
      viewport: { width: 1280, height: 900 },
    });
    const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Telemetry', exact: true }) });
    await panel
      .getByRole('img', {
        name: /^altitude over the time of the run, in seconds; < 60 was met and ended the run at 0\.41 s, by 59$/,
      })
      .waitFor();
    await panel.getByText('< 60 ends the run', { exact: true }).waitFor();
    await panel.getByText('speed [m/s], over seconds', { exact: true }).waitFor();
    await panel.getByText('<= 30 required: slow', { exact: true }).waitFor();
    await panel.getByRole('button', { name: 'Compare with the other runs' }).click();
    await panel.getByText(`Band of ${RUNS - 1} of ${RUNS} runs.`).waitFor();
    await panel.getByRole('img', { name: /^altitude .*; band of 5 runs/ }).waitFor();
    await panel
      .getByRole('img', {
        name: /^Runs of the band whose telemetry has not ended, .*: 5 in all, \d at the end of the plot$/,
      })
      .waitFor();
    expect(await panel.getByRole('button', { name: 'Read those again' }).count()).to.equal(0);
    await requireClean(page, 'a run with its telemetry');
    expect([errors, foreign]).to.deep.equal([[], []]);
  });

  it('says which runs the band lacks, and where the file is, once the runner is gone', async () => {
    await runner.end('SIGTERM');
    const { page, errors } = await suite.open(`jobs/${jobId(batchId, 3)}`);
    const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Telemetry', exact: true }) });
    await panel.getByText(/^The file is on the machine of r1, which does not send it now/).waitFor();
    await panel
      .locator('input[type=file]')
      .setInputFiles(join(suite.site.folder, 'out', batchId, '00000003', 'attempt-1', 'telemetry.parquet'));
    await panel.getByRole('button', { name: 'Compare with the other runs' }).click();
    // The band before left run 2 out, and not run 3: only run 2 has not been read.
    await panel.getByText(`Band of ${RUNS - 2} of ${RUNS} runs; 1 run could not be read.`).waitFor();
    await panel.getByText(/^Run 2: .*runner "r1" is gone/).waitFor();
    await panel.getByRole('button', { name: 'Read those again' }).waitFor();
    expect(errors).to.deep.equal([]);
  });
});
