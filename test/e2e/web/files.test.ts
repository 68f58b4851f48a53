/** The files of a run on its page, read from a real runner. */
import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { encodeRows, TelemetryFile } from '../../../src/runner/telemetry/parquet.ts';
import { Rows } from '../../../src/runner/telemetry/rows.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { STORAGE, storeOf, untilUploaded } from '../object-store/uploads.suite.ts';
import { FakeS3, KEY } from '../../support/fake-s3.ts';
import { study } from '../../support/studies.ts';
import { runnerSuite } from '../../support/web-suite.ts';
import { batchIdOf } from '../../../src/domain/ids.ts';

const PNG = blackPicture(2, 3);

/** A PNG file (RFC 2083) of black pixels. */
function blackPicture(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(data.length);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([head, body, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits of grey.
  header[8] = 8;
  const pixels = deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

async function writeParquet(path: string): Promise<void> {
  const file = await TelemetryFile.create(path);
  const rows = new Rows();
  rows.column('altitude').set(rows.pushTime(0n), 1234.5);
  await file.append(rows.count, [...encodeRows(rows, 'snappy')]);
  await file.writeFooter();
  await file.close();
}

describe('web: files of a run', () => {
  const suite = runnerSuite();

  it('are listed, shown and downloaded', async () => {
    suite.site.start(suite.web.url, ['--serve-files']);
    const submission = study({ runs: 1 });
    submission.config.compute.container.environment = { BEHAVE: 'files' };
    const job = await suite.until(submission, 'Completed');
    const { page, errors, foreign } = await suite.open(`jobs/${job}`);
    await page.getByRole('button', { name: 'Show deep/er/grün % #1.csv' }).click();
    await page.getByRole('region', { name: 'deep/er/grün % #1.csv' }).getByRole('cell', { name: '2' }).waitFor();
    await page.getByRole('button', { name: 'Show stdout.log' }).click();
    await page.getByText('printed by the simulation').waitFor();
    expect(await page.getByRole('button', { name: 'Show page.html' }).count()).to.equal(0);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download large.bin' }).click();
    expect((await saved).suggestedFilename()).to.equal('large.bin');
    expect([errors, foreign]).to.deep.equal([[], []]);
  });

  it('are shown as a picture and as the rows of a Parquet file', async () => {
    const picture = join(suite.site.folder, 'track.png');
    // 2 x 3 pixels.
    writeFileSync(picture, PNG);
    const table = join(suite.site.folder, 'states.parquet');
    await writeParquet(table);
    suite.site.startApart('pictures', suite.web.url, ['--serve-files']);
    const submission = study({ runs: 1 });
    submission.config.compute.container.environment = { BEHAVE: 'copies', COPIES: `${picture},${table}` };
    const job = await suite.until(submission, 'Completed');
    const { page, errors, foreign } = await suite.open(`jobs/${job}`);
    await page.getByRole('button', { name: 'Show track.png' }).click();
    const image = page.getByRole('img', { name: 'track.png' });
    await image.waitFor();
    const size = await image.evaluate(async (element) => {
      const drawn = element as unknown as { decode(): Promise<void>; naturalWidth: number; naturalHeight: number };
      await drawn.decode();
      return [drawn.naturalWidth, drawn.naturalHeight];
    });
    expect(size).to.deep.equal([2, 3]);
    await page.getByRole('button', { name: 'Show states.parquet' }).click();
    const rows = page.getByRole('region', { name: 'states.parquet' });
    await rows.getByRole('columnheader', { name: 'altitude' }).waitFor();
    await rows.getByRole('cell', { name: '1234.5', exact: true }).waitFor();
    expect([errors, foreign]).to.deep.equal([[], []]);
  });
});

describe('web: files of a run in an object store', function () {
  let s3: FakeS3 | undefined;
  before(async () => {
    s3 = await FakeS3.start();
  });
  const suite = runnerSuite({
    options: () => ({ settings: { objectStore: storeOf({ endpoint: s3!.url, credentials: KEY }) } }),
  });
  after(() => s3?.stop());

  /** A run of one study whose files are in the object store. */
  async function ended(environment: Record<string, string>): Promise<string> {
    const early_termination = {
      enabled: true,
      check_frequency_hz: 100,
      conditions: [{ variable: 'altitude', condition: '< 60', description: 'too low' }],
    };
    const submission = study({ runs: 1, maxRetries: 0, config: { ...STORAGE.config, early_termination } });
    submission.config.compute.container.environment = environment;
    const job = await suite.until(submission, 'Completed', 'Failed');
    expect((await untilUploaded(suite.client, await suite.client.job(job))).upload?.failed).to.deep.equal([]);
    return job;
  }
  let flight: string;

  it('are shown, and the telemetry is plotted, without a request to the store by the page', async () => {
    const picture = join(suite.site.folder, 'track.png');
    writeFileSync(picture, PNG);
    const table = join(suite.site.folder, 'states.parquet');
    await writeParquet(table);
    const cells = join(suite.site.folder, 'cells.csv');
    writeFileSync(cells, 'a,b\n1,"2, 3"\n');
    const notes = join(suite.site.folder, 'notes.txt');
    writeFileSync(notes, 'written by the simulation');
    const { web } = suite;
    const runner = suite.site.start(web.url);
    const copies = await ended({ BEHAVE: 'copies', COPIES: [picture, table, cells, notes].join() });
    flight = await ended({ BEHAVE: 'dive', PROTO: join(packageRoot, 'clients/telemetry.proto') });
    await runner.end('SIGTERM');
    const { page, errors, foreign } = await suite.open(`jobs/${copies}`);
    await page.getByRole('button', { name: 'Show cells.csv' }).click();
    await page.getByRole('region', { name: 'cells.csv' }).getByRole('cell', { name: '2, 3' }).waitFor();
    await page.getByRole('button', { name: 'Show track.png' }).click();
    await page.getByRole('img', { name: 'track.png' }).waitFor();
    await page.getByRole('button', { name: 'Show states.parquet' }).click();
    await page.getByRole('cell', { name: '1234.5', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show notes.txt' }).click();
    await page.getByText('written by the simulation').waitFor();
    await page.goto(`${web.url}/#/jobs/${flight}`);
    const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Telemetry', exact: true }) });
    await panel.getByRole('img', { name: /^altitude over the time of the run, in seconds/ }).waitFor();
    expect(await panel.locator('input[type=file]').count()).to.equal(0);
    const band = await fetch(`${web.url}/batches/${batchIdOf(flight)}/telemetry-band`);
    expect(await band.json()).to.deep.include({ read: 1, unread: [] });
    expect([errors, foreign]).to.deep.equal([[], []]);
  });

  it('are read from this machine where the store cannot be read', async () => {
    const copy = join(suite.site.folder, 'out', batchIdOf(flight), '00000000', 'attempt-1', 'telemetry.parquet');
    s3!.fault = () => 503;
    try {
      const { page } = await suite.open(`jobs/${flight}`);
      const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Telemetry', exact: true }) });
      await panel.getByRole('button', { name: 'Read and plot the file' }).click();
      await panel.getByText(/cannot be read from the object store/).waitFor();
      await panel.locator('input[type=file]').setInputFiles(copy);
      await panel.getByRole('img', { name: /^altitude over the time of the run, in seconds/ }).waitFor();
      expect(await panel.getByRole('alert').count()).to.equal(0);
      await page.getByText(/^the sizes of the uploaded files are not known/).waitFor();
      await page.close();
    } finally {
      s3!.fault = () => undefined;
    }
  });
});
