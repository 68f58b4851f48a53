/**
 * Hosts that give no answer, beside one of a real sshd: a closed port, and a port that takes connections and says nothing. They hold no place of
 * `max`, are asked more and more rarely, and their problem is in the log when it begins and when it ends.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../../../../src/client/client.ts';
import { skipWithout, until } from '../../support.ts';
import { freePorts } from '../../../support/ports.ts';
import { PROGRAM, serving, type Serving } from '../../../support/program.ts';
import { SilentServer } from '../../../support/silent-server.ts';
import { sshdMissing } from '../../../support/sshd.ts';
import { study } from '../../../support/studies.ts';
import { RealSite } from './sites.ts';

describe('launcher/engines/ssh with dead hosts', function () {
  const site = new RealSite();
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-dead-hosts-'));
  let serve: Serving | undefined;
  let hanging: SilentServer | undefined;
  let launcher: ChildProcess | undefined;
  let proxy: Server | undefined;

  before(async function () {
    skipWithout(this, sshdMissing());
    await site.start();
    serve = await serving(['--data-dir', join(folder, 'data')]);
    hanging = await SilentServer.start();
  });
  after(async () => {
    launcher?.kill('SIGKILL');
    proxy?.close();
    await hanging?.stop();
    await serve?.stop();
    await site.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('do not hold back the study, the others or the log', async () => {
    const url = serve?.url ?? '';
    const client = new Client({ endpoint: url });
    const simulation = join(site.home, 'sim.mjs');
    writeFileSync(simulation, 'setTimeout(() => {}, 1000);\n');
    const [closed, tunnel] = (await freePorts(2)) as [number, number];
    const hang = Number(new URL(hanging!.url).port);
    const [host] = site.section.hosts;
    const known = readFileSync(site.server.knownHosts, 'utf8');
    for (const port of [closed, hang])
      appendFileSync(site.server.knownHosts, known.replace(`]:${String(site.server.port)} `, `]:${String(port)} `));
    const queue = {
      engine: 'ssh',
      size: { cores: 1 },
      lifetime: '10m',
      max: 2,
      idle_timeout: '5s',
      runner: { args: ['--entrypoint', simulation, '--heartbeat-interval-secs', '1'] },
      ssh: {
        ...site.section,
        hosts: [closed, hang, site.server.port].map((port) => ({ ...host, port, cores: 1 })),
        ship: 'kit-with-node',
        reverse_tunnel: tunnel,
      },
    };
    const file = join(folder, 'launcher.yaml');
    writeFileSync(file, JSON.stringify({ launcher: 'lab', endpoint: url, poll_seconds: 1, queues: { lab: queue } }));
    const { batch_id: batch } = await client.submit(study({ runs: 6, cpu: '1' }));
    const program = [PROGRAM, 'launcher', 'run', '--config', file, '--trust-open-coordinator'];
    launcher = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'pipe'], env: site.env });
    let log = '';
    for (const stream of [launcher.stdout, launcher.stderr])
      stream?.on('data', (text: Buffer) => (log += text.toString()));
    const lines = (pattern: RegExp): string[] => log.split('\n').filter((it) => pattern.test(it));
    await until(async () => (await client.batch(batch)).batch.status === 'Completed', undefined, 120_000);

    // A host that hangs holds a round for up to 20 s.
    await until(() => lines(/ problem: /).length > 1, undefined, 60_000);
    const places = [closed, hang].map((port) => `${site.server.user}@127.0.0.1:${String(port)}`);
    for (const place of places) {
      expect(
        lines(/ problem: /).filter((it) => it.includes(`the engine of lab at ${place} gives no answer: `)),
        log,
      ).to.have.length(1);
    }
    expect(lines(/problem: .*Connection refused/)).to.have.length(1);
    // The second allocation has no host: it is given up at once, and not planned again and again.
    const { launchers } = await client.launching.launchers();
    expect(launchers[0]?.queues[0]?.counts ?? {}).to.not.have.property('Submitting');
    expect(lines(/has ended: it was not submitted: no host that answers has room: /).length, log).to.be.within(1, 3);
    expect(lines(/submitted without an answer|lab is paused|submits nothing/), log).to.deep.equal([]);

    // The closed port answers again.
    proxy = createServer((socket) => {
      const other = connect(site.server.port, '127.0.0.1');
      for (const it of [socket, other]) it.on('error', () => {});
      socket.pipe(other).pipe(socket);
    }).listen(closed, '127.0.0.1');
    await client.submit(study({ name: 'second', runs: 2, cpu: '1' }));
    await until(() => lines(/no longer a problem/).length > 0, undefined, 120_000);
    expect(lines(/no longer a problem/)).to.have.length(1);
    expect(lines(/no longer a problem/)[0])
      .to.match(/no longer a problem, after .*: the engine of lab at /)
      .and.include(places[0]);
  });
});
