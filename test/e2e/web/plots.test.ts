/** Plots: the telemetry of a run, from a file of the runner's writer, and the progress of a study. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { encodeRows, TelemetryFile } from '../../../src/runner/telemetry/parquet.ts';
import { Rows } from '../../../src/runner/telemetry/rows.ts';
import { drawnPlot, readLine, rememberTexts, textsOf, valueAt } from '../../support/drawn.ts';
import { descent, descentStudy } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

const SECS = 40;
const START_NS = 1_770_000_000_123_456_789n;

interface Variable {
  /** Undefined: no sample at that time. */
  at: (secs: number) => number | undefined;
  /** The labels of its axis, from the bottom up. */
  marks: string[];
}

const VARIABLES: Record<string, Variable> = {
  altitude: { at: (t) => 120_000 - 75 * t * t, marks: ['0', '50000', '100000', '150000'] },
  bank: { at: (t) => 50 * Math.sin(t / 8), marks: ['-50', '-25', '0', '25', '50'] },
  // Far from 0: its axis shows the change, not the distance from 0.
  mass: { at: (t) => 2_140 - 2 * t, marks: ['2060', '2080', '2100', '2120', '2140'] },
  valve: { at: () => 0, marks: ['0', '0.25', '0.5', '0.75', '1'] },
  // Sent later than the others, and not a number for a while.
  chute: { at: (t) => (t < 10 ? undefined : t < 20 ? NaN : t / 10), marks: ['0', '1', '2', '3', '4'] },
};

/** A file as a runner writes it: row groups, one of them without a variable that appears later. */
async function writeTelemetry(path: string): Promise<void> {
  const file = await TelemetryFile.create(path);
  for (let from = 0; from < SECS; from += 8) {
    const rows = new Rows();
    // The last one also takes the end.
    for (let tick = from * 10; tick < from * 10 + (from + 8 === SECS ? 81 : 80); tick += 1) {
      const row = rows.pushTime(START_NS + BigInt(tick) * 100_000_000n);
      for (const [name, { at }] of Object.entries(VARIABLES)) {
        const value = at(tick / 10);
        if (value !== undefined) rows.column(name).set(row, value);
      }
    }
    await file.append(rows.count, [...encodeRows(rows, 'snappy')]);
    await file.writeFooter();
  }
  await file.close();
}

describe('web: plots', () => {
  const suite = webSuite(({ folder }) => ({
    id: 'lab-1',
    places: 1,
    runMs: 10,
    outcome: descent,
    telemetry: join(folder, 'telemetry.parquet'),
  }));
  let path: string;
  let batchId: string;
  let page: Page;
  let errors: string[];

  before(async () => {
    path = join(suite.web.folder, 'telemetry.parquet');
    await writeTelemetry(path);
    batchId = (await suite.web.coordinator.submit(descentStudy('telemetry', 1))).batch_id;
    const watched = await suite.page();
    ({ page, errors } = watched);
    await rememberTexts(page);
    await page.goto(`${suite.web.url}/#/jobs/${batchId.slice(0, 28)}00000001`);
    // The runner has reported the path of the file.
    await page.locator('code', { hasText: path }).first().waitFor();
  });

  it('are one per variable of telemetry, in the order of the file', async () => {
    await page.locator('input[type=file]').setInputFiles(path);
    await page.locator('.plot').first().waitFor();
    const plots = await page.locator('.plot [role=img]').all();
    const labels = await Promise.all(plots.map((it) => it.getAttribute('aria-label')));
    const keys = await page.locator('.plot figcaption').allTextContents();
    expect(labels).to.deep.equal(Object.keys(VARIABLES).map((it) => `${it} over the time of the run, in seconds`));
    expect(keys).to.deep.equal([
      'altitude, over seconds< -5 ends the run',
      ...['bank', 'mass', 'valve', 'chute'].map((it) => `${it}, over seconds`),
    ]);
  });

  for (const [name, { at, marks }] of Object.entries(VARIABLES)) {
    it(`show ${name} as it was`, async () => {
      const drawn = await drawnPlot(page, `${name} over the time of the run, in seconds`, 'running');
      expect(textsOf(drawn.vertical), 'marks of the vertical axis').to.deep.equal(marks);
      const across = textsOf(drawn.horizontal);
      expect([across[0], across.at(-1)], 'ends of the horizontal axis').to.deep.equal(['0', String(SECS)]);
      const height = Number(marks.at(-1)) - Number(marks[0]);
      for (const secs of [1, 5, 9, 15, 21, 27, 33, 39]) {
        const expected = at(secs);
        const value = readLine(drawn, secs);
        if (expected === undefined || Number.isNaN(expected)) expect(value, `at ${secs} s`).to.equal(null);
        else expect(value, `at ${secs} s`).to.be.closeTo(expected, height * 0.03);
      }
    });
  }

  it('reject a file that is not telemetry', async () => {
    await page.locator('input[type=file]').setInputFiles({
      name: 'other.parquet',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from('a,b\n1,2\n'),
    });
    await page.getByText('The telemetry could not be read.').waitFor();
    expect(await page.locator('.plot').count()).to.equal(0);
    expect(errors).to.deep.equal([]);
  });

  it('show the progress up to the number of runs', async () => {
    await page.goto(`${suite.web.url}/#/batches/${batchId}`);
    const label = 'Runs completed and failed, over time, and the projection to the end';
    const { vertical, line } = await drawnPlot(page, label, 'completed');
    expect([vertical[0]?.text, vertical.at(-1)?.text]).to.deep.equal(['0', '1']);
    const heights = line.filter((it) => it !== null).map((it) => valueAt(vertical, it));
    expect(Math.min(...heights)).to.be.closeTo(0, 0.03);
    expect(Math.max(...heights)).to.be.closeTo(1, 0.03);
  });
});
