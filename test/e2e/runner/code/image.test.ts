/** The code of runs in images with a real runtime: a tag that moves to another image is another code, and a run starts the image that it reported. */
import { expect } from 'chai';
import { systemClock } from '../../../../src/base/clock.ts';
import { EngineCodes } from '../../../../src/runner/code/engine-codes.ts';
import { Containers } from '../../../../src/runner/containers/containers.ts';
import { silentLog } from '../../../../src/runner/log.ts';
import { ExecutionBench } from '../../../support/executed.ts';
import { real, type RuntimeOnTrial } from '../../../support/containers/runtimes.ts';

describe('runner/code: a tag that moves', () => {
  let tried: RuntimeOnTrial;
  let bench: ExecutionBench;
  before(async function () {
    const opened = await real('podman');
    if (typeof opened === 'string') {
      this.test!.title += ` (${opened})`;
      this.skip();
    }
    tried = opened;
    bench = new ExecutionBench({}, 0o777);
  });
  after(() => {
    bench?.close();
    tried?.close();
  });

  it('is another code once the runtime is asked again, for a file of the image and for a file of the machine', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    const containers = new Containers({
      runtime: tried.runtime,
      images: [tried.image],
      options: [],
      env: bench.env,
      workingDirectory: bench.folder,
      clock,
      log: silentLog,
    });
    const engines = [
      { name: 'own', entrypoint: 'image:/simulation.sh' },
      { name: 'mounted', entrypoint: import.meta.filename },
    ];
    const config = { engines, outputRoot: bench.folder, checkpointDir: undefined };
    const codes = new EngineCodes({
      config,
      containers,
      clock,
      log: silentLog,
      env: { PATH: process.env['PATH'] ?? '' },
    });
    const container = { image: tried.image };
    const look = () => Promise.all(engines.map((engine) => codes.of({ engine, container })));
    const first = await look();
    expect(first.map((it) => it?.identity.kind)).to.deep.equal(['image', 'entrypoint']);
    expect(first[0]?.image)
      .to.match(/^sha256:[0-9a-f]{64}$/)
      .and.equal(first[1]?.identity.image);
    tried.moveTag!();
    aheadMs = 61_000;
    const moved = await look();
    for (const [at, before] of first.entries()) {
      expect(moved[at]?.image)
        .to.match(/^sha256:[0-9a-f]{64}$/)
        .and.not.equal(before?.image);
      expect(moved[at]?.identity.digest).not.to.equal(before?.identity.digest);
    }
    const stated = (await codes.stated()).filter(({ image }) => image === tried.image);
    expect(stated.map(({ code }) => code?.digest)).to.have.members(moved.map((it) => it?.identity.digest));
  });
});
