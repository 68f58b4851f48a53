/** Durability of outcomes before a runner reports them. */
import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/base/clock.ts';
import { AttemptManager, type AttemptManagerOptions } from '../../src/runner/attempt-manager.ts';
import { ARTIFACT_LIMITS, collectArtifacts } from '../../src/runner/files/artifacts.ts';
import { silentLog } from '../../src/runner/log.ts';
import { Spool } from '../../src/runner/spool.ts';
import { Waits } from '../../src/runner/waits.ts';
import { batchesWhile } from '../support/level-batches.ts';

describe('runner: durability', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-durability-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('syncs an outcome to the disk, and only an outcome', async () => {
    const written = await batchesWhile(async () => {
      const spool = await Spool.open(folder, 'r', { pid: 1, instance: 'i' }, new Waits(systemClock));
      const attempt = { job_id: 'j', attempt: 1, directory: '' };
      await spool.running(attempt);
      await spool.ended(attempt, { type: 'fail', job_id: 'j', attempt: 1, reason: 'exit', error_message: 'no' });
      await spool.close();
    });
    expect(written.map(({ sync }) => sync)).to.deep.equal([false, true]);
  });

  it('reports an outcome after it is in the spool', async () => {
    const calls: string[] = [];
    let release = (): void => {};
    const spool = {
      directory: folder,
      recorded: async () => undefined,
      ended: () => {
        calls.push('spooled');
        return new Promise<void>((resolve) => (release = resolve));
      },
      settled: () => {},
      finished: () => {},
    };
    const report = async ({ type }: { type: string }): Promise<object> => {
      calls.push(type);
      return {};
    };
    const manager = new AttemptManager({
      config: { engines: {}, outputRoot: folder, maxConcurrentJobs: 1 },
      spool,
      reporter: { report },
      site: { clock: systemClock, log: silentLog, waits: new Waits(systemClock) },
      leaving: new AbortController().signal,
      onChange: () => {},
      onUnfit: () => {},
    } as unknown as AttemptManagerOptions);
    // Without the configuration of its batch it is invalid, so that no process is needed.
    const job = { id: 'j', batch_id: 'b', run_config: { run_id: 0, parameters: {} } };
    manager.take({ job, attempt: 1 } as unknown as Parameters<AttemptManager['take']>[0], undefined);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(calls).to.deep.equal(['start', 'spooled']);
    release();
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(calls).to.deep.equal(['start', 'spooled', 'fail']);
  });

  it('does not follow a link that replaces metadata.json after it was listed', async () => {
    const secret = join(folder, 'secret.json');
    const directory = mkdtempSync(join(folder, 'out-'));
    const path = join(directory, 'metadata.json');
    writeFileSync(secret, '{"secret":1}');
    writeFileSync(path, '{}');
    const limits = {
      ...ARTIFACT_LIMITS,
      // Read right before the file is opened.
      get metadataBytes() {
        unlinkSync(path);
        symlinkSync(secret, path);
        return ARTIFACT_LIMITS.metadataBytes;
      },
    };
    const { metadata, notes } = await collectArtifacts(directory, undefined, limits);
    expect(metadata).to.deep.equal({});
    expect(notes.join()).to.match(/metadata.json is not used: ELOOP/);
  });
});
