/** The ssh engine against a stub of ssh, and against a real sshd: starts, lists and ends detached processes. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AllocationRequest, Engine, EngineAllocation } from '../../../../src/launcher/engine.ts';
import { EngineRefused, EngineUnreachable } from '../../../../src/launcher/engine.ts';
import { sshEngine } from '../../../../src/launcher/engines/ssh/ssh.ts';
import type { SshSection } from '../../../../src/launcher/engines/ssh/section.ts';
import { skipWithout, until as untilWithin } from '../../support.ts';
import { lives } from '../../../support/runner-process.ts';
import { engineContract } from '../engine-contract.ts';
import { allocationRequest } from '../../../launcher/support.ts';
import { sshContext, sshQueue } from '../../../launcher/engines/ssh/queue.ts';
import { SITES, StubSite, type SshSite } from './sites.ts';

/** A program in place of the runner: writes what it got to `seen-<id>`, then does what its second argument says. */
const PROGRAM = `
id=$1 act=$2
trap 'echo "leaving" >&2; exit 0' TERM
token=
for word in "$@"; do [ "$word" = --token-fd ] && read -r token <&3; done
echo "$$ $PWD $SVC_NOTE token=$token" >"$HOME/seen-$id.part"
mv "$HOME/seen-$id.part" "$HOME/seen-$id"
case $act in
  fail) echo "first"; echo "no licence is left" >&2; exit 7 ;;
  stay) while :; do sleep 0.1; done ;;
  stubborn) trap '' TERM; while :; do sleep 0.1; done ;;
esac
`;

/** Other programs may use the machine at the same time. */
const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  untilWithin(condition, undefined, 120_000);

for (const { name, make, missing } of SITES) {
  describe(`launcher/engines/ssh with ${name}`, function () {
    let site: SshSite;
    let program = '';

    before(async function () {
      skipWithout(this, missing());
      site = make();
      await site.start();
      program = join(site.home, 'program.sh');
      writeFileSync(program, PROGRAM);
      chmodSync(program, 0o755);
    });
    after(async () => {
      await site?.stop();
    });

    const open = (section: Partial<SshSection> = {}, launcher = 'lab'): Engine =>
      sshEngine.open(sshContext(site, [sshQueue({ ...site.section, ...section })], { launcher }));
    let count = 0;
    const request = (act: string, given: Partial<AllocationRequest> = {}): AllocationRequest => {
      const id = `a${String((count += 1)).padStart(11, '0')}`;
      const runner = { program: ['sh', program, id, act], args: [], environment: { SVC_NOTE: "it's" } };
      return allocationRequest({ id, runner, ...given });
    };
    const seen = (id: string): string => {
      const file = join(site.home, `seen-${id}`);
      return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    };
    const find = async (engine: Engine, id: string): Promise<EngineAllocation | undefined> =>
      (await engine.list()).allocations.find((it) => it.id === id);
    /** Lists until the allocation has ended. */
    const ended = async (engine: Engine, id: string): Promise<EngineAllocation> => {
      let found: EngineAllocation | undefined;
      await until(async () => (found = await find(engine, id))?.state === 'ended');
      return found as EngineAllocation;
    };

    it('starts a detached process that outlives the connection, lists it, and ends it by SIGTERM', async () => {
      const engine = open();
      const wanted = request('stay', { token: 'sbt_secret' });
      const { handle, place } = await engine.submit(wanted);
      await until(() => seen(wanted.id) !== '');
      const [pid, directory, note, token] = seen(wanted.id).split(' ');
      expect({ directory, note, token }).to.deep.equal({
        directory: site.home,
        note: "it's",
        token: 'token=sbt_secret',
      });
      const found = (await find(engine, wanted.id)) as EngineAllocation;
      expect(found).to.include({ queue: 'main', state: 'running', handle, place });
      expect((found.endsAtMs ?? 0) - (found.startedAtMs ?? 0)).to.equal(3_600_000);
      expect(Math.abs((found.startedAtMs ?? 0) - Date.now())).to.be.lessThan(30_000);
      await engine.stop([found], false);
      expect(await ended(engine, wanted.id)).to.deep.include({ end: { kind: 'cancelled', exitCode: 0 } });
      expect(lives(Number(pid))).to.equal(false);
    });

    it('keeps the token out of command lines, environments and files', async () => {
      const engine = open();
      const wanted = request('stay', { token: 'sbt_hidden' });
      await engine.submit(wanted);
      await until(() => seen(wanted.id) !== '');
      const found = (await find(engine, wanted.id)) as EngineAllocation;
      const folder = join(site.home, '.cache/simbatch/lab/live', `main.${wanted.id}`);
      for (const file of readdirSync(folder))
        expect(readFileSync(join(folder, file), 'utf8'), file).not.to.contain('sbt_hidden');
      for (const pid of readdirSync('/proc').filter((it) => /^\d+$/.test(it) && Number(it) !== process.pid)) {
        for (const file of ['cmdline', 'environ']) {
          let text = '';
          try {
            text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
          } catch {
            // It has ended.
          }
          expect(text.includes('sbt_hidden'), `/proc/${pid}/${file}`).to.equal(false);
        }
      }
      await engine.stop([found], true);
      await ended(engine, wanted.id);
    });

    it('starts an id once, also when it is submitted again, at the same time or after its end', async () => {
      const engine = open();
      const wanted = request('stay');
      const all = await Promise.all([engine.submit(wanted), open().submit(wanted), open().submit(wanted)]);
      expect(new Set(all.map((it) => it.handle)).size).to.equal(1);
      await until(() => seen(wanted.id) !== '');
      const first = seen(wanted.id);
      await engine.submit(wanted);
      await engine.stop([(await find(engine, wanted.id)) as EngineAllocation], false);
      await ended(engine, wanted.id);
      await engine.submit(wanted);
      expect((await find(engine, wanted.id))?.state).to.equal('ended');
      expect(seen(wanted.id)).to.equal(first);
    });

    it('reports exit codes with the last line of the log, missing programs and missing folders', async () => {
      const engine = open();
      const failing = request('fail');
      const done = request('end');
      await engine.submit(failing);
      await engine.submit(done);
      expect(await ended(engine, failing.id)).to.deep.include({
        end: { kind: 'failed', exitCode: 7 },
        reason: 'no licence is left',
      });
      expect((await ended(engine, done.id)).end).to.deep.equal({ kind: 'completed', exitCode: 0 });
      const unknown = request('end', { runner: { program: ['/opt/none'], args: [], environment: {} } });
      await engine.submit(unknown);
      const found = await ended(engine, unknown.id);
      expect(found.end).to.deep.equal({ kind: 'failed', exitCode: 127 });
      expect(found.reason).to.match(/\/opt\/none.*not found/);
      const lost = request('end');
      await open({ working_directory: 'no/such' }).submit(lost);
      expect((await ended(engine, lost.id)).end).to.deep.equal({ kind: 'failed', exitCode: 78 });
    });

    it('ends an allocation at its lifetime, and a process that ignores SIGTERM by SIGKILL', async () => {
      const engine = open();
      const short = request('stay', { lifetimeSecs: 1 });
      const stubborn = request('stubborn');
      await engine.submit(short);
      await engine.submit(stubborn);
      await until(() => seen(stubborn.id) !== '');
      expect((await ended(engine, short.id)).end).to.deep.equal({ kind: 'timeout', exitCode: 0 });
      const found = (await find(engine, stubborn.id)) as EngineAllocation;
      await engine.stop([found], true);
      expect((await ended(engine, stubborn.id)).end).to.deep.equal({ kind: 'cancelled', exitCode: 137 });
    });

    it('has room for as many allocations as the cores of the hosts say', async () => {
      const engine = open({}, 'crowd');
      const [one, two, three] = [request('stay'), request('stay'), request('stay')];
      // An engine that has listed nothing yet learns it from the host.
      await open({}, 'crowd').submit(one);
      await open({}, 'crowd').submit(two);
      let error: unknown;
      await engine.submit(three).catch((it: unknown) => (error = it));
      expect(error)
        .to.be.instanceOf(EngineRefused)
        .and.have.property('message', 'no host of the queue has room for another allocation');
      const { allocations } = await engine.list();
      expect(allocations.map((it) => it.id).toSorted()).to.deep.equal([one.id, two.id]);
      await engine.stop(allocations, true);
      for (const { id } of allocations) await ended(engine, id);
      await engine.submit(three);
      await engine.stop([(await find(engine, three.id)) as EngineAllocation], true);
      await ended(engine, three.id);
    });

    it('deletes no folder of an allocation that lives, and asks no host that is silent', async () => {
      const engine = open();
      const living = request('stay');
      const { place } = await engine.submit(living);
      const cleaned = await engine.clean!([{ id: living.id, queue: 'main', place }]);
      expect(cleaned).to.deep.include({ count: 0, bytes: 0, kept: [living.id] });
      expect(cleaned.why).to.match(/: the folder main\.a\d+ has no exit code, or cannot be deleted$/);
      const listed = (await find(engine, living.id)) as EngineAllocation;
      expect(listed.state).to.equal('running');
      await engine.stop([listed], true);
      await ended(engine, living.id);
    });

    it('sees processes that were killed, and those of another boot of the machine', async () => {
      const engine = open();
      const [killed, rebooted] = [request('stay'), request('stay')];
      await engine.submit(killed);
      await engine.submit(rebooted);
      await until(() => seen(killed.id) !== '' && seen(rebooted.id) !== '');
      await until(async () => (await engine.list()).allocations.filter((it) => it.state === 'running').length === 2);
      const folder = (id: string): string => join(site.home, '.cache/simbatch/lab/live', `main.${id}`);
      const [pid = 0] = seen(killed.id).split(' ').map(Number);
      const parent = Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${String(pid)}/stat`, 'utf8'))?.[1]);
      process.kill(parent, 'SIGKILL');
      process.kill(pid, 'SIGKILL');
      const [own = ''] = seen(rebooted.id).split(' ');
      const identity = readFileSync(join(folder(rebooted.id), 'pid'), 'utf8').split(' ');
      expect(identity[0]).to.equal(own);
      writeFileSync(
        join(folder(rebooted.id), 'pid'),
        [identity[0], identity[1], 'another-boot', identity[3]].join(' '),
      );
      expect((await ended(engine, killed.id)).end).to.deep.equal({ kind: 'unknown' });
      expect((await ended(engine, rebooted.id)).end).to.deep.equal({ kind: 'node-failure' });
      process.kill(Number(own), 'SIGTERM');
      // The guard of the lifetime does not outlive its runner.
      const guards = (): string[] =>
        execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' })
          .split('\n')
          .filter((it) => it.includes(`${folder(killed.id)}/run`) && !it.startsWith('Z'));
      await until(() => guards().length === 0);
    });

    it('executes the set-up of the queue in the shell of the runner', async () => {
      const wanted = request('end');
      const engine = open({ setup: 'SVC_NOTE=unset; cd /\nexport EXTRA="a b"', working_directory: '.' });
      const runner = {
        program: ['sh', '-c', 'echo "$PWD $EXTRA" >"$HOME/seen-$0"', wanted.id],
        args: [],
        environment: {},
      };
      await engine.submit({ ...wanted, runner });
      await ended(engine, wanted.id);
      expect(seen(wanted.id)).to.equal('/ a b');
    });

    it('confirms a host that has everything, and names what is missing', async () => {
      const queue = { ...request('end'), runner: { program: undefined, args: [], environment: {} } };
      const hosts = site.section.hosts.map((it) => ({ ...it, cores: 1 }));
      const small = sshQueue({ ...site.section, hosts }, { size: { cores: 1, memoryBytes: 0, gpus: 0 }, max: 1 });
      const [result, ...none] = await sshEngine.open(sshContext(site, [small])).check([queue]);
      expect(none).to.deep.equal([]);
      expect(result?.message).to.match(/: reached; \d+ cores, Node v\d+/);
      const faults = await open({
        setup: 'PATH=/nowhere',
        hosts: site.section.hosts.map((it) => ({ ...it, cores: 4000 })),
      }).check([queue]);
      expect(faults.map((it) => it.isFault)).to.deep.equal([true, true, true]);
      expect(faults.map((it) => it.message.replace(/^the queue main cannot use \S+ /, ''))).to.have.members([
        `it has ${String(availableParallelism())} cores and the queue counts on 4000; correct its cores or size.cores`,
        'there is no program tar; install it, or name runner.program',
        'there is no Node; install 20.19 or newer, load one in setup, or use ship: kit-with-node',
      ]);
    });
  });
}

for (const { name, make, missing } of SITES) {
  describe(`launcher/engines/ssh, the contract of engines with ${name}`, function () {
    before(function () {
      if (missing() !== undefined && process.env['SIMBATCH_REQUIRE_ALL'] !== '1') this.skip();
    });
    engineContract(async () => {
      const site = make();
      await site.start();
      const hosts = site.section.hosts.map((it) => ({ ...it, cores: 1 }));
      const queue = sshQueue({ ...site.section, hosts }, { size: { cores: 1, memoryBytes: 0, gpus: 0 }, max: 1 });
      const open = (launcher: string): Engine => sshEngine.open(sshContext(site, [queue], { launcher }));
      const left = (id: string): string[] =>
        ['live', 'ended']
          .map((it) => join(site.home, '.cache/simbatch/lab', it, `main.${id}`))
          .filter((it) => existsSync(it));
      return { engine: open('lab'), other: open('other'), folder: site.home, left, close: () => site.stop() };
    });
  });
}

describe('launcher/engines/ssh', () => {
  let site: StubSite;
  beforeEach(async () => {
    site = new StubSite();
    await site.start();
  });
  afterEach(() => site.stop());

  it('calls ssh with strict host keys, keys alone, and nothing forwarded', async () => {
    const section = { ...site.section, identity_file: 'keys/id', known_hosts: '~/known' };
    await sshEngine.open(sshContext(site, [sshQueue(section)], { baseDirectory: '/etc/lab' })).list();
    const [call = ''] = site.calls();
    for (const option of [
      '-F none',
      '-o BatchMode=yes',
      '-o StrictHostKeyChecking=yes',
      `-o UserKnownHostsFile=${process.env['HOME'] ?? '/'}/known`,
      '-o IdentitiesOnly=yes -o ClearAllForwardings=yes -i /etc/lab/keys/id -l ann -p 2222 -- node1 sh -s',
    ]) {
      expect(call).to.contain(option);
    }
  });

  it('reports hosts without an answer as silent, each with its reason, and submits to others', async () => {
    const section: SshSection = {
      hosts: [{ host: 'down' }, { host: 'stranger' }, { host: 'node1' }],
      config: 'none',
    };
    const engine = sshEngine.open(sshContext(site, [sshQueue(section, { max: 3 })]));
    const { silent } = await engine.list();
    expect(silent).to.deep.equal([
      { queue: 'main', place: 'down', why: 'down: ssh: connect to host down port 22: Connection timed out' },
      {
        queue: 'main',
        place: 'stranger',
        why: 'stranger: Host key verification failed.; add the host key to known_hosts, after comparing it',
      },
    ]);
    const runner = { program: ['sleep', '3'], args: [], environment: {} };
    expect(await engine.submit(allocationRequest({ runner }))).to.include({ place: 'node1' });
    // The room of node1 is used; of the others one may answer later.
    const error: unknown = await engine
      .submit(allocationRequest({ id: 'b1b2c3d4e5f6', runner }))
      .catch((it: unknown) => it);
    expect(error).to.be.instanceOf(EngineUnreachable);
  });

  it('takes an answer that ends in the middle for none', async () => {
    writeFileSync(join(site.folder, 'bin/ssh'), '#!/bin/sh\necho simbatch-begin\necho "host 1"\n');
    const { allocations, silent } = await sshEngine.open(sshContext(site, [sshQueue(site.section)])).list();
    expect(allocations).to.deep.equal([]);
    expect(silent.map((it) => it.why)).to.deep.equal(['ann@node1:2222: ssh ended with exit code 0 and no answer']);
  });

  it('starts nothing when the start arrives late', async () => {
    writeFileSync(
      join(site.folder, 'bin/date'),
      `#!/bin/sh\nif [ -e ${site.folder}/later ]; then echo 4000000000; else : >${site.folder}/later; echo 2000000000; fi\n`,
    );
    chmodSync(join(site.folder, 'bin/date'), 0o755);
    const engine = sshEngine.open(sshContext(site, [sshQueue(site.section)]));
    const runner = { program: ['true'], args: [], environment: {} };
    const error: unknown = await engine.submit(allocationRequest({ runner })).catch((it: unknown) => it);
    expect(error)
      .to.be.instanceOf(EngineUnreachable)
      .and.have.property('message')
      .that.contains('the start arrived too late');
    expect(readdirSync(join(site.home, '.cache/simbatch/lab/live'))).to.deep.equal([]);
  });
});
