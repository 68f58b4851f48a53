/** Units and meanings of a study, where the pages name its parameters and outputs. */
import { expect } from 'chai';
import { descent, descentStudy } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

describe('web: units', () => {
  const suite = webSuite({ id: 'lab-1', places: 20, runMs: 20, outcome: descent });

  it('are beside the names of parameters and declared outputs: in plots, columns, the study and a run', async () => {
    const { batch_id: batchId } = await suite.web.coordinator.submit({
      ...descentStudy('with units', 20),
      outputs: { miss_distance: { units: 'km', description: 'from the planned landing point' } },
    });
    const { page } = await suite.page({ viewport: { width: 1600, height: 1000 } });
    await page.goto(`${suite.web.url}/#/batches/${batchId}`);
    await page.locator('.title').getByText('100 %', { exact: true }).waitFor();
    await page.goto(`${suite.web.url}/#/batches/${batchId}/explore`);
    await page.getByRole('button', { name: 'miss_distance km' }).waitFor();
    await page.getByRole('button', { name: 'entry_speed m/s' }).waitFor();
    expect(await page.getByText('drag_factor [').count()).to.equal(0);
    await page.goto(`${suite.web.url}/#/batches/${batchId}/runs`);
    await page.getByRole('columnheader', { name: 'entry_speed [m/s]' }).waitFor();
    await page.goto(`${suite.web.url}/#/batches/${batchId}/study`);
    await page.getByText('from the planned landing point').first().waitFor();
    await page.goto(`${suite.web.url}/#/jobs/${batchId.slice(0, 28)}00000001`);
    await page.getByText('miss_distance [km]').first().waitFor();
  });
});
