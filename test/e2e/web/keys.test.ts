/** Keys, the palette and the comparison of studies in a real browser. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { descent, descentStudy } from '../../support/web-server.ts';
import { addressOf } from '../../support/browser.ts';
import { webSuite } from '../../support/web-suite.ts';

describe('web: keys and comparison', function () {
  const suite = webSuite({
    id: 'lab-1',
    places: 40,
    runMs: 5,
    // The newer version lands 1 m further away.
    outcome: (it) => {
      const found = descent(it);
      if (!('metadata' in found) || it.job.run_config.metadata.simulation_version !== '2') return found;
      return { metadata: { ...found.metadata, miss_distance: found.metadata['miss_distance']! + 1 } };
    },
  });
  let older: string;
  let newer: string;

  async function completed(name: string, version: string): Promise<string> {
    const study = descentStudy(name, 120);
    study.config.simulation.version = version;
    const condition = version === '1' ? '<= 25' : '<= 0.5';
    study.requirements = [{ name: 'near', output: 'miss_distance', condition, probability: 0.5, confidence: 0.95 }];
    return await suite.completed(study);
  }

  before(async () => {
    older = await completed('version one', '1');
    newer = await completed('version two', '2');
  });

  it('compares two studies run by run, with their changes', async () => {
    const { page, errors } = await suite.open('batches');
    await page.getByLabel('Tick version two to compare it').check();
    await page.getByText('1 ticked: two studies are compared').waitFor();
    await page.getByLabel('Tick version one to compare it').check();
    // The earlier study is before, in whatever order they were ticked.
    const compare = page.getByRole('link', { name: 'Compare version one with version two' });
    await compare.waitFor();
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 240, height: 844 });
    const box = (await compare.boundingBox())!;
    expect(box.x + box.width, 'on the narrowest screen').to.be.at.most(240);
    await page.setViewportSize(size);
    await compare.click();
    await page.getByLabel(/^Compare version one/).waitFor();
    const row = page
      .getByRole('region', { name: 'Outputs of both studies' })
      .getByRole('row')
      .filter({ hasText: 'miss_distance' });
    await row.waitFor();
    expect(await row.textContent()).to.match(/0 of \d+1 \[1 to 1\]/);
    await page.getByText('/simulation/version').waitFor();
    expect(await addressOf(page)).to.include(`with=${newer}`);
    const same = page.getByRole('row').filter({ hasText: 'peak_heat_rate' });
    expect(await same.textContent()).to.match(/(\d+) of \1/);
    // Each output on a card over one axis, its change below, and the verdicts of both.
    const change = page.getByRole('img', { name: 'Change of miss_distance in each run' });
    await change.waitFor();
    expect(await change.textContent()).to.include('change of miss_distance');
    await page.getByRole('img', { name: 'miss_distance before and after' }).getByText('share of runs').waitFor();
    await page.getByText(/^\d+ runs completed in both\. Line: the mean, 1, 95 % interval 1 to 1\./).waitFor();
    await page
      .getByText(/^Equal in all \d+ runs that completed in both\.$/)
      .first()
      .waitFor();
    const near = page.getByRole('region', { name: 'Requirements of both studies' }).getByRole('row', { name: /^near/ });
    expect(await near.getByText(/^(met|violated|not enough runs)$/).allTextContents()).to.deep.equal([
      'met',
      'violated',
    ]);
    expect(await near.textContent())
      .to.include('before: miss_distance <= 25, ')
      .and.include('after: miss_distance <= 0.5, ');
    await page.getByLabel('More about miss_distance before and after').click();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV what is drawn' }).click(),
    ]);
    const lines = readFileSync(await saved.path(), 'utf8').split('\r\n');
    expect(lines[0]).to.equal('study,miss_distance,share,low,high');
    expect(new Set(lines.slice(1, -1).map((it) => it.split(',')[0]))).to.deep.equal(new Set(['before', 'after']));
    await page.getByText('Outputs (3)').click();
    await page.getByRole('checkbox', { name: 'miss_distance' }).uncheck();
    await change.waitFor({ state: 'detached' });
    expect(errors).to.deep.equal([]);
  });

  it('Ctrl K finds studies, runs of the study, runners and pages', async () => {
    const { page, errors } = await suite.open('batches');
    await page.getByRole('link', { name: 'version one' }).waitFor();
    await page.keyboard.press('Control+k');
    const search = page.getByRole('combobox', { name: /^Search studies/ });
    await search.fill('version tw');
    await page.getByRole('option', { name: /^version two/ }).waitFor();
    await search.press('Enter');
    await page.getByRole('heading', { name: 'version two' }).waitFor();
    await page.keyboard.press('Control+k');
    await search.fill('#17');
    await page.getByRole('option', { name: /^17 of this study/ }).waitFor();
    await search.press('Enter');
    await page.getByRole('heading', { name: 'Run #17' }).waitFor();
    await page.locator('a[rel=next]').waitFor();
    await page.keyboard.press(']');
    await page.getByRole('heading', { name: 'Run #18' }).waitFor();
    await page.locator('a[rel=prev]').waitFor();
    await page.keyboard.press('[');
    await page.getByRole('heading', { name: 'Run #17' }).waitFor();
    await page.keyboard.press('Control+k');
    await search.fill('lab-1');
    await page.getByRole('option', { name: /^lab-1/ }).click();
    await page.getByRole('heading', { name: 'lab-1' }).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('f, j, k, [ ] and ? work outside of fields, and not inside', async () => {
    const { page } = await suite.open(`batches/${older}/runs`);
    await page.getByRole('link', { name: '#0', exact: true }).waitFor();
    const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.textContent');
    await page.locator('.grid').focus();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await focused()).to.equal('#1');
    await page.keyboard.press('k');
    expect(await focused()).to.equal('#0');
    await page.keyboard.press('f');
    await page.keyboard.type('jk[]?');
    expect(await page.getByRole('searchbox', { name: 'Filter' }).inputValue()).to.equal('jk[]?');
    await page.keyboard.press('Tab');
    await page.locator('h1').click();
    await page.keyboard.press(']');
    await page.locator('.tabs a[aria-current=page]').getByText('Explore').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
  });
});
