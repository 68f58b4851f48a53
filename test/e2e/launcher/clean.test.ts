/** `simbatch launcher run --keep-days` on stand-ins of Slurm's programs: the log of an old allocation goes, with its record. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import { Allocations } from '../../../src/launcher/state/allocations.ts';
import { readLauncherStore, writeLauncherStore } from '../../../src/launcher/state/launcher-store.ts';
import { storePath } from '../../../src/launcher/state-folder.ts';
import { makeDirectory } from '../../../src/base/directories.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { startStub, type SlurmSite } from '../../support/slurm.ts';

const DAY_MS = 86_400_000;

describe('e2e: launcher run --keep-days', () => {
  let site: SlurmSite;
  let serve: Serving;
  before(async () => {
    site = startStub();
    serve = await serving(['--data-dir', join(site.folder, 'data')]);
  });
  after(async () => {
    await serve?.stop();
    site?.stop();
  });

  /** The state of a launcher with allocations that ended so many days ago; its last sweep was just now. */
  async function writeState(ended: Record<string, number>): Promise<string> {
    const folder = join(site.folder, 'simbatch-launcher');
    makeDirectory(folder);
    const allocations = new Allocations(() => {});
    for (const [id, days] of Object.entries(ended)) {
      const now = systemClock.now() - days * DAY_MS;
      const times = { startTimeoutMs: 60_000, lifetimeMs: 600_000, queueTimeoutMs: undefined, settleMs: 0 };
      allocations.plan({
        id,
        queue: 'main',
        engine: 'slurm',
        cores: 1,
        ...times,
        drain: 'time-limits',
        isKept: false,
        now,
      });
      allocations.send(id, { type: 'SUBMIT', now });
      allocations.send(id, { type: 'ACCEPTED', handle: '7', place: undefined, now });
      const seen = { state: 'ended' as const, handle: '7', end: { kind: 'completed' as const } };
      allocations.send(id, {
        type: 'OBSERVED',
        seen: { ...seen, place: undefined, reason: undefined, startedAtMs: now, endsAtMs: undefined },
        now,
      });
      writeFileSync(join(site.folder, `simbatch-main-${id}-7.log`), 'x'.repeat(2048));
    }
    const store = await openStore(storePath(folder));
    const launcher = { format: 1 as const, launcher: 'lab', forgottenCoreMs: 0, instantMs: systemClock.now() };
    await writeLauncherStore(store, { launcher, allocations: allocations.takeChanges(), queues: [] });
    await store.close();
    return folder;
  }

  it('deletes the log and the record of an allocation that is old, and says how much', async () => {
    const folder = await writeState({ a00000000001: 3, a00000000002: 1 });
    const file = join(site.folder, 'launcher.yaml');
    const queue = { engine: 'slurm', size: { cores: 1 }, lifetime: '10m', max: 1, slurm: {} };
    writeFileSync(file, JSON.stringify({ launcher: 'lab', endpoint: serve.url, queues: { main: queue } }));
    const run = ['launcher', 'run', '--config', file, '--trust-open-coordinator', '--once'];
    const logOf = (id: string): boolean => existsSync(join(site.folder, `simbatch-main-${id}-7.log`));
    await simbatch(run, site.env);
    expect([logOf('a00000000001'), logOf('a00000000002')], 'without the option').to.deep.equal([true, true]);
    const { stderr } = await simbatch([...run, '--keep-days', '2'], site.env);
    expect(stderr).to.include(
      'info deleted the logs and folders of 1 allocation (2.0 KiB) that ended more than 2 days ago',
    );
    expect([logOf('a00000000001'), logOf('a00000000002')]).to.deep.equal([false, true]);
    const store = await openStore(storePath(folder));
    const { allocations } = await readLauncherStore(store);
    await store.close();
    expect(allocations.map((it) => it.context.id)).to.deep.equal(['a00000000002']);
    const wrong = await simbatch([...run, '--keep-days', '0'], site.env);
    expect(wrong.code).to.equal(64);
    expect(wrong.stderr).to.include('--keep-days');
  });
});
