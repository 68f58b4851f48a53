/** Programs that the starter starts: their surroundings, faults, output and ends equal those of programs that the runner starts. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { systemClock } from '../../../../src/base/clock.ts';
import { findPython } from '../../../../src/runner/launch/engine.ts';
import { logsIn, SimulationProcess } from '../../../../src/runner/attempt/simulation-process.ts';
import { coldLauncher } from '../../../../src/runner/launch/cold.ts';
import type { Ending, Launch, Launcher } from '../../../../src/runner/launch/launcher.ts';
import { Starter } from '../../../../src/runner/launch/starter.ts';
import { createLog, silentLog } from '../../../../src/runner/log.ts';
import { ProcessTable } from '../../../../src/runner/processes/proc-fs.ts';
import { ProcessScope } from '../../../../src/runner/processes/process-scope.ts';
import { openProcessTools } from '../../../../src/runner/processes/process-tools.ts';
import type { ProcessTools } from '../../../../src/runner/processes/process-scope.ts';
import { pythonFault } from '../../../support/runner-modes.ts';
import { lives } from '../../../support/runner-process.ts';

const LAUNCH: Launch = {
  entrypoint: '',
  command: '/bin/sh',
  args: [],
  env: { PATH: '/usr/bin:/bin', A: 'ä b\n"c"' },
  contract: {},
  cwd: '/',
  randomSeed: 1,
};

describe('runner/launch: a program that the starter starts', function () {
  let folder: string;
  let starter: Starter;
  let log: string;
  let runs = 0;
  before(function () {
    if (pythonFault() !== undefined) return this.skip();
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-starter-'));
    log = '';
    const python = (await findPython(undefined, process.env['PATH'] ?? ''))?.executable ?? '';
    const lines = createLog({ write: (line) => void (log += line) }, { format: 'text', level: 'info' });
    starter = new Starter({ python, env: { PATH: process.env['PATH'] ?? '' }, clock: systemClock, log: lines });
    await starter.prepare();
  });
  afterEach(() => {
    starter?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function program(content: string): string {
    const path = join(folder, 'program');
    writeFileSync(path, content);
    chmodSync(path, 0o755);
    return path;
  }

  interface Done {
    ending: Ending;
    pid: number;
    stdout: string;
    stderr: string;
    notes: string;
  }

  async function execute(launcher: Launcher, more: Partial<Launch>, tools?: ProcessTools): Promise<Done> {
    const lines = createLog({ write: (line) => void (log += line) }, { format: 'text', level: 'info' });
    runs += 1;
    // A run's processes are found by its directory.
    const directory = join(folder, String(runs));
    const scope = new ProcessScope(tools ?? { table: new ProcessTable(), cgroups: undefined }, lines, directory, {});
    let pid = 0;
    const launch: Launch = { ...LAUNCH, contract: { SVC_OUTPUT_DIR: directory }, cwd: folder, ...more };
    const context = {
      scope,
      onProcess: (it: number) => {
        pid = it;
        writeFileSync(join(folder, 'known'), '');
      },
      onExit() {},
      cancelled: new AbortController().signal,
    };
    const launched = await launcher.launch(launch, context);
    if (!('ended' in launched)) return { ending: launched, pid, stdout: '', stderr: '', notes: '' };
    const [stdout, stderr, ending] = await Promise.all([text(launched.stdout), text(launched.stderr), launched.ended]);
    expect(await scope.clear(systemClock, true)).to.deep.equal([]);
    scope.release();
    return { ending, pid, stdout, stderr, notes: launched.note ?? '' };
  }

  async function bothWays(more: Partial<Launch>): Promise<{ own: Done; started: Done }> {
    return { own: await execute(coldLauncher, more), started: await execute(starter, more) };
  }

  it('has the same session, signals, descriptors, environment, arguments and folder', async () => {
    const look = `
import json, os, resource, signal, stat, sys
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
print(json.dumps(dict(argv=sys.argv, cwd=os.getcwd(), env=dict(os.environ), umask=os.umask(0),
  leads=[os.getpid() == os.getpgid(0), os.getpid() == os.getsid(0)], nice=os.nice(0),
  signals=[status[it] for it in ("SigBlk", "SigPnd")], kinds=[stat.S_IFMT(os.fstat(fd).st_mode) for fd in (0, 1, 2)],
  stdin=os.path.samefile("/dev/null", "/dev/fd/0"), fds=len([it for it in sorted(os.listdir("/proc/self/fd")) if int(it) < 3 or os.path.exists("/dev/fd/" + it) and not os.path.samefile("/dev/null", "/dev/fd/" + it)]),
  limits=[resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")])))`;
    // glibc ignores its own two signals, 32 and 33, in a process of posix_spawn.
    const ignored = 'grep SigIgn /proc/self/status | sed s/0000000180000000/0000000000000000/';
    const args = ['-c', `${ignored}; exec python3 -I -c "$0" "$@"`, look, 'x y', ''];
    const { own, started } = await bothWays({
      args,
      env: { PATH: process.env['PATH'] ?? '', A: 'ä b\n"c"', LANG: 'C.UTF-8' },
    });
    expect(own.stdout).to.include('"leads": [true, true]');
    expect(started.stdout.replace(/starter-\w+\/\d+/, '')).to.equal(own.stdout.replace(/starter-\w+\/\d+/, ''));
    expect(started.stderr).to.equal(own.stderr);
  });

  it('has the environment of its own study, of however many studies there are', async () => {
    const studies = Array.from({ length: 20 }, (_, at) => ({
      PATH: '/usr/bin:/bin',
      STUDY_OWN: `study ${String(at)}`,
    }));
    for (const env of [...studies, ...studies.toReversed()]) {
      const { stdout } = await execute(starter, { env, args: ['-c', 'echo "$STUDY_OWN $SVC_OUTPUT_DIR"'] });
      expect(stdout).to.match(new RegExp(`^${env.STUDY_OWN} /.*/${String(runs)}\n$`));
    }
  });

  for (const [what, args, ending] of [
    ['an exit code', 'exit 7', { type: 'exit', code: 7 }],
    ['a signal', 'kill -SEGV $$', { type: 'signal', signal: 'SIGSEGV' }],
  ] as const) {
    it(`ends with ${what}`, async () => {
      const { own, started } = await bothWays({ args: ['-c', args] });
      expect([own.ending, started.ending]).to.deep.equal([ending, ending]);
    });
  }

  it('fails to start with the same code', async () => {
    const script = program('#!/no/such/interpreter\n');
    writeFileSync(join(folder, 'plain'), '');
    const faults: [Partial<Launch>, string][] = [
      [{ command: join(folder, 'absent') }, 'ENOENT'],
      [{ command: script }, 'ENOENT'],
      [{ command: join(folder, 'plain') }, 'EACCES'],
      [{ cwd: join(folder, 'absent') }, 'ENOENT'],
      [{ args: ['-c', 'true', 'x'.repeat(1 << 20)] }, 'E2BIG'],
    ];
    for (const [more, code] of faults) {
      const { own, started } = await bothWays(more);
      expect([own.ending, started.ending]).to.deep.equal([
        { type: 'failed-to-start', code },
        { type: 'failed-to-start', code },
      ]);
    }
  });

  it('is executed by the shell when it has no format that the kernel knows', async () => {
    const { own, started } = await bothWays({ command: program('echo "$0" "$1"; exit 3\n'), args: ['one'] });
    expect(started).to.include({ stdout: own.stdout });
    expect([own.ending, started.ending]).to.deep.equal([own.ending, { type: 'exit', code: 3 }]);
  });

  it('leaves all of its output, also what it writes faster than the runner reads', async () => {
    const args = ['-c', 'yes 0123456789 | head -c 9000001; yes error | head -c 3000000 >&2'];
    const { stdout, stderr } = await execute(starter, { args });
    expect([stdout.length, stderr.length]).to.deep.equal([9_000_001, 3_000_000]);
    expect(stdout).to.match(/^(0123456789\n)+0123456\n?\d*$/);
  });

  it('waits while its output is not read, and no other one does', async () => {
    const held = execute(starter, { args: ['-c', 'sleep 0.2; echo held'] });
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        execute(starter, { args: ['-c', `echo ${String(at)}; exit ${String(at)}`] }),
      ),
    );
    expect(many.map((it) => [it.stdout, it.ending])).to.deep.equal(
      many.map((_, at) => [`${String(at)}\n`, { type: 'exit', code: at }]),
    );
    expect(await held).to.include({ stdout: 'held\n' });
  });

  it('is born in its cgroup, which the starter has left', async function () {
    const tools = openProcessTools('auto', folder, silentLog);
    if (tools.cgroups === undefined) return this.skip();
    try {
      const { stdout } = await execute(starter, { args: ['-c', 'cat /proc/self/cgroup'] }, tools);
      expect(stdout).to.match(/^0::.*\/simbatch-[0-9a-f]{12}\.\d+$/m);
      const own = (pid: number | string): string => readFileSync(`/proc/${String(pid)}/cgroup`, 'utf8');
      expect(own(starter.pid ?? 0)).to.equal(own('self'));
    } finally {
      tools.cgroups.close();
    }
  });

  it('is ended also when the starter has died before it could say that it exists', async () => {
    const directory = join(folder, 'unknown');
    const orphan = spawn('/bin/sleep', ['60'], { env: { SVC_OUTPUT_DIR: directory }, detached: true, stdio: 'ignore' });
    mkdirSync(directory);
    const scope = new ProcessScope({ table: new ProcessTable(), cgroups: undefined }, silentLog, directory, {});
    const simulation = new SimulationProcess(systemClock, scope, logsIn(directory));
    const dying: Launcher = { launch: async () => ({ type: 'lost', detail: 'it ended' }) };
    await simulation.start(dying, { ...LAUNCH, cwd: folder });
    expect(await simulation.ended).to.deep.equal({ type: 'lost', detail: 'it ended' });
    expect(await simulation.clear()).to.deep.equal({ survivors: [], isOutputHeld: false });
    if (lives(orphan.pid ?? 0)) throw new Error('it lives');
  });

  const wait = 'while [ ! -e known ]; do sleep 0.01; done';
  /** A run that ends the starter once the runner knows the process of the run. */
  async function lost(): Promise<Done> {
    await starter.prepare();
    expect(starter.pid).to.be.a('number');
    rmSync(join(folder, 'known'), { force: true });
    return execute(starter, { args: ['-c', `${wait}; kill -KILL ${String(starter.pid)}; sleep 60`] });
  }

  it('is started by the starter also after three deaths with an ended run between them', async () => {
    for (const run of [lost, lost, () => execute(starter, { args: ['-c', 'true'] }), lost, lost]) {
      await starter.prepare();
      await run();
    }
    await starter.prepare();
    expect([starter.fault, starter.pid === undefined]).to.deep.equal([undefined, false]);
  });

  it('is lost with the starter, and the next one is started by another, three times', async () => {
    for (let death = 1; death <= 3; death += 1) {
      const run = await lost();
      expect(run.ending).to.deep.equal({
        type: 'lost',
        detail: 'the starter of the simulation ended by signal SIGKILL',
        signal: 'SIGKILL',
      });
      expect(lives(run.pid)).to.equal(false);
      expect(run.stdout).to.include('[simbatch: the rest, if any, is lost: the starter ended by signal SIGKILL]');
    }
    expect(log).to.include('programs are started by the runner itself: ');
    expect((await execute(starter, { args: ['-c', 'exit 5'] })).ending).to.deep.equal({ type: 'exit', code: 5 });
    expect(starter.pid).to.equal(undefined);
  });
});
