/** `simbatch probe` of the corpus and its honest twins: every fault is found, and no honest simulation blamed. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import type { ProbeTable } from '../../../src/domain/probe/table.ts';
import { PROGRAM } from '../support.ts';
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
});
