/** `simbatch launcher check --probe` with real runners, on the stand-ins of Slurm's programs and on a real Slurm. */
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { Client } from '../../../src/client/client.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { slurmMissing, startSlurm, startStub, type SlurmSite } from '../../support/slurm.ts';
import { study } from '../../support/studies.ts';
import { skipWithout } from '../support.ts';

const PROGRAM = join(packageRoot, 'dist', 'bin', 'simbatch.js');

function probes(open: () => SlurmSite | Promise<SlurmSite>): void {
  let site: SlurmSite;
  let serve: Serving;
  let client: Client;
  let tokens: { people: string; launcher: string };

  before(async () => {
    site = await open();
    const data = join(site.folder, 'data');
    const make = async (scopes: string): Promise<string> =>
      (await simbatch(['token', 'create', '--scope', scopes, '--data-dir', data])).stdout.trim();
    tokens = { people: await make('read,submit,operate'), launcher: await make('read,launch') };
    serve = await serving(['--data-dir', data]);
    client = new Client({ endpoint: serve.url, token: tokens.people });
    writeFileSync(join(site.folder, 'sim.mjs'), '');
  });
  after(async () => {
    await serve?.stop();
    site?.stop();
  });

  async function check(token: string, args: readonly string[], program: string = PROGRAM) {
    const queue = {
      engine: 'slurm',
      size: { cores: 1 },
      lifetime: '10m',
      runner: {
        program: [process.execPath, program, 'runner'],
        args: ['--entrypoint', join(site.folder, 'sim.mjs'), '--output-root', join(site.folder, 'out')],
      },
      slurm: {},
    };
    const file = join(site.folder, 'launcher.yaml');
    writeFileSync(
      file,
      JSON.stringify({ launcher: 'lab', endpoint: serve.url, queues: { main: { ...queue, max: 1 } } }),
    );
    return simbatch(['launcher', 'check', '--config', file, ...args], { ...site.env, SVC_TOKEN: token });
  }

  it('an allocation registers, takes no run, and leaves; nothing of it stays', async () => {
    const { batch_id: batch } = await client.submit(study({ runs: 1, cpu: '1' }));
    const { stdout, stderr } = await check(tokens.launcher, ['--probe', '--probe-limit', '2m']);
    expect(stdout, stderr).to.match(
      /^ok {3} main: a runner registered \d+s after the submission as \d+, and has left after \d+s$/m,
    );
    expect(stdout)
      .to.match(/^ok {3} coordinator: .* answers/m)
      .and.match(/^ok {3} main: the launcher may register runners/m);
    expect(stdout).to.match(/^fault main: runners cannot reach the coordinator: http:\/\/127\.0\.0\.1/m);
    expect((await client.batch(batch)).jobs_by_status.Pending).to.equal(1);
    expect((await client.runners()).runners.filter((it) => it.status !== 'Offline')).to.deep.equal([]);
  });

  it('a runner that ends before it has registered is a fault with the answer of the engine', async () => {
    const { stdout, code } = await check(
      tokens.launcher,
      ['--probe', '--probe-limit', '2m'],
      join(site.folder, 'none.js'),
    );
    expect(stdout).to.match(
      /^fault main: the probe failed: the allocation ended before its runner had registered: the engine /m,
    );
    expect(code).to.equal(1);
  });

  it('a token without the scope launch, and none, are faults with the remedy', async () => {
    const { stdout, code } = await check(tokens.people, []);
    expect(code).to.equal(1);
    expect(stdout).to.match(/^ok {3} coordinator: /m);
    expect(stdout).to.match(
      /^fault main: runners of this queue cannot be registered: .*simbatch token create --scope read,launch/m,
    );
    expect((await check('', [])).stdout).to.match(/^fault coordinator: .*simbatch token create --scope read,launch/m);
  });
}

describe('e2e: launcher check --probe on stand-ins of Slurm', () => probes(startStub));

describe('e2e: launcher check --probe on a real Slurm', function () {
  before(function () {
    skipWithout(this, slurmMissing());
  });
  probes(startSlurm);
});
