/** The choice of launchers, without their processes. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import type { Engine } from '../../../src/runner/config/config.ts';
import { coldLauncher } from '../../../src/runner/launch/cold.ts';
import { Launchers } from '../../../src/runner/launch/launchers.ts';
import { silentLog } from '../../../src/runner/log.ts';

describe('runner/launch/launchers', () => {
  const engine = { name: 'rocket', entrypoint: '/bin/true' } as Engine;

  it('wait for a warm interpreter before a run, and for nothing where a run is started cold', async () => {
    const common = { python: undefined, env: {}, cwd: '/', clock: systemClock, log: silentLog, slots: 1 };
    const launchers = new Launchers({ engines: [engine], ...common });
    expect(launchers.of(engine, {})).to.equal(coldLauncher);
    await launchers.prepare(engine, {});
    let ready = (): void => {};
    const warm = { prepare: () => new Promise<void>((resolve) => (ready = resolve)) };
    Object.assign(launchers, { of: () => warm });
    let isReady = false;
    const prepared = launchers.prepare(engine, {}).then(() => (isReady = true));
    await turn();
    expect(isReady).to.equal(false);
    ready();
    await prepared;
    launchers.close();
  });
});
