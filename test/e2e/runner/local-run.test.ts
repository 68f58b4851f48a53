/** `run-one` and `replay`: one run by hand, under the runner's contract, with nothing reported. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { FakeCoordinator } from '../../support/fake-coordinator.ts';
import { PROGRAM } from '../../support/program.ts';
import { SIMULATION, Site, VARIABLES_ALLOWED } from '../../support/runner-process.ts';

const RUN_CONFIG = {
  run_id: 3,
  parameters: { mass: 2 },
  metadata: {
    simulation_name: 'test',
    simulation_version: '1',
    duration_minutes: 1,
    sampling_method: 'monte_carlo',
    generated_at: '2026-01-01T00:00:00.000Z',
  },
};

describe('runner: one run by hand', () => {
  let site: Site;
  beforeEach(() => {
    site = new Site();
    writeFileSync(join(site.folder, 'run.json'), JSON.stringify(RUN_CONFIG));
  });
  afterEach(async () => {
    await site.clean();
  });

  async function simbatch(
    args: string[],
    env: Record<string, string> = {},
    whenSaid?: [text: string, signal: NodeJS.Signals],
  ) {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: site.folder,
      env: { ...process.env, ...VARIABLES_ALLOWED, ...env },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
      if (whenSaid === undefined || !err.includes(whenSaid[0])) return;
      child.kill(whenSaid[1]);
      whenSaid = undefined;
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, out, err };
  }

  const lastProblem = (err: string): { detail: string } =>
    JSON.parse(err.trimEnd().split('\n').at(-1) ?? '') as { detail: string };

  it('executes, prints the outcome, and leaves the output in a new directory each time', async () => {
    for (const directory of ['run-00000003', 'run-00000003-2']) {
      const { code, out } = await simbatch(['run-one', 'run.json', '--entrypoint', SIMULATION, '-o', 'json'], {
        SVC_TOKEN: 'secret',
      });
      expect(code).to.equal(0);
      const end = JSON.parse(out) as { type: string; result: { metadata: unknown } };
      expect(end).to.have.property('type', 'complete');
      expect(end.result.metadata).to.deep.equal({ run_id: 3, doubled: 4 });
      const env = readFileSync(join(site.folder, directory, 'environment.json'), 'utf8');
      expect(env).to.include('SVC_TELEMETRY_URL').and.not.to.include('secret');
    }
  });

  it('a failed run exits 1 and says why', async () => {
    const { code, err } = await simbatch(['run-one', 'run.json', '--entrypoint', SIMULATION], { BEHAVE: 'fail' });
    expect(code).to.equal(1);
    expect(err).to.include('failed (exit): the simulation exited with code 3').and.to.include('the reason is here');
  });

  it('shows telemetry while it runs; Ctrl-C kills the run and exits 130', async () => {
    const env = { BEHAVE: 'dive', PROTO: join(packageRoot, 'clients/telemetry.proto') };
    const { code, out, err } = await simbatch(['run-one', 'run.json', '--entrypoint', SIMULATION, '-o', 'json'], env, [
      'altitude=',
      'SIGINT',
    ]);
    expect(code).to.equal(130);
    expect(err).to.match(/^t=\d+\.\d{3} s {2}altitude=\S+ {2}speed=/m);
    expect(JSON.parse(out)).to.have.all.keys('type', 'code').and.include({ type: 'abandoned' });
    expect(lastProblem(err)).to.include({ code: 'interrupted', exit_code: 130 });
  });

  it('prints lines for people without an option, and JSON into a file whose name ends in .json', async () => {
    const order = ['run-one', 'run.json', '--entrypoint', SIMULATION];
    const shown = await simbatch(order);
    expect(shown.code).to.equal(0);
    expect(shown.out).to.match(
      /^run +3\nsimulation +test 1\noutcome +completed\ncode +[0-9a-f]{12}\b.*\noutput in +\S+run-00000003\n/,
    );
    expect(shown.out).to.match(/^doubled +4$/m);
    const filed = await simbatch([...order, '-f', 'end.json']);
    expect(filed).to.include({ code: 0, out: '' });
    const end: unknown = JSON.parse(readFileSync(join(site.folder, 'end.json'), 'utf8'));
    expect(end).to.have.nested.property('result.metadata.doubled', 4);
  });

  it('prints a failed run in both formats, with a problem on stderr where the result is JSON', async () => {
    const order = ['run-one', 'run.json', '--entrypoint', SIMULATION];
    const shown = await simbatch(order, { BEHAVE: 'fail' });
    expect(shown.out).to.match(/^outcome +failed \(exit\)$/m);
    expect(shown.out).to.match(/\nerror\n {2}the simulation exited with code 3/);
    const json = await simbatch([...order, '-o', 'json'], { BEHAVE: 'fail' });
    expect(json.code).to.equal(1);
    expect(JSON.parse(json.out)).to.include({ type: 'fail', reason: 'exit' });
    expect(lastProblem(json.err)).to.include({ code: 'failed', exit_code: 1 });
    expect(lastProblem(json.err).detail).to.include('the simulation exited with code 3');
  });

  it('refuses a run configuration that is none, before it executes anything', async () => {
    writeFileSync(join(site.folder, 'run.json'), '{"run_id": -1}');
    const { code, err } = await simbatch(['run-one', 'run.json', '--entrypoint', SIMULATION]);
    expect(code).to.equal(65);
    expect(err).to.include('run.json is not a run configuration');
  });

  it('replay executes the run of a job with its study, and reports nothing', async () => {
    const fake = await FakeCoordinator.start();
    try {
      const [job] = fake.add({ environment: { BEHAVE: 'succeed' }, parameters: { mass: 21 }, seed: 2n ** 62n + 1n });
      const { code, out } = await simbatch([
        'replay',
        String(job?.job.id),
        '--endpoint',
        fake.url,
        '--entrypoint',
        SIMULATION,
        '--output',
        'json',
      ]);
      expect(code).to.equal(0);
      expect(out).to.include('"doubled": 42');
      const seen = readFileSync(join(site.folder, 'run-00000000', 'run_config.txt'), 'utf8');
      expect(seen).to.include('"seed":4611686018427387905');
      expect(fake.requests.filter((it) => !it.startsWith('GET '))).to.deep.equal([]);
    } finally {
      await fake.stop();
    }
  });
});
