/** The code of runs in images with a real runtime: a tag that moves to another image is another code, and a run starts the image that it reported. */
import type { ChildProcess } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sleep, systemClock } from '../../../../src/base/clock.ts';
import { Client } from '../../../../src/client/client.ts';
import type { BatchSubmission } from '../../../../src/contract/types.ts';
import { EngineCodes } from '../../../../src/runner/code/engine-codes.ts';
import { Containers } from '../../../../src/runner/containers/containers.ts';
import { silentLog } from '../../../../src/runner/log.ts';
import { serving } from '../../../support/program.ts';
import { ExecutionBench } from '../../../support/executed.ts';
import { real, type RuntimeOnTrial } from '../../../support/containers/runtimes.ts';
import { Site } from '../../../support/runner-process.ts';
import { study } from '../../../support/studies.ts';

const RUNS = 12;

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

  describe('between two runs of a study', () => {
    let site: Site;
    let coordinator: ChildProcess;
    const umask = process.umask();
    beforeEach(() => {
      // The containers belong to another user.
      process.umask(0);
      site = new Site();
      chmodSync(site.folder, 0o777);
    });
    afterEach(async () => {
      process.umask(umask);
      coordinator?.kill('SIGKILL');
      await site?.clean();
    });

    it('is reported with both digests; a pinned study executes no further run and names the runner', async function () {
      this.timeout(900_000);
      const started = await serving(['--data-dir', join(site.folder, 'data')]);
      coordinator = started.child;
      const client = new Client({ endpoint: started.url });
      const own = ['--container-runtime', 'podman', '--container-images', tried.image];
      const runner = site.start(
        client.endpoint,
        ['--entrypoint', 'image:/bin/true', '--max-concurrent-jobs', '2', ...own],
        {
          PATH: tried.path ?? '',
        },
      );
      const submit = async (policy: NonNullable<BatchSubmission['policy']>): Promise<string> => {
        const config = { compute: { container: { image: tried.image } } };
        return (await client.submit({ ...study({ runs: RUNS, seed: 1, config }), policy })).batch_id;
      };
      const free = await submit({});
      const pinned = await submit({ code: 'pin' });
      const counts = async (id: string) => {
        if (runner.process.exitCode !== null) throw new Error(`the runner has ended: ${runner.log}`);
        const { batch, jobs_by_status: jobs } = await client.batch(id);
        return { completed: batch.completed_jobs, failed: batch.failed_jobs, active: jobs.Claimed + jobs.Running };
      };
      /** Pauses the study after a run, and returns how many have completed. */
      const pause = async (id: string): Promise<number> => {
        while ((await counts(id)).completed === 0) await sleep(systemClock, 100);
        await client.pauseBatch(id);
        while ((await counts(id)).active > 0) await sleep(systemClock, 100);
        return (await counts(id)).completed;
      };
      const [before, beforePinned] = await Promise.all([pause(free), pause(pinned)]);
      expect(before).to.be.within(1, RUNS - 1);
      expect(beforePinned).to.be.within(1, RUNS - 1);
      const stated = async (): Promise<string | undefined> => {
        const [only] = (await client.runners()).runners;
        return only?.engines?.find((it) => it.image === tried.image)?.code?.digest;
      };
      const first = await stated();
      tried.moveTag!();
      while ((await stated()) === first) await sleep(systemClock, 500);
      const second = await stated();
      await client.resumeBatch(free);
      await client.resumeBatch(pinned);
      while ((await counts(free)).completed < RUNS) await sleep(systemClock, 100);

      const versions = await client.analysis.codeVersions(free);
      expect(versions.map(({ kind, digest, runs, runners }) => [kind, digest, runs, runners])).to.deep.equal([
        ['image', first, before, ['r1']],
        ['image', second, RUNS - before, ['r1']],
      ]);
      const [changed] = (await client.findings(free)).filter(({ code }) => code === 'code-changed');
      for (const digest of [first, second]) expect(changed?.message).to.include(digest?.slice(0, 12));
      const [differs] = (await client.findings(pinned)).filter(({ code }) => code === 'code-differs');
      expect(differs?.runners).to.deep.equal(['r1']);
      expect(differs?.message).to.include(first?.slice(0, 12)).and.include('r1').and.include(second?.slice(0, 12));
      expect(await counts(pinned)).to.deep.equal({ completed: beforePinned, failed: 0, active: 0 });
      expect(await client.analysis.codeVersions(pinned)).to.have.lengthOf(1);
    });
  });
});
