/** `simbatch run STUDY`: from a script to its verdict, the folder `./.simbatch`, and what is left when it ends. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../../src/base/package.ts';
import { announceLocal, localCoordinator, makeLocalFolder } from '../../../../src/cli/local-folder.ts';
import { simbatch } from '../../../support/program.ts';
import { inTerminal, needTerminal } from '../../../support/terminal.ts';

const PROGRAM = join(packageRoot, 'dist/bin/simbatch.js');
const SLOW = `import { writeFileSync } from 'node:fs';
await new Promise((done) => setTimeout(done, 60_000));
writeFileSync(process.env.SVC_OUTPUT_DIR + '/metadata.json', '{"y": 1}');`;

const studyOf = (name: string, runs: number): string =>
  `name: ${name}\nconfig:\n  simulation: { name: ${name} }\n  monte_carlo: { runs: ${runs}, seed: 1 }\n  dispersions: {}\n`;

describe('cli/run of a study file', function () {
  let folder = '';
  beforeEach(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), 'simbatch-here-')))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const here = (...args: string[]): ReturnType<typeof simbatch> => simbatch(args, {}, folder);
  /** The program in a terminal of the folder. */
  const program = ['sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh'];
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('comes from a script to its verdict by two commands, keeps the study, and executes nothing twice with --continue', async function () {
    if (spawnSync('python3', ['--version']).status !== 0) this.skip();
    cpSync(join(packageRoot, 'test/e2e/cli/init/fixtures/glide.py'), join(folder, 'glide.py'));
    const made = await here(
      'init',
      'glide.py',
      '--vary',
      '5%',
      '--require',
      'Range > 1',
      '--probability',
      '0.5',
      '--runs',
      '8',
    );
    expect(made, made.stderr).to.include({ code: 0 });
    const ran = await here('run', 'glide.yaml', '--workers', '4');
    expect(ran, ran.stderr + ran.stdout).to.include({ code: 0 });
    expect(ran.stdout)
      .to.match(/Range > 1: met/)
      .and.to.match(/8 Completed/);
    expect(ran.stderr)
      .to.match(/submitted 8 runs/)
      .and.to.match(/see it: http:\/\/127\.0\.0\.1:\d+\/#\/batches\//);
    expect(ran.stdout + ran.stderr).to.not.include('no runner has registered');
    expect(existsSync(join(folder, '.simbatch/local.json'))).to.equal(false);
    expect(readFileSync(join(folder, '.simbatch/.gitignore'), 'utf8')).to.equal('*\n');
    const gone = await here('studies');
    expect(gone.code).to.equal(69);
    expect(gone.stderr).to.include('simbatch serve --data-dir .simbatch/data`, for the studies of this folder');
    const again = await here('run', 'glide.yaml', '--continue');
    expect(again, again.stderr).to.include({ code: 0 });
    expect(again.stderr)
      .to.match(/has 8 runs/)
      .and.to.not.match(/submitted/);
  });

  it('keeps the dashboard on a terminal until Ctrl-C, where commands of the folder find it', async function () {
    needTerminal(this);
    writeFileSync(join(folder, 'fast.mjs'), SLOW.replace('60_000', '1'));
    writeFileSync(join(folder, 'fast.yaml'), studyOf('fast', 2));
    let found: ReturnType<typeof simbatch> | undefined;
    let joined: ReturnType<typeof simbatch> | undefined;
    let pid = 0;
    const words = [folder, process.execPath, PROGRAM, 'run', 'fast.yaml', '--no-browser'];
    const stayed = inTerminal(words, {
      program,
      columns: 200,
      seen: {
        text: /the dashboard stays at/,
        act: () => {
          ({ pid } = JSON.parse(readFileSync(join(folder, '.simbatch/local.json'), 'utf8')) as { pid: number });
          found = here('studies', '-o', 'name');
          // A second command uses the coordinator and the runner that are there.
          joined = found.then(() => here('run', 'fast.yaml'));
          void joined.finally(() => process.kill(shellOf(folder), 'SIGINT'));
        },
      },
    });
    const { code, screen } = await stayed;
    expect(code, screen).to.equal(0);
    expect(await found).to.deep.include({ code: 0 });
    expect((await found)?.stdout).to.match(/^01\S+\n$/);
    const second = await joined;
    expect(second, second?.stderr).to.deep.include({ code: 0 });
    expect(isAlive(pid)).to.equal(false);
    expect(existsSync(join(folder, '.simbatch/local.json'))).to.equal(false);
  });

  it('ends all that it has started on Ctrl-C, and says how to continue', async function () {
    needTerminal(this);
    writeFileSync(join(folder, 'slow.mjs'), SLOW);
    writeFileSync(join(folder, 'slow.yaml'), studyOf('slow', 2));
    let pid = 0;
    const { code, screen } = await inTerminal([folder, process.execPath, PROGRAM, 'run', 'slow.yaml'], {
      program,
      columns: 200,
      seen: {
        text: /2 running/,
        act: () => {
          ({ pid } = JSON.parse(readFileSync(join(folder, '.simbatch/local.json'), 'utf8')) as { pid: number });
          process.kill(shellOf(folder), 'SIGINT');
        },
      },
    });
    expect(code, screen).to.equal(130);
    expect(screen).to.include('continue it: simbatch run slow.yaml --continue');
    expect(isAlive(pid)).to.equal(false);
  });

  it('refuses what it cannot run, with the remedy', async () => {
    writeFileSync(join(folder, 'lone.yaml'), studyOf('lone', 1));
    const lone = await here('run', 'lone.yaml');
    expect(lone.code).to.equal(66);
    expect(lone.stderr).to.match(
      /no simulation was found beside lone\.yaml.*lone\.run\.mjs.*--entrypoint.*simbatch init/,
    );
    expect((await here('run', 'lone.yaml', '--entrypoint', 'no.py')).code).to.equal(66);
    expect((await here('run', 'absent.yaml')).code).to.equal(66);
    const run = await here('run', 'latest/3', '--exit', '--workers', '2');
    expect(run.code).to.equal(64);
    expect(run.stderr).to.match(/--workers, --exit: only a study file takes it, and latest\/3 names a run/);
    expect(existsSync(join(folder, '.simbatch'))).to.equal(false);
  });

  it('finds a coordinator of the folder that runs on this machine, and no other', () => {
    const own = join(folder, '.simbatch');
    expect(localCoordinator(own)).to.equal(undefined);
    makeLocalFolder(own);
    makeLocalFolder(own);
    const withdraw = announceLocal({ url: 'http://127.0.0.1:7', pid: process.pid }, own);
    expect(localCoordinator(own)).to.deep.equal({ url: 'http://127.0.0.1:7', token: undefined });
    writeFileSync(join(own, 'read.token'), 'secret\n');
    expect(localCoordinator(own)).to.deep.equal({ url: 'http://127.0.0.1:7', token: 'secret' });
    const others: object[] = [
      { url: 'http://lab.example:7070', pid: process.pid },
      { url: 'http://127.0.0.1:7@lab.example/', pid: process.pid },
      { url: 'http://127.0.0.1:7', pid: spawnSync('true').pid },
      { url: 'http://127.0.0.1:7' },
      [],
    ];
    for (const other of others) {
      writeFileSync(join(own, 'local.json'), JSON.stringify(other));
      expect(localCoordinator(own), JSON.stringify(other)).to.equal(undefined);
    }
    withdraw();
    expect(existsSync(join(own, 'local.json'))).to.equal(false);
  });
});

/** The process of the command: the only one whose working directory is the folder and whose parent is the terminal. */
function shellOf(folder: string): number {
  const { stdout } = spawnSync('pgrep', ['-f', `${PROGRAM} run (fast|slow).yaml`], { encoding: 'utf8' });
  const pids = stdout.trim().split('\n').map(Number);
  const found = pids.find((pid) => realpathSync(`/proc/${pid}/cwd`) === folder);
  if (found === undefined) throw new Error(`no command runs in ${folder}: ${stdout}`);
  return found;
}
