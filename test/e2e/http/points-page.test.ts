/** Every example of docs/points-from-outside.md, executed as it is printed. */
import { expect } from 'chai';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/base/package.ts';
import type { BatchConfig, Uuid } from '../../../src/contract/types.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { Throat } from '../../support/throat.ts';

const PAGE = readFileSync(join(packageRoot, 'docs/points-from-outside.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language, text]) => ({ language, text: text! }));
/** Passed on to the test that executes it; a block that no test asks for is a failure of the last test. */
const used = new Set<string>();
function block(language: string, containing: string): string {
  const found = BLOCKS.filter((it) => it.language === language && it.text.includes(containing));
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${language} contain ${containing}`);
  used.add(found[0]!.text);
  return found[0]!.text;
}

describe('docs/points-from-outside.md in a shell and in Python', function () {
  this.timeout(240_000);
  let folder: string;
  let throat: Throat;
  let working: Promise<void>;
  let environment: NodeJS.ProcessEnv;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-points-page-'));
    throat = await Throat.open({ miss_m: 12.5 });
    working = throat.keepWorking();
    const program = join(packageRoot, 'dist/bin/simbatch.js');
    writeFileSync(join(folder, 'simbatch'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
    chmodSync(join(folder, 'simbatch'), 0o755);
    writeFileSync(join(folder, 'rows.csv'), 'r\n0.22\n0.25\n');
    writeFileSync(join(folder, 'x.csv'), 'mass,cd\n45,1\n46,1.1\n');
    environment = {
      ...process.env,
      PATH: [folder, process.env['PATH']].join(delimiter),
      SVC_ENDPOINT: throat.server.url,
      URL: throat.server.url,
    };
  });
  after(async () => {
    const closed = throat.close();
    await working.catch(() => {});
    await closed;
    await rm(folder, { recursive: true, force: true });
  });

  async function shell(script: string, more: NodeJS.ProcessEnv = {}): Promise<string> {
    const options = { cwd: folder, env: { ...environment, ...more } };
    return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options)).stdout;
  }

  /** The study of the page, by its members of the configuration. */
  async function submitted(name: string): Promise<Uuid> {
    const submission = adaptiveStudy({ name });
    Object.assign(submission.config, JSON.parse(block('json', '"adaptive"')) as Partial<BatchConfig>);
    return (await throat.client.submit(submission)).batch_id;
  }

  it('appends a round over HTTP, waits for its results, and closes the study', async function () {
    const script = block('sh', '/rounds/0/results').replaceAll('\n', '; echo\n');
    const evaluation = block('sh', '/evaluate?wait=30');
    const BATCH = await submitted('by hand');
    if (spawnSync('curl', ['--version']).status !== 0) {
      if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error('curl is required');
      this.skip();
    }
    const [round, results, closed] = (await shell(script, { BATCH }))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(round).to.include({ round: 0, count: 2, repeated: false });
    expect(results).to.deep.include({ counts: { ok: 2 }, complete: true });
    expect(closed).to.include({ id: BATCH, closed: true });

    const other = await submitted('a function');
    const values = JSON.parse(await shell(evaluation, { BATCH: other })) as { points: object[] };
    expect(values.points.map((it) => (it as { outputs: object }).outputs)).to.deep.equal([{ y: 0.0625 }, { y: 0.09 }]);
  });

  it('does the same on the command line', async () => {
    writeFileSync(join(folder, 'study.yaml'), block('yaml', 'sampling_method: adaptive'));
    await shell('simbatch submit study.yaml');
    const printed = await shell(block('sh', 'simbatch append latest'));
    expect(printed)
      .to.match(/generation-0/)
      .and.to.match(/is closed: 1 round, 2 runs/);
    const [head = '', ...lines] = readFileSync(join(folder, 'results.csv'), 'utf8').trim().split(/\r?\n/);
    const column = head.split(',').indexOf('outputs.y');
    expect(lines.map((line) => Number(line.split(',')[column]))).to.deep.equal([0.22 ** 2, 0.25 ** 2]);
  });

  it('evaluates the points of a file, and serves a model of UM-Bridge', async () => {
    const [evaluate = '', bridge = ''] = block('sh', 'simbatch bridge').trim().split('\n');
    await shell(evaluate);
    expect(readFileSync(join(folder, 'y.csv'), 'utf8'))
      .to.match(/^mass,cd,miss_m,class/)
      .and.to.match(/45,1,12\.5,ok/);
    const server = spawn('bash', ['-c', `exec ${bridge} --port 0`], { cwd: folder, env: environment });
    try {
      let said = '';
      for await (const piece of server.stdout as AsyncIterable<Buffer>) if (/http:\/\/\S+/.test((said += piece))) break;
      const address = /http:\/\/[^\s/;,]+/.exec(said)![0];
      expect(await (await fetch(`${address}/Info`)).json()).to.deep.include({ protocolVersion: 1 });
    } finally {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
  });

  it('does the same in Python', async function () {
    const loop = block('python', 'batch.close()').replace(/  +# or study.submit.*$/m, '');
    const values = block('python', 'study.evaluator(workers=8').replace('http://lab:7070', throat.server.url);
    const python = {
      ...environment,
      PYTHONPATH: join(packageRoot, 'clients/python'),
      SIMBATCH_PROGRAM: join(folder, 'simbatch'),
    };
    if (spawnSync('python3', ['-c', 'import cloudpickle, numpy'], { env: python }).status !== 0) {
      if (process.env['SIMBATCH_REQUIRE_ALL'] === '1')
        throw new Error('cloudpickle and numpy are required; see .ci/run');
      this.skip();
    }
    const [pooled = '', ...local] = values.split('\n');
    const program = [
      'import simbatch as sb',
      'def throat(p): return {"y": p["r"] ** 2, "miss_m": p["r"]}',
      loop,
      'print([one["outputs.y"] for one in rows])',
      pooled,
      'print(f([[45, 1], [46, 1.1]]).tolist())',
      'X = [[0.3], [0.2], [0.3]]',
      ...local,
      'print(Y.tolist(), f.cached)',
      'sb.stop()',
    ].join('\n');
    writeFileSync(join(folder, 'page.py'), program);
    const { stdout } = await promisify(execFile)('python3', ['page.py'], { cwd: folder, env: python });
    expect(stdout.trim().split('\n')).to.deep.equal([
      '[0.0484, 0.0625]',
      '[[12.5], [12.5]]',
      '[[0.3], [0.2], [0.3]] 1',
    ]);
  });

  it('leaves no example out', () => {
    expect(BLOCKS.map(({ text }) => text).filter((it) => !used.has(it))).to.deep.equal([]);
  });
});
