/** The page "What a board will ask": every command as printed, with its output, on the study of the page. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { sleep, systemClock } from '../../../src/base/clock.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { serving, type Serving } from '../../support/program.ts';

const PAGE = readFileSync(join(packageRoot, 'docs', 'board.md'), 'utf8');
const PROGRAM = join(packageRoot, 'dist', 'bin', 'simbatch.js');
/** The same commit in every repository. */
const COMMIT = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/** The parts of an output that differ from execution to execution. */
const masked = (text: string): string =>
  text
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?\b/g, 'ID')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'DIGEST')
    // Warnings about durations come and go.
    .replaceAll(/^.*execution_secs.*\n/gm, '')
    .replaceAll(/\blab-[12](?:,lab-[12])?/g, 'RUNNERS')
    .replaceAll(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*/g, 'TIME')
    .replaceAll(/\b\d+(?:\.\d+)? ?(?:ms|s|m)\b/g, 'DURATION')
    // Another runner executes a run of an audit where one is free.
    .replaceAll(/\((?:on another runner|\d+ runs? on the same runner)\)/g, 'WHERE')
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/ $/gm, '');

/** The commands of a block, each with the output printed after it. */
function commandsOf(block: string): { command: string; printed: string }[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { command: part.slice(0, end), printed: part.slice(end + 1) };
    });
}

describe('e2e/board: the page "What a board will ask"', () => {
  let folder: string;
  let server: Serving;
  let env: Record<string, string | undefined>;
  const runners: ChildProcess[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-board-'));
    for (const [, name = '', text = ''] of PAGE.matchAll(/```(?:yaml|js)\n(?:#|\/\/) ([\w./]+)[^\n]*\n([^]*?)```/g)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    env = { PATH: `${folder}/bin:${process.env['PATH'] ?? ''}`, HOME: folder, ...COMMIT };
    for (const args of [
      ['init', '-q'],
      ['add', '.'],
      ['commit', '-qm', 'lander'],
    ])
      execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], { cwd: join(folder, 'sim'), env });
    mkdirSync(join(folder, 'bin'));
    const shim = join(folder, 'bin', 'simbatch');
    writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
    chmodSync(shim, 0o755);
    server = await serving(['--data-dir', join(folder, 'data')]);
    env['SVC_ENDPOINT'] = server.url;
    for (const id of ['lab-1', 'lab-2']) {
      const own = ['--runner-id', id, '--entrypoint', 'sim/lander.mjs', '--output-root', join(folder, id)];
      runners.push(spawn(process.execPath, [PROGRAM, 'runner', ...own], { cwd: folder, env, stdio: 'ignore' }));
    }
    while (((await (await fetch(`${server.url}/runners`)).json()) as { active_runners: number }).active_runners < 2)
      await sleep(systemClock, 100);
    await shell('simbatch submit --watch lander.yaml');
    env['STUDY'] = (await shell('simbatch studies -f name')).trim();
  });
  after(async () => {
    for (const runner of runners) {
      const ended = once(runner, 'exit');
      if (runner.exitCode === null && runner.kill('SIGTERM')) await ended;
    }
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command of the page as its reader does, and returns its output. */
  async function shell(command: string): Promise<string> {
    const child = spawn('sh', ['-c', command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    await once(child, 'close');
    return out;
  }

  it('prints the outputs of its commands', async () => {
    const blocks = [...PAGE.matchAll(/```\n(\$ [^]*?)```/g)].map(([, block = '']) => commandsOf(block));
    expect(blocks).to.have.length.above(6);
    for (const { command, printed } of blocks.flat())
      expect(`${command}\n${masked(await shell(command))}`).to.equal(`${command}\n${masked(printed)}`);
    expect(readFileSync(join(folder, 'evidence.html'), 'utf8'))
      .to.include('Evidence: landing')
      .and.not.include('<script');
  });
});
