/** The pure parts of the ssh engine: faults of its section, what a study may choose, the script of an allocation. */
import { expect } from 'chai';
import type { DemandGroup } from '../../../../src/contract/types.ts';
import { hostsFor, mismatchOf, mostRunsOn } from '../../../../src/launcher/engines/ssh/place.ts';
import { hostsOf, type SshSection } from '../../../../src/launcher/engines/ssh/section.ts';
import { sshEngine } from '../../../../src/launcher/engines/ssh/ssh.ts';
import { allocationRequest } from '../../support.ts';
import { sshContext, sshQueue } from './queue.ts';

const SECTION: SshSection = {
  hosts: [
    { host: 'node1', cores: 8 },
    { host: 'node2', user: 'bob', port: 2222 },
  ],
  user: 'ann',
  identity_file: '/keys/lab',
  working_directory: '/srv/sims',
};
const faults = (section: Partial<SshSection>, given = {}) =>
  sshEngine.faults(sshQueue({ ...SECTION, ...section }, { max: 3, ...given }));

describe('launcher/engines/ssh/parts', () => {
  it('gives a host room for as many allocations as fit its cores', () => {
    expect(hostsOf(sshQueue(SECTION)).map(({ place, room }) => [place, room])).to.deep.equal([
      ['ann@node1', 2],
      ['bob@node2:2222', 1],
    ]);
  });

  it('finds the faults of a section', () => {
    expect(faults({})).to.deep.equal([]);
    const rows: [ReturnType<typeof faults>, string, RegExp][] = [
      [faults({}, { max: 4 }), '/hosts', /^have room for 3 allocations of 4 cores, and max is 4; lower max/],
      [faults({ hosts: [{ host: 'a', cores: 3 }] }), '/hosts/0/cores', /^is 3, and an allocation has 4 cores$/],
      [faults({ hosts: [{ host: 'a' }, { host: 'a' }] }), '/hosts/1', /^names ann@a again/],
      [
        faults({ ship: 'kit' }, { runner: { program: ['x'], args: [], environment: {}, slots: undefined } }),
        '/ship',
        /^has no effect beside runner.program/,
      ],
    ];
    for (const [found, pointer, detail] of rows) {
      expect(found.map((it) => it.pointer)).to.deep.equal([pointer]);
      expect(found[0]?.detail).to.match(detail);
    }
  });

  it('lets a study choose among the hosts of the queue, and never adds one', () => {
    const queue = sshQueue(SECTION);
    const need = (baremetal: DemandGroup['baremetal']): string | undefined => mismatchOf(queue, { baremetal });
    const host = (name: string, more = {}) => ({ host: name, cores: 2, ...more });
    const rows: [DemandGroup['baremetal'], RegExp | undefined][] = [
      [undefined, undefined],
      [{ ssh_hosts: [], working_directory: null }, undefined],
      [{ ssh_hosts: [host('elsewhere'), host('node2')] }, undefined],
      [
        { ssh_hosts: [host('node1', { username: 'ann', ssh_key_path: '/keys/lab' })], working_directory: '/srv/sims' },
        undefined,
      ],
      [{ ssh_hosts: [host('elsewhere')] }, /^its hosts are elsewhere, the queue has node1, node2$/],
      [{ ssh_hosts: [host('node1', { username: 'root' })] }, /^its user at node1 is root, the queue has another$/],
      [
        { ssh_hosts: [host('node1', { ssh_key_path: '/root/.ssh/id' })] },
        /^its key for node1 is \/root\/.ssh\/id, the queue has/,
      ],
      [{ working_directory: '/tmp' }, /^its working directory is \/tmp, the queue has \/srv\/sims$/],
    ];
    for (const [baremetal, why] of rows) {
      const found = need(baremetal);
      if (why === undefined) expect(found).to.equal(undefined);
      else expect(found).to.match(why);
    }
    expect(hostsFor(queue, { ssh_hosts: [host('elsewhere'), host('node2')] }).map((it) => it.host)).to.deep.equal([
      'node2',
    ]);
  });

  it('limits the runs at once to the cores of the host in the study and to its processes', () => {
    const [one, two] = hostsOf(sshQueue(SECTION));
    if (one === undefined || two === undefined) throw new Error('two hosts');
    const baremetal = {
      max_parallel_processes: 3,
      ssh_hosts: [
        { host: 'node1', cores: 2 },
        { host: 'node2', cores: 0 },
      ],
    };
    expect([mostRunsOn(one, baremetal), mostRunsOn(two, baremetal), mostRunsOn(one, {})]).to.deep.equal([
      2,
      3,
      undefined,
    ]);
  });

  it('writes the script of an allocation with the limits of the study and the tunnel, and without the token', () => {
    const queue = sshQueue({ ...SECTION, reverse_tunnel: 17070, setup: 'module load python' });
    const engine = sshEngine.open(sshContext({ env: {} }, [queue]));
    const args = ['--endpoint', 'http://lab:7070', '--max-concurrent-jobs', '4', '--entrypoint', "/o'neil/sim.py"];
    const baremetal = { max_parallel_processes: 3 };
    const script = engine.script(
      allocationRequest({
        runner: { program: undefined, args, environment: {} },
        token: 'sbt_secret',
        need: { baremetal } as DemandGroup,
      }),
    );
    expect(script).to.contain(
      `simbatch-runner" --endpoint http://127.0.0.1:17070 --max-concurrent-jobs 3 --entrypoint '/o'\\''neil/sim.py' --token-fd 3 </dev/null &`,
    );
    expect(script).to.contain('\nmodule load python\n').and.not.contain('secret');
  });
});
