/** A study on a host of a real sshd: the kit is shipped once, and the runner reaches the coordinator through a reverse tunnel. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../../../../src/client/client.ts';
import type { LauncherConfig } from '../../../../src/launcher/settings.ts';
import { sshEngine } from '../../../../src/launcher/engines/ssh/ssh.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { requestOf } from '../../../../src/launcher/request.ts';
import { skipWithout, until } from '../../support.ts';
import { freePorts } from '../../../support/ports.ts';
import { serving, type Serving } from '../../../support/program.ts';
import { sshdMissing } from '../../../support/sshd.ts';
import { study } from '../../../support/studies.ts';
import { sshContext, sshQueue } from '../../../launcher/engines/ssh/queue.ts';
import { RealSite } from './sites.ts';

describe('launcher/engines/ssh/study', function () {
  const site = new RealSite();
  const data = mkdtempSync(join(tmpdir(), 'simbatch-ssh-study-'));
  let serve: Serving | undefined;

  before(async function () {
    skipWithout(this, sshdMissing());
    await site.start();
    serve = await serving(['--data-dir', data]);
  });
  after(async () => {
    await serve?.stop();
    await site.stop();
    rmSync(data, { recursive: true, force: true });
  });

  it('runs on a host that has nothing, survives a broken tunnel, and leaves no process', async () => {
    const url = serve?.url ?? '';
    const client = new Client({ endpoint: url });
    const simulation = join(site.home, 'sim.mjs');
    writeFileSync(
      simulation,
      "import fs from 'node:fs';\nsetTimeout(() => fs.writeFileSync(process.env.SVC_OUTPUT_DIR + '/done', ''), 1500);\n",
    );
    const [port = 0] = await freePorts(1);
    // The host names its local disk; the operator names no folder.
    const setup = 'export TMPDIR=$HOME/local; mkdir -p "$TMPDIR"';
    const section = { ...site.section, reverse_tunnel: port, ship: 'kit-with-node' as const, setup };
    const args = ['--entrypoint', simulation, '--grace-secs', '1', '--heartbeat-interval-secs', '1'];
    const queue = sshQueue(section, {
      size: { cores: 2, memoryBytes: 0, gpus: 0 },
      runner: { program: undefined, args, environment: {}, slots: undefined },
    });
    const engine = sshEngine.open(sshContext(site, [queue], { runnerEndpoint: url }));
    const config = { runnerEndpoint: url } as LauncherConfig;
    const ids = ['a00000000001', 'a00000000002'];
    for (const id of ids) {
      await engine.submit(requestOf(config, queue, { id, token: undefined, need: undefined, isKept: true }));
    }
    const cache = join(site.home, '.cache/simbatch/kits');
    const [kit = '', ...others] = readdirSync(cache);
    expect(others).to.deep.equal([]);
    expect(kit).to.match(/^[0-9a-f]{64}$/);
    // On a busy machine one could execute all runs before the other has started.
    await until(async () => (await client.runners()).runners.length === ids.length);
    const { batch_id } = await client.submit(study({ runs: 8 }));
    await until(async () => (await client.batch(batch_id)).batch.status === 'Running');
    // The connections break; the runner waits, and the next round makes the tunnel again, on the port it knows.
    await site.server.interrupt();
    expect((await engine.list()).silent).to.have.length(1);
    await site.server.listen();
    const completed = async (): Promise<boolean> => {
      const { silent } = await engine.list();
      return silent.length === 0 && (await client.batch(batch_id)).batch.status === 'Completed';
    };
    await until(completed, undefined, 60_000);
    const { address = '' } =
      (await client.files.list(jobId(batch_id, 0))).files.find(({ path }) => path === 'done') ?? {};
    expect(address).to.match(
      new RegExp(`^${site.home}/local/simbatch-${site.server.user}/${batch_id}/00000000/attempt-`),
    );
    expect(existsSync(join(site.home, 'simbatch-output'))).to.equal(false);
    const { runners } = await client.runners();
    expect(runners.map((it) => it.id).toSorted()).to.deep.equal(ids.map((id) => `main-${id}`));
    let reasons: (string | undefined)[] = [];
    await until(async () => {
      const { allocations } = await engine.list();
      reasons = allocations.map((it) => it.reason);
      await engine.stop(
        allocations.filter((it) => it.state !== 'ended'),
        false,
      );
      return allocations.length === 2 && allocations.every((it) => it.state === 'ended');
    });
    expect(reasons).to.deep.equal([undefined, undefined]);
    expect((await client.runners()).runners).to.deep.equal([]);
    await until(() => site.server.processes().length === 0);
  });
});
