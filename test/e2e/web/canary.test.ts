/** Studies that wait for their canary study, in a real browser: while it runs, after it has failed, after the release, and in the form. */
import { expect } from 'chai';
import type { BatchSubmission, Uuid } from '../../../src/contract/types.ts';
import { descentStudy } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

describe('web: canary studies', () => {
  const suite = webSuite({
    id: 'lab-1',
    places: 4,
    runMs: 5,
    outcome: ({ job: { run_config: it } }) =>
      it.metadata.simulation_version === 'torn' && it.run_id === 2
        ? { reason: 'exit', message: 'the parachute tears' }
        : { metadata: { miss_distance: 40 } },
  });
  const guarded = (name: string, version: string): BatchSubmission => {
    const study = descentStudy(name, 6);
    study.config.compute.max_retries = 0;
    study.config.simulation = { ...study.config.simulation, version };
    return { ...study, policy: { canary: 'corners' } };
  };
  const canaryOf = async (batch: Uuid): Promise<Uuid> =>
    (await suite.web.coordinator.batch(batch)).batch.children![0]!.batch_id;

  it('says what the runs wait for, then that the canary study has failed, by which run and why, and releases the runs', async () => {
    const { coordinator } = suite.web;
    const { batch_id: batch } = await coordinator.submit(guarded('landing', 'torn'));
    const canary = await canaryOf(batch);
    const { page, errors } = await suite.open(`batches/${batch}`);
    const sentence = 'the canary run with all inputs high has failed: the parachute tears; 6 runs must wait';
    await page.getByText(`Blocked: ${sentence}.`, { exact: true }).waitFor();
    const banner = page.getByRole('alert').filter({ hasText: 'the parachute tears' });
    expect(await banner.getByRole('link', { name: 'See why' }).getAttribute('href')).to.equal(`#/batches/${canary}`);
    await page.getByText('Blocked: no run can start', { exact: true }).waitFor();
    await page.getByText(/^the canary failed, \d/).waitFor();
    await page.getByRole('link', { name: 'Show the canary study' }).click();
    await page.getByText('Canary study of').waitFor();
    await page.getByRole('heading', { name: 'landing (canary)' }).waitFor();
    await page.goBack();
    await banner.getByRole('button', { name: 'Release the other runs' }).click();
    // Run 2 of the study fails as well.
    await page.getByText(/^Not OK: 1 of 6 runs did not complete/).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('says that the runs wait while the canary study is paused, and starts them by itself', async () => {
    const { coordinator } = suite.web;
    await coordinator.drain('lab-1', 'a look');
    const { batch_id: batch } = await coordinator.submit(guarded('descent', 'good'));
    const canary = await canaryOf(batch);
    await coordinator.pauseBatch(canary);
    await coordinator.resume('lab-1');
    const { page, errors } = await suite.open(`batches/${batch}`);
    await page
      .getByText(
        /^Waiting for its canary study: 6 runs must wait until every run of the canary study \S+ has completed\.$/,
      )
      .waitFor();
    await page.getByText('Waits for', { exact: true }).waitFor();
    await page.getByRole('link', { name: canary.slice(0, 13) }).waitFor();
    await page.getByRole('link', { name: 'Show the canary study' }).waitFor();
    await coordinator.resumeBatch(canary);
    await page.getByText(/^OK: all 6 runs completed/).waitFor();
    await page.getByText('canary-passed').waitFor();
    expect(errors).to.deep.equal([]);
  });
});
