/** The measurements of machines, from heartbeats to findings. */
import { expect } from 'chai';
import type { MachineState } from '../../../src/contract/types.ts';
import { Scene } from '../../support/scene.ts';

describe('coordinator/reads/findings, of machines', () => {
  let scene: Scene;
  let batch: string;
  let freeBytes: number | undefined;
  beforeEach(async () => {
    freeBytes = undefined;
    scene = await Scene.open({ freeBytes: async () => freeBytes });
    await scene.register('a', { heartbeat_interval_secs: 3_600 });
    batch = await scene.submit({ runs: 3 });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const beat = (machine: MachineState) =>
    scene.api.heartbeat('a', { instance: scene.instance('a'), holding: [], machine });
  const warnings = async (): Promise<string[]> =>
    (await scene.api.findings(batch)).filter(({ severity }) => severity === 'warning').map(({ code }) => code);

  it('shows the offset of a clock that the travel of its heartbeat cannot explain', async () => {
    const now = scene.world.now();
    const table: [aheadMs: number, roundTripMs: number | undefined, offsetSecs: number, found: string[]][] = [
      [0, undefined, 0, []],
      [3_000, undefined, 3, []],
      [7_040, 9_000, 7, ['clock-skew']],
      [-900, undefined, 0, []],
      [-7_000, undefined, -6, ['clock-skew']],
      [-7_000, 4_000, -3, []],
    ];
    for (const [aheadMs, round, offset, found] of table) {
      const travel = round === undefined ? {} : { round_trip_ms: round };
      const { runner } = await beat({ clock_ms: now + aheadMs, ...travel });
      expect(runner.clock_offset_secs, `${aheadMs}`).to.equal(offset);
      expect(await warnings(), `${aheadMs}`).to.deep.equal(found);
    }
  });

  it('warns of little space on the disk of a runner and of the store, and keeps what a claim does not state', async () => {
    expect((await beat({ disk_free_bytes: 5e8 })).runner).to.include({ disk_free_bytes: 5e8 });
    expect(await warnings()).to.deep.equal(['disk-low']);
    await scene.claim('a', 1);
    expect(await warnings(), 'after a claim').to.deep.equal(['disk-low']);
    await scene.restart();
    expect(await warnings(), 'after a restart').to.deep.equal(['disk-low']);
    await beat({ disk_free_bytes: 5e10 });
    expect(await warnings()).to.deep.equal([]);
    freeBytes = 2 ** 29;
    const [finding] = (await scene.api.findings(batch)).filter(({ code }) => code === 'disk-low');
    expect(finding?.message).to.equal('little disk space is left: 0.5 GiB for the store of the coordinator');
  });
});
