/** The commands of the launcher find its state folder as `launcher run` does: beside the configuration, or as given. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../../../src/client/client.ts';
import { serving, simbatch } from '../../support/program.ts';
import { study } from '../../support/studies.ts';

const CONFIG = `
endpoint: http://127.0.0.1:9
queues:
  short:
    engine: slurm
    size: { cores: 1 }
    lifetime: 1h
    max: 2
    runner: { program: [simbatch, runner] }
`;

describe('cli/launcher state', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-launcher-'));
  const config = join(folder, 'launcher.yaml');
  const state = join(folder, 'simbatch-launcher');
  before(async () => {
    writeFileSync(config, CONFIG);
    const { code, stderr } = await simbatch(['launcher', 'run', '--once', '--config', config], {
      PATH: '/nonexistent',
    });
    expect(code, stderr).to.equal(0);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const ask = (...args: string[]) => simbatch(['launcher', ...args]);

  it('is found by the configuration, and by its own name', async () => {
    for (const place of [
      ['--config', config],
      ['--state-dir', state],
      ['--config', '/elsewhere/launcher.yaml', '--state-dir', state],
    ]) {
      const { code, stdout, stderr } = await ask('status', '-o', 'json', ...place);
      expect(code, stderr).to.equal(0);
      const { queues } = JSON.parse(stdout) as { queues: { name: string }[] };
      expect(queues.map((it) => it.name)).to.deep.equal(['short']);
    }
  });

  it('takes the commands of an operator by the configuration', async () => {
    expect((await ask('why', 'short', '--config', config)).code).to.equal(0);
    const paused = simbatch(['launcher', 'pause', 'short', '--reason', 'maintenance', '--config', config]);
    // Without a launcher the command waits; the next round takes it.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await simbatch(['launcher', 'run', '--once', '--config', config]);
    expect(await paused).to.include({ code: 0, stdout: 'done\n' });
    const { stdout } = await ask('status', '--config', config);
    expect(stdout).to.include('it is paused: maintenance');
  });

  it('names the folder in which no launcher has run, and both options', async () => {
    const { code, stderr } = await ask('status', '--config', '/elsewhere/launcher.yaml');
    expect(code).to.equal(66);
    expect(stderr).to.include(
      'no launcher has run in /elsewhere/simbatch-launcher; start one with `simbatch launcher run`, or name its --config or --state-dir',
    );
  });

  it('asks the coordinator why nothing starts where there is no state folder, and the status of a study says it too', async () => {
    const serve = await serving(['--data-dir', join(folder, 'data')]);
    const endpoint = ['--endpoint', serve.url];
    try {
      const unreported = await ask('why', '--config', '/elsewhere/launcher.yaml', ...endpoint);
      expect(unreported.code).to.equal(66);
      expect(unreported.stderr).to.include(
        `no launcher has run in /elsewhere/simbatch-launcher, and none has reported to ${serve.url} since it was started`,
      );
      const { batch_id } = await new Client({ endpoint: serve.url }).submit(study({ runs: 2, simulation: 'rocket' }));
      await simbatch(
        [
          'launcher',
          'run',
          '--once',
          '--trust-open-coordinator',
          '--config',
          config,
          '--state-dir',
          join(folder, 'other'),
          ...endpoint,
        ],
        { PATH: '/nonexistent' },
      );
      const why = await ask('why', 'short', '--config', '/elsewhere/launcher.yaml', ...endpoint);
      expect(why.stdout).to.match(/^short: 2 runs of rocket wait: submits none, since its engine gives no answer: /);
      const status = (await simbatch(['status', batch_id, ...endpoint])).stdout.replaceAll(/\s+/g, ' ');
      expect(status).to.match(
        /NOT RUNNING: .*no runner can execute a run, and the launcher simbatch starts none: short: its engine gives no answer: /,
      );
    } finally {
      await serve.stop();
    }
  });
});
