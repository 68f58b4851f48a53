/** Files of runs on their runner, which may answer anything: a fault frees the reading, and a list with hostile paths is not taken. */
import { expect } from 'chai';
import { Abandonment } from '../../../../src/base/abandonment.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import type { FileFault } from '../../../../src/contract/types.ts';
import { MAX_READINGS } from '../../../../src/coordinator/files/runner/file-requests.ts';
import { codeOf, RESULT, Scene } from '../../../support/scene.ts';

const stop = new Abandonment();

describe('coordinator/files/runner: runner-place', () => {
  let scene: Scene;
  let job: string;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('a');
    const batchId = await scene.submit({ runs: 1 });
    job = jobId(batchId, 0);
    await scene.running(batchId, 0, 'a');
    await scene.complete(batchId, 0, 'a');
  });
  afterEach(() => scene.api.close());

  /** The runner takes one request, and answers it while `reading` waits. */
  async function answered<T>(
    begin: () => Promise<T>,
    answer: { fault?: FileFault; detail?: string; size?: number; version?: string },
    bytes = new Uint8Array(),
  ): Promise<T> {
    const poll = scene.api.fileRequests('a', { instance: scene.instance('a'), holding: [], wait_seconds: 20 });
    const reading = begin();
    // A reading that is refused at once asks the runner nothing.
    const [request] = (await Promise.race([poll, reading.then(() => undefined)]))?.requests ?? [];
    if (request !== undefined) await scene.api.filePart('a', { request: request.request_id, ...answer }, bytes);
    return await reading;
  }

  it('frees the reading of a file that its runner refuses, so that others can read afterwards', async () => {
    const wish = { path: 'gone.csv', attempt: undefined, range: undefined, isHead: false, isRelayed: true };
    const codes = new Set<string>();
    for (let readings = 0; readings <= MAX_READINGS; readings++)
      codes.add(
        await answered(() => codeOf(scene.api.jobFile(job, wish, stop)), {
          fault: 'unknown-file',
          detail: 'it is gone',
        }),
      );
    expect([...codes]).to.deep.equal(['unknown-file']);
  });

  it('names the archive of the result where a file is not sent, and none where the result has none or names the file', async () => {
    const batchId = await scene.submit({ runs: 1 });
    const archived = jobId(batchId, 0);
    await scene.running(batchId, 0, 'a');
    const folder = `/out/${batchId}/0/attempt-1`;
    const result = { ...RESULT, output_files: [`${folder}/named.csv`, `${folder}/files.zip`] };
    await scene.api.complete(archived, { runner_id: 'a', attempt: 1, result });
    const refusal = (of: string, path: string): Promise<string> => {
      const wish = { path, attempt: undefined, range: undefined, isHead: false, isRelayed: true };
      const read = () => scene.api.jobFile(of, wish, stop).then(String, (error: Error) => error.message);
      return answered(read, { fault: 'unreadable', detail: 'the disk is broken' });
    };
    const hint = `; the result names "${folder}/files.zip", which may have it: read that`;
    expect(await refusal(archived, 'deep/other.csv')).to.include(`the disk is broken${hint}`);
    expect(await refusal(archived, 'named.csv')).to.match(/the disk is broken$/);
    expect(await refusal(job, 'deep/other.csv')).to.match(/the disk is broken$/);
  });

  for (const path of ['../secret.csv', 'a/../../b', '/etc/passwd', 'a//b', '.'])
    it(`does not take a list that names ${path}`, async () => {
      const list = (name: string) => ({
        directory: '/out',
        files: [
          { path: 'a.csv', bytes: 1, modified_ms: 0 },
          { path: name, bytes: 1, modified_ms: 0 },
        ],
        notes: [],
      });
      const listed = (name: string) => {
        const bytes = new TextEncoder().encode(JSON.stringify(list(name)));
        return answered(() => scene.api.jobFiles(job, undefined, stop), { size: bytes.length, version: '1' }, bytes);
      };
      expect((await listed('b.csv')).files.map((it) => it.path)).to.include.members(['a.csv', 'b.csv']);
      const { files, notes } = await listed(path);
      expect(files.map((it) => it.path)).not.to.include.members(['a.csv']);
      expect(notes.join()).to.include('runner "a" sent a list of files that cannot be read; update its program');
    });
});
