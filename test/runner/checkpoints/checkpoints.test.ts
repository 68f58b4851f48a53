/** Checkpoints of a runner on its disk: which files are sent, within which limit, and which folders are removed with a run. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import type { CheckpointCompleteRequest, CheckpointUploadRequest } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { checkpointDirectory, Checkpoints } from '../../../src/runner/checkpoints/checkpoints.ts';
import { linkSet, lookAt } from '../../../src/runner/checkpoints/checkpoint-set.ts';
import { CheckpointUpload, type CheckpointLink } from '../../../src/runner/checkpoints/checkpoint-upload.ts';
import {
  StoredCheckpoints,
  type StoredCheckpointsOptions,
} from '../../../src/runner/checkpoints/stored-checkpoints.ts';
import { createLog, silentLog } from '../../../src/runner/log.ts';
import { Waits } from '../../../src/runner/waits.ts';

const BATCH = '0190a000-0000-8000-8000-000000000000';
const OTHER_DISK = '/dev/shm';

describe('runner/checkpoints', () => {
  let root: string;
  let directory: string;
  let completed: CheckpointCompleteRequest[];
  /** The paths that the coordinator signs in place of those that were asked for. */
  let signed: string[] | undefined;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'simbatch-checkpoints-'));
    directory = checkpointDirectory(root, BATCH, 0, 1);
    mkdirSync(directory, { recursive: true });
    completed = [];
    signed = undefined;
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const ref = { job_id: jobId(BATCH, 0), attempt: 1 };
  /** A coordinator whose object store has every file already. */
  const linkTo = (checkpointBytes: number): CheckpointLink =>
    ({
      clock: systemClock,
      waits: new Waits(systemClock),
      config: { id: 'r', checkpointBytes },
      connection: { ask: <T>(operation: () => Promise<T>) => operation() },
      client: {
        files: {
          beginCheckpoint: async (_: string, { files }: CheckpointUploadRequest) => ({
            number: 1,
            files: files.map(({ path, bytes }, index) => ({
              path: signed?.[index] ?? path,
              part_bytes: bytes,
              urls: [],
            })),
          }),
          completeCheckpoint: async (_: string, request: CheckpointCompleteRequest) => void completed.push(request),
        },
      },
    }) as unknown as CheckpointLink;
  const send = (checkpointBytes = 100) =>
    new CheckpointUpload(linkTo(checkpointBytes), ref, directory).send(new AbortController().signal);
  const failureOf = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'none',
      (error: Error) => error.message,
    );

  it('sends a checkpoint of as many bytes as the limit, and none of one more', async () => {
    writeFileSync(join(directory, 'state'), 'x'.repeat(60));
    writeFileSync(join(directory, 'more'), 'x'.repeat(40));
    expect(await send()).to.deep.equal({ files: 2, bytes: 100 });
    expect(completed.map((it) => it.files.map((file) => file.path).sort())).to.deep.equal([['more', 'state']]);
    writeFileSync(join(directory, 'more'), 'x'.repeat(41));
    expect(await failureOf(send())).to.match(/^it has 101 bytes, more than 100, the limit of this runner/);
    expect(completed).to.have.length(1);
  });

  it('sends nothing to the address of another file, and gives the upload up', async () => {
    writeFileSync(join(directory, 'state'), 'x');
    signed = ['other'];
    expect(await failureOf(send())).to.equal('the coordinator signed addresses of other files');
    expect(completed.map((it) => [it.files, it.failed])).to.deep.equal([
      [[], 'the coordinator signed addresses of other files'],
    ]);
  });

  it('copies the files where they cannot be linked', async function () {
    if (!existsSync(OTHER_DISK) || statSync(OTHER_DISK).dev === statSync(root).dev) return this.skip();
    writeFileSync(join(directory, 'state'), 'content');
    const folder = mkdtempSync(join(OTHER_DISK, 'simbatch-checkpoints-'));
    try {
      expect(await linkSet(directory, (await lookAt(directory))!, folder)).to.equal(true);
      expect(readFileSync(join(folder, 'state'), 'utf8')).to.equal('content');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('are removed with their run, and the folder of the study with its last one', async () => {
    const other = checkpointDirectory(root, BATCH, 1, 1);
    for (const path of [directory, other]) {
      mkdirSync(path, { recursive: true });
      for (let file = 0; file < 50; file += 1) writeFileSync(join(path, String(file)), 'x');
    }
    const checkpoints = new Checkpoints(root, new Waits(systemClock), silentLog);
    await checkpoints.remove(jobId(BATCH, 0));
    expect(readdirSync(join(root, BATCH))).to.deep.equal(['00000001']);
    await checkpoints.remove(jobId(BATCH, 1));
    expect(readdirSync(root)).to.deep.equal([]);
  });

  it('are removed when their run was not continued here for a month', async () => {
    const checkpoints = new Checkpoints(root, new Waits(systemClock), silentLog);
    const { mtimeMs } = statSync(dirname(directory));
    await checkpoints.sweep(mtimeMs + 29 * 86_400_000);
    expect(existsSync(directory)).to.equal(true);
    await checkpoints.sweep(mtimeMs + 31 * 86_400_000);
    expect(readdirSync(root)).to.deep.equal([]);
  });

  it('are logged once when they cannot be sent for the same reason again and again', async () => {
    let lines = '';
    const log = createLog({ write: (line) => void (lines += line) }, { format: 'text', level: 'info' });
    writeFileSync(join(directory, 'state'), 'xy');
    const link = linkTo(1);
    const config = { ...link.config, checkpointDir: undefined, checkpointIntervalMs: 1, lifetime: { marginMs: 1_000 } };
    const stop = new AbortController();
    const options = { ...link, config, log, stop: stop.signal } as unknown as StoredCheckpointsOptions;
    const tries: number[] = [];
    link.waits.within = async (_ms, what, operation) => {
      if (what.startsWith('removing')) tries.push(1);
      return operation;
    };
    const follower = new StoredCheckpoints(options).follow(ref, directory);
    while (tries.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    await follower.end(false);
    expect(lines.match(/its checkpoint was not sent to the object store: it has 2 bytes/g)).to.have.length(1);
    expect(follower.notes.join()).to.match(/it has 2 bytes, more than 1/);
  });
});
