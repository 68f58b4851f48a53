/** The Slurm engine: the contract of engines on stubs of Slurm's programs and on a real Slurm; and the errors of sbatch and squeue. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { EngineRefused, EngineUnreachable, type Engine } from '../../../src/launcher/engine.ts';
import { slurmEngine } from '../../../src/launcher/engines/slurm/slurm.ts';
import { slurmMissing, startSlurm, startStub, type SlurmSite } from '../../support/slurm.ts';
import { engineContract, type ContractSite } from './engine-contract.ts';
import { allocationRequest, queueConfig } from '../../launcher/support.ts';
import { skipWithout } from '../support.ts';

function engineOf({ env, folder }: Pick<SlurmSite, 'env' | 'folder'>, launcher = 'lab'): Engine {
  const queues = [
    queueConfig({ engine: 'slurm', section: {} }),
    queueConfig({ engine: 'slurm', name: 'broken', section: { partition: 'none' } }),
  ];
  return slurmEngine.open({
    launcher,
    queues,
    runnerEndpoint: 'http://127.0.0.1:1',
    clock: systemClock,
    env,
    baseDirectory: folder,
    scratchDirectory: join(folder, 'scratch'),
  });
}

const contractSite = (site: SlurmSite): ContractSite => ({
  engine: engineOf(site),
  other: engineOf(site, 'other'),
  folder: site.folder,
  refused: { queue: 'broken' },
  left: (id) => readdirSync(site.folder).filter((it) => it.startsWith(`simbatch-main-${id}-`)),
  close: () => site.stop(),
});

describe('launcher/engines/slurm: with stubs of its programs', () => {
  engineContract(async () => contractSite(startStub()));
});

describe('launcher/engines/slurm: with a real Slurm', function () {
  before(function () {
    skipWithout(this, slurmMissing());
  });
  engineContract(async () => contractSite(await startSlurm()));
});

describe('launcher/engines/slurm: errors', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-slurm-errors-'));
    mkdirSync(join(folder, 'bin'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** An engine whose programs are these shell scripts. */
  function withPrograms(programs: Record<string, string>): Engine {
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
    return engineOf({ folder, env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` } });
  }
  const submit = (text: string) =>
    withPrograms({ sbatch: text })
      .submit(allocationRequest())
      .then(
        (it) => it.handle,
        (error: unknown) => error,
      );

  it('takes the job id that sbatch prints, also with the name of a cluster', async () => {
    expect(await submit('echo 4711')).to.equal('4711');
    expect(await submit('echo "4711;lab"')).to.equal('4711');
  });

  const REFUSED = [
    'Invalid account or account/partition combination specified',
    'Requested node configuration is not available',
  ];
  for (const why of REFUSED) {
    it(`takes "${why}" as a refusal`, async () => {
      const error = await submit(`echo "sbatch: error: Batch job submission failed: ${why}" >&2; exit 1`);
      expect(error).to.be.instanceOf(EngineRefused);
      expect((error as Error).message).to.equal(`Batch job submission failed: ${why}`);
    });
  }

  const TRANSIENT = [
    'Batch job submission failed: Unable to contact slurm controller (connect failure)',
    'Batch job submission failed: Socket timed out on send/recv operation',
    'Batch job submission failed: Slurm temporarily unable to accept job, sleeping and retrying',
    'If munged is up, restart with --num-threads=10',
  ];
  for (const why of TRANSIENT) {
    it(`takes "${why}" as no answer`, async () => {
      expect(await submit(`echo "sbatch: error: ${why}" >&2; exit 1`)).to.be.instanceOf(EngineUnreachable);
    });
  }

  it('takes an answer without a job id as no answer, and a missing sbatch as a refusal', async () => {
    expect(await submit('echo hello')).to.be.instanceOf(EngineUnreachable);
    // The deadline's program is there, sbatch is not.
    symlinkSync('/usr/bin/timeout', join(folder, 'timeout'));
    const error: unknown = await engineOf({ folder, env: { PATH: folder } })
      .submit(allocationRequest())
      .catch((it: unknown) => it);
    expect(error).to.be.instanceOf(EngineRefused);
    expect((error as Error).message).to.match(/^sbatch is not in PATH; run the launcher where Slurm is installed/);
  });

  it('names every queue as silent when squeue fails', async () => {
    const engine = withPrograms({
      squeue: 'echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1',
    });
    const { allocations, silent } = await engine.list();
    expect(allocations).to.deep.equal([]);
    expect(silent.map((it) => it.queue)).to.deep.equal(['main', 'broken']);
    expect(silent[0]?.why).to.match(/^squeue failed: slurm_load_jobs error: Unable to contact/);
  });

  it('is unreachable when scancel is, and content when the job has ended', async () => {
    const one = [{ id: 'a', queue: 'main', handle: '7', state: 'running' as const }];
    await withPrograms({
      scancel: 'echo "scancel: error: Kill job error on job id 7: Invalid job id specified" >&2; exit 1',
    }).stop(one, true);
    const stop = withPrograms({
      scancel: 'echo "scancel: error: Unable to contact slurm controller" >&2; exit 1',
    }).stop(one, false);
    expect(await stop.catch((it: unknown) => it)).to.be.instanceOf(EngineUnreachable);
  });
});
