/** `simbatch probe` of the corpus and its honest twins: every fault is found, and no honest simulation blamed. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import type { ProbeTable } from '../../../src/domain/probe/table.ts';
import { PROGRAM } from '../../support/program.ts';
import { corpus } from './corpus.ts';
import { CLIENT, Flight, flight } from './flight.ts';

const EXIT_IDLE = 6;
const MOST_MS = 300_000;

interface Probed {
  status: number | null;
  stdout: string;
  stderr: string;
}

describe('simbatch probe', () => {
  let site: Flight;
  before(async () => {
    site = await Flight.open();
    site.start(true);
  });
  after(async () => {
    await site?.close();
  });

  const probe = (simulation: string, ...args: string[]): Probed => {
    const input = JSON.stringify(flight(simulation, 100));
    const all = [PROGRAM, 'probe', '-', '--endpoint', site.client.endpoint, ...args];
    return spawnSync(process.execPath, all, { input, encoding: 'utf8', timeout: MOST_MS });
  };
  const tableOf = ({ stdout, stderr, status }: Probed): ProbeTable => {
    expect(stdout, `exit code ${status}: ${stderr}`).not.to.equal('');
    return JSON.parse(stdout) as ProbeTable;
  };

  for (const { name, ending, fault, shows } of corpus(CLIENT))
    it(`${name}: finds "${fault}", and nothing in its twin`, function () {
      if (!site.has(ending)) return this.skip();
      const faulty = probe(`${name}-faulty`, '-o', 'json');
      const { inputs } = tableOf(faulty);
      expect(inputs.map((it) => [it.name, it.effect])).to.deep.equal(
        ['cd_bias', 'mass', 'thrust', 'wind'].map((it) => [it, it === fault ? 'none' : 'some']),
      );
      expect(inputs.filter(({ read }) => read === 'never').map((it) => it.name)).to.deep.equal(
        shows === 'look-ups' ? [fault] : [],
      );
      expect(faulty.status).to.equal(EXIT_IDLE);
      const honest = probe(`${name}-honest`, '-o', 'json');
      expect(tableOf(honest).inputs.filter((it) => it.effect !== 'some' || it.read === 'never')).to.deep.equal([]);
      expect(honest.status).to.equal(0);
    });

  it('shows a table for people, with the corners, and leaves a study with a label', async function () {
    if (!site.has('.py')) return this.skip();
    const { stdout, status } = probe('python-misspelt-with-default-faulty', '--corners');
    expect(status).to.equal(EXIT_IDLE);
    expect(stdout).to.match(/^INPUT +READ +EFFECT +LOW +HIGH +range_m/);
    expect(stdout).to.match(/\ncd_bias +never +none .* same \/ same/);
    expect(stdout).to.match(/\nmass +read +some .* \+[\d.]+ % \/ -[\d.]+ %/);
    expect(stdout).to.match(/\nall inputs .* % \/ /);
    expect(stdout).to.include('parameter-never-read: no run has looked up "cd_bias"');
    const { items } = await site.client.batchesPage({ label: ['probe=python-misspelt-with-default-faulty'] });
    expect(items.map((it) => [it.total_jobs, it.status, it.closed])).to.include.deep.members([[11, 'Completed', true]]);
  });

  it('--entrypoint executes the same runs here: the same table, and the same exit code', function () {
    this.timeout(MOST_MS);
    if (!site.has('.py')) return this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'probe-here-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const env = {
      ...process.env,
      PYTHONPATH: join(packageRoot, 'clients/python'),
      SVC_RUNNER_ENVIRONMENT_INHERITED: 'PYTHONPATH',
      SVC_ENDPOINT: 'http://127.0.0.1:9',
    };
    const here = (name: string, file: string, ...args: string[]): Probed => {
      const all = [PROGRAM, 'probe', '-', '--entrypoint', file, ...args];
      const input = JSON.stringify(flight(name, 100));
      return spawnSync(process.execPath, all, { input, encoding: 'utf8', timeout: MOST_MS, cwd: folder, env });
    };
    for (const name of ['python-misspelt-with-default-faulty', 'python-misspelt-with-default-honest']) {
      const there = probe(name, '--corners', '-o', 'json');
      const local = here(name, site.fileOf(name, '.py'), '--corners', '-o', 'json');
      const [{ batch_id: _, ...expected }, { output_dir: directory, code, ...found }] = [there, local].map(
        (it) => tableOf(it) as ProbeTable & Record<string, unknown>,
      ) as [ProbeTable & Record<string, unknown>, ProbeTable & Record<string, unknown>];
      expect(found).to.deep.equal(expected);
      expect(local.status).to.equal(there.status);
      expect(code).to.include({ kind: 'entrypoint', files: 1 });
      expect(existsSync(join(directory as string, 'run-00000010', 'metadata.json'))).to.equal(true);
    }
    const refused = here('x', 'x.py', '--endpoint', site.client.endpoint);
    expect([refused.status, refused.stderr]).to.deep.equal([
      64,
      `simbatch: --entrypoint executes the runs here and --endpoint ${site.client.endpoint} at a coordinator; give one of them\n`,
    ]);
    const absent = here('x', join(folder, 'absent.py'), '--output-dir', join(folder, 'own'));
    expect(absent.stdout).to.match(/the nominal run has not completed \(lost\): .*absent\.py/);
    expect(here('x', 'x.py', '--output-dir', join(folder, 'own')).status).to.equal(73);
  });
});
