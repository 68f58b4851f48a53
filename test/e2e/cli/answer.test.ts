/** The sentence about a study is word for word the same in every view, as its first line. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import type { StudyAnswer } from '../../../src/contract/types.ts';

const PROGRAM = join(packageRoot, 'dist', 'bin', 'simbatch.js');

/** The miss is the number of the run; run 9 crashes. */
const SIMULATION = `
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const { run_id } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
if (run_id === 9) throw new Error('no solution');
writeFileSync(join(process.env.SVC_OUTPUT_DIR, 'metadata.json'), JSON.stringify({ miss_m: run_id }));
`;

const STUDY = `name: everywhere
config:
  simulation: { name: toy, version: '1', duration_minutes: 1 }
  monte_carlo: { runs: 10, sampling_method: monte_carlo, seed: 1 }
  dispersions: { mass: { distribution: { type: normal, mean: 10, std_dev: 1 }, units: kg } }
  compute: { container: { image: none, cpu_request: 1m, memory_request: 1Mi }, max_parallel_jobs: 0, job_timeout_seconds: 60, max_retries: 0 }
requirements:
  - { name: near, output: miss_m, condition: '<= 3', probability: 0.9 }
outputs: { miss_m: { units: m } }
`;

const PYTHON = `
import contextlib, io, sys
import simbatch as sb
batch = sb.connect(sys.argv[1]).open("latest")
print(repr(batch).splitlines()[0])
text = io.StringIO()
with contextlib.redirect_stderr(text):
    batch.wait()
print(text.getvalue().splitlines()[-1])
print(repr(batch.summary()).splitlines()[0])
print(batch.answer()["sentence"])
`;

describe('cli: the answer about a study', function () {
  let folder: string;
  const children = new Set<ChildProcess>();
  const start = (args: readonly string[]): ChildProcess => {
    const env = { PATH: process.env['PATH'] ?? '', ...(endpoint === '' ? {} : { SVC_ENDPOINT: endpoint }) };
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, env });
    children.add(child);
    child.on('exit', () => children.delete(child));
    return child;
  };
  const lines = async (...args: string[]): Promise<string[]> => {
    const child = start(args);
    let out = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (out += text));
    await once(child, 'close');
    return out.trimEnd().split('\n');
  };
  let endpoint = '';

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-answer-'));
    writeFileSync(join(folder, 'toy.mjs'), SIMULATION);
    writeFileSync(join(folder, 'study.yaml'), STUDY);
    const serve = start(['serve', '--port', '0', '--data-dir', 'data']);
    for await (const line of createInterface({ input: serve.stdout! })) {
      endpoint = /http:\/\/\S+/.exec(line)?.[0] ?? '';
      if (endpoint !== '') break;
    }
  });
  after(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  it('is the first line of status, watch, summary, report and Python, and the last one of watch', async () => {
    await lines('submit', 'study.yaml');
    start(['runner', '--runner-id', 'r', '--engines', 'toy', '--entrypoint', 'toy.mjs', '--output-root', 'out']);
    const watched = await lines('watch', 'latest');
    expect(watched[0]).to.match(/^(?:Blocked|Running|Not OK): /);
    const sentence =
      'Not OK: the requirement is violated: miss exceeds 3 m in 56 % of runs (allowed 10 %). 1 run crashed.';
    expect(watched.at(-1)).to.equal(sentence);
    const [{ id }] = (await (await fetch(`${endpoint}/batches`)).json()) as [{ id: string }];
    const answer = (await (await fetch(`${endpoint}/batches/${id}/answer`)).json()) as StudyAnswer;
    expect(answer).to.deep.include({ level: 'not_ok', sentence });
    expect(answer.next.map((it) => it.label)).to.deep.equal([
      'Show the 5 violating runs',
      'Rerun the run that crashed',
      'Write the report',
    ]);
    for (const args of [
      ['status', 'latest'],
      ['summary', 'latest'],
      ['wait', 'latest'],
    ])
      expect((await lines(...args))[0], args[0]).to.equal(sentence);
    await lines('report', 'latest', '-o', 'report.html');
    const [, first] = /<header>\s*<p[^>]*>([^<]*)</.exec(readFileSync(join(folder, 'report.html'), 'utf8')) ?? [];
    expect(first).to.equal(sentence);
    await lines('table', 'latest', '--format', 'parquet', '-f', 'runs.parquet');
    expect((await lines('summary', '--from', 'runs.parquet'))[0], 'a file').to.equal(sentence);
    // The command of a step does what its label says.
    const command = answer.next[0]!.action.command;
    const where = /--where '(.*)'$/.exec(command)![1]!;
    expect((await lines('table', 'latest', '--where', where, '--format', 'csv')).length - 1).to.equal(5);
  });

  it('is the same in Python', function () {
    const python = ['python3', 'python'].find((it) => spawnSync(it, ['-c', 'import sys']).status === 0);
    if (python === undefined) this.skip();
    const PYTHONPATH = join(packageRoot, 'clients', 'python');
    const env = { PATH: process.env['PATH'] ?? '', PYTHONPATH };
    const { stdout, stderr } = spawnSync(python, ['-c', PYTHON, endpoint], { env, encoding: 'utf8' });
    const sentence =
      'Not OK: the requirement is violated: miss exceeds 3 m in 56 % of runs (allowed 10 %). 1 run crashed.';
    expect(stdout.trimEnd().split('\n'), stderr).to.deep.equal([sentence, sentence, sentence, sentence]);
  });
});
