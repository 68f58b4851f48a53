/** Copies of the files of a finished run that are in an archive, for a program that reads them: of this machine, and from an address. */
import { expect } from 'chai';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import type { ParentFiles } from '../../../src/contract/types.ts';
import { ParentRuns, parentPlace } from '../../../src/runner/attempt/extraction/parent-runs.ts';
import { Stopped } from '../../../src/runner/connection/coordinator-connection.ts';
import { JobState } from '../../../src/runner/files/archive/archive-job.ts';
import { writeArchive } from '../../../src/runner/files/archive/write-archive.ts';
import { AttemptFolder } from '../files/archive/support.ts';

const [BATCH, RUN] = ['8b0c0c3e-0000-4000-8000-000000000001', 17];
const FILES = { 'metadata.json': '{"a": 1}', 'deep/a.csv': 'a', 'large.bin': 'x'.repeat(3_000_000) };

describe('runner/attempt/extraction/parent-runs: archives', () => {
  let parent: AttemptFolder;
  let directory: string;
  let server: Server | undefined;
  beforeEach(() => {
    parent = new AttemptFolder();
    parent.write({ ...FILES, 'telemetry.parquet': 'PAR1' });
    directory = join(parent.root, 'x', '00000017', 'attempt-1');
    mkdirSync(directory, { recursive: true });
  });
  afterEach(() => {
    server?.close();
    parent.remove();
  });

  async function copied(files: NonNullable<ParentFiles['files']>, stop = new AbortController().signal) {
    const found = {
      batch_id: BATCH,
      run_id: RUN,
      attempt: 1,
      result: { run_id: RUN },
      files,
    } as unknown as ParentFiles;
    const parents = new ParentRuns({
      config: { id: 'r', outputRoot: parent.root },
      client: { files: { openParentFiles: async () => found } } as never,
      connection: { ask: (exchange) => exchange() },
      spool: { ends: { deletionOf: async () => undefined } } as never,
      clock: systemClock,
    });
    return await parents.copy({ job_id: 'x', attempt: 1 }, directory, stop);
  }
  const place = (): string => parentPlace(directory).files;
  /** Serves the archive in ranges. */
  async function served(): Promise<NonNullable<ParentFiles['files']>> {
    const bytes = readFileSync(parent.at('files.zip'));
    server = createServer(({ headers }, response) => {
      const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(headers.range ?? '') ?? [];
      response.writeHead(206).end(bytes.subarray(Number(from), Number(to) + 1));
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/files.zip`;
    return [{ path: 'files.zip', bytes: bytes.length, url }];
  }

  for (const where of ['this machine', 'an address'])
    it(`are unpacked, from ${where}, beside the files that are in none`, async () => {
      chmodSync(parent.at('deep/a.csv'), 0o750);
      await writeArchive(parent.directory, ['telemetry.parquet'], new JobState());
      const archive = where === 'an address' ? await served() : [{ path: 'files.zip' }];
      const run = await copied([{ path: 'telemetry.parquet' }, ...archive]);
      if ('gone' in run) return expect.fail(run.gone);
      const names = readdirSync(place(), { recursive: true, encoding: 'utf8' }).sort();
      expect(names).to.deep.equal(['deep', ...Object.keys(FILES), 'telemetry.parquet'].sort());
      for (const [path, text] of Object.entries(FILES))
        expect(readFileSync(join(place(), path), 'utf8')).to.equal(text);
      expect(statSync(join(place(), 'deep/a.csv')).mode & 0o777).to.equal(0o750);
      await run.close();
      expect(existsSync(place())).to.equal(false);
      expect(parent.entries()).to.deep.equal(['files.zip', 'telemetry.parquet']);
    });

  it('are copied as they are where a simulation wrote them, and are gone when they are', async () => {
    parent.write({ 'files.zip': 'its own' });
    const run = await copied([{ path: 'files.zip' }, { path: 'metadata.json' }]);
    expect(run).not.to.have.property('gone');
    expect(readFileSync(join(place(), 'files.zip'), 'utf8')).to.equal('its own');
    const absent = new AttemptFolder();
    parent.remove();
    mkdirSync(directory, { recursive: true });
    expect(await copied([{ path: 'files.zip' }]))
      .to.have.property('gone')
      .that.includes('does not exist on runner "r"');
    absent.remove();
  });

  it('leave nothing when the attempt is ended', async () => {
    await writeArchive(parent.directory, [], new JobState());
    const stop = new AbortController();
    const aborted = {
      get aborted() {
        return existsSync(join(place(), 'deep'));
      },
      addEventListener: stop.signal.addEventListener.bind(stop.signal),
    };
    const end = await copied([{ path: 'files.zip' }], aborted as unknown as AbortSignal).catch(
      (error: unknown) => error,
    );
    expect(end).to.be.instanceOf(Stopped);
    expect(existsSync(place())).to.equal(false);
  });
});
