/** The first study of docs/first-study.md as printed; and studies whose simulation is missing, with real processes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '../../../src/base/clock.ts';
import { packageRoot } from '../../../src/base/package.ts';
import type { BatchStatusResponse, Finding } from '../../../src/contract/types.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';

/** The files of the section: the first line of each block names it. */
function printedFiles(): Map<string, string> {
  const page = readFileSync(join(packageRoot, 'docs/first-study.md'), 'utf8');
  const start = page.indexOf('## By hand');
  const section = page.slice(start, page.indexOf('\n## ', start + 1));
  const blocks = [...section.matchAll(/```(?:yaml|js)\n(?:#|\/\/) (\S+)\n([^]*?)```/g)];
  return new Map(blocks.map(([, name = '', text = '']) => [name, text]));
}

describe('e2e/first-study', () => {
  let folder: string;
  let server: Serving;
  const runners: ChildProcess[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-first-'));
    for (const [name, text] of printedFiles()) writeFileSync(join(folder, name), text);
    server = await serving(['--data-dir', join(folder, 'data')]);
  });
  afterEach(async () => {
    for (const runner of runners.splice(0)) {
      const ended = once(runner, 'exit');
      if (runner.exitCode === null && runner.kill('SIGTERM')) await ended;
    }
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const env = () => ({ SVC_ENDPOINT: server.url });
  const startRunner = async (id: string): Promise<void> => {
    const program = join(packageRoot, 'dist/bin/simbatch.js');
    const own = join(folder, id);
    mkdirSync(own);
    const args = [program, 'runner', '--entrypoint', 'throw.mjs', '--runner-id', id, '--working-directory', own];
    runners.push(spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...env() }, stdio: 'ignore' }));
    await until(async () => JSON.stringify(await read('/runners')).includes(`"${id}"`));
  };
  const read = async <T>(path: string): Promise<T> => (await (await fetch(server.url + path)).json()) as T;
  const until = async (is: () => Promise<boolean>, pauseMs = 100): Promise<void> => {
    while (!(await is())) await sleep(systemClock, pauseMs);
  };
  const findings = async (): Promise<Finding[]> => {
    const { stdout } = await simbatch(['status', 'latest', '--output', 'json'], env());
    return (JSON.parse(stdout) as { findings: Finding[] }).findings;
  };

  /** Each look is a program. */
  const untilFound = (wanted: string): Promise<void> =>
    until(async () => (await findings()).some(({ code }) => code === wanted), 700);

  it('by hand is ten lines, and works as printed', async () => {
    const study = printedFiles().get('throw.yaml') ?? '';
    expect(study.trim().split('\n').length).to.be.at.most(10);
    const file = join(folder, 'throw.yaml');
    const checked = await simbatch(['submit', '--check', file]);
    expect(checked.stdout).to.include('valid - 100 runs').and.not.to.include('take their defaults');
    await startRunner('r1');
    const { code, stdout } = await simbatch(['submit', '--watch', '--runs-override', '40', file], env());
    expect(stdout).to.match(/how far does it go: Completed in \S+ - 40 Completed/);
    expect(code).to.equal(0);
  });

  it('without its simulation fails everywhere, and says so before its runs have used up their retries', async () => {
    for (const id of ['r1', 'r2']) await startRunner(id);
    rmSync(join(folder, 'throw.mjs'));
    const study = (printedFiles().get('throw.yaml') ?? '').replace(/policy:.*/, '').replace('runs: 100', 'runs: 1000');
    writeFileSync(join(folder, 'unguarded.yaml'), study);
    await simbatch(['submit', join(folder, 'unguarded.yaml')], env());
    await untilFound('fails-everywhere');
    const found = (await findings()).find(({ code }) => code === 'fails-everywhere');
    expect(found?.severity).to.equal('doubtful');
    expect(found?.remedy).to.include('`policy.canary_runs`');
    const [batch] = await read<BatchStatusResponse['batch'][]>('/batches');
    expect(batch?.failed_jobs).to.be.lessThan(1000);
    await simbatch(['cancel', 'latest', '--yes'], env());
  });

  it('with a canary run that fails holds back 10,000 runs', async () => {
    await startRunner('r1');
    rmSync(join(folder, 'throw.mjs'));
    const study = (printedFiles().get('throw.yaml') ?? '').replace('runs: 100', 'runs: 10001');
    writeFileSync(join(folder, 'guarded.yaml'), study);
    await simbatch(['submit', join(folder, 'guarded.yaml')], env());
    await untilFound('canary-failed');
    const found = (await findings()).find(({ code }) => code === 'canary-failed');
    expect(found).to.include({ severity: 'blocked', count: 10_000 });
    const [batch] = await read<BatchStatusResponse['batch'][]>('/batches');
    // The measurements of its machine come with a heartbeat.
    await until(async () => JSON.stringify(await read('/runners')).includes('"clock_offset_secs":0'));
    expect(JSON.stringify(await read('/runners'))).to.match(/"disk_free_bytes":[1-9]/);
    const { jobs_by_status: counts } = await read<BatchStatusResponse>(`/batches/${batch?.id}`);
    expect(counts).to.include({ Pending: 10_000, Failed: 1 });
  });
});
