/** The runner kit: unpacked elsewhere, it executes a real study with warm Python, telemetry in LZ4 and no other file of simbatch. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { packageRoot, packageVersion } from '../../../src/base/package.ts';
import { Client } from '../../../src/client/client.ts';
import { describeNode, packKit, type Kit } from '../../../src/launcher/kit/kit.ts';
import { tarOf } from '../../../src/launcher/kit/tar.ts';
import { until } from '../support.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { study } from '../../support/studies.ts';

const SIMULATION = `
import os
import simbatch

run = simbatch.run()
for i in range(10):
    run.telemetry(timestamp_ns=i, height=run.run_id + i / 10)
print('done')
run.result(file=simbatch.__file__, python=os.getpid() != os.getsid(0) or 1)
`;

/** An empty folder with the kit in it, and a PATH that has no Node. */
function unpack(kit: Kit): { folder: string; root: string; path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch kit-'));
  const path = join(folder, 'bin');
  mkdirSync(path);
  const printed = (command: string): string => execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim();
  for (const program of ['dirname', 'readlink', 'sh']) {
    symlinkSync(printed(`command -v ${program}`), join(path, program));
  }
  // A Python of a version manager is started by a script of its own; the program itself needs none.
  const python = printed('python3 -c "import sys; print(sys.executable)" || true');
  if (python !== '') symlinkSync(python, join(path, 'python3'));
  execFileSync('tar', ['-xzf', '-', '-C', folder], { input: kit.archive });
  return { folder, root: join(folder, kit.folder), path };
}

describe('launcher/kit', function () {
  const folders: string[] = [];
  const temporary = (kit: Kit): ReturnType<typeof unpack> => {
    const unpacked = unpack(kit);
    folders.push(unpacked.folder);
    return unpacked;
  };
  let plain: Kit;
  let bundle = '';
  let serve: Serving | undefined;
  const runners: ChildProcess[] = [];

  before(async () => {
    // Not the bundle of dist/, which may be older than what tsc has built.
    bundle = mkdtempSync(join(tmpdir(), 'simbatch-bundle-'));
    folders.push(bundle);
    const script = `import { bundleRunner } from ${JSON.stringify(join(packageRoot, 'bin/bundle.mjs'))}; await bundleRunner(process.argv[1]);`;
    execFileSync(process.execPath, ['--input-type=module', '-e', script, bundle], { stdio: 'inherit' });
    plain = await packKit({ bundle });
  });
  after(async () => {
    for (const runner of runners) runner.kill('SIGKILL');
    await serve?.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('is small, says its versions, and has the same bytes when it is packed again', async () => {
    expect(plain.archive.length).to.be.lessThan(1_500_000);
    expect(await packKit({ bundle })).to.deep.equal(plain);
    const { root } = temporary(plain);
    const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
    const { engines } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    expect(about).to.include({ version: packageVersion, platform: plain.platform });
    expect(about['node']).to.deep.equal({ required: engines.node, included: null });
    const licenses = readFileSync(join(root, 'LICENSES.txt'), 'utf8');
    expect(licenses).to.match(/^== @grpc\/grpc-js [\d.]+ \(Apache-2.0\)\n[^=]+Apache/m);
    for (const name of ['yauzl', 'yazl']) expect(licenses).to.include(`\n== ${name} `);
  });

  it('executes a study with warm Python and the Node that it brings along, on a machine without both', async function () {
    if (spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status !== 0) {
      if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error('Python 3.9 or later is needed');
      this.skip();
    }
    const { folder, root, path } = temporary(await packKit({ bundle, node: await describeNode(process.execPath) }));
    serve = await serving(['--data-dir', join(folder, 'data')]);
    const entrypoint = join(folder, 'sim.py');
    writeFileSync(entrypoint, SIMULATION);
    const args = ['--endpoint', serve.url, '--runner-id', 'kit', '--output-root', join(folder, 'out')];
    const runner = spawn(
      join(root, 'simbatch-runner'),
      [
        ...args,
        '--entrypoint',
        entrypoint,
        '--warm',
        '--artifacts',
        'archive',
        '--max-concurrent-jobs',
        '2',
        '--heartbeat-interval-secs',
        '1',
      ],
      {
        cwd: folder,
        env: { PATH: path, PYTHONPATH: join(root, 'clients/python') },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    runners.push(runner);
    let log = '';
    runner.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
    const client = new Client({ endpoint: serve.url });
    const config = {
      telemetry: {
        sampling_rate_hz: 0,
        storage: { s3_bucket: '', s3_prefix: '', compression: 'lz4' as const },
      },
    };
    const { batch_id } = await client.submit(study({ runs: 6, config }));
    await until(
      async () => (await client.batch(batch_id)).batch.status === 'Completed',
      failed(runner, () => log),
    );
    expect(log).to.match(/engine \*: warm, os, simbatch imported in/);
    for await (const result of client.batchResults(batch_id)) {
      expect(result.code, JSON.stringify(result)).to.match(/^[0-9a-f]{12}$/);
      expect(result.metadata, JSON.stringify(result)).to.deep.equal({
        file: join(root, 'clients/python/simbatch/__init__.py'),
        python: 1,
      });
      expect(result.output_files.map((it) => basename(it))).to.deep.equal(['files.zip', 'telemetry.parquet']);
      const file = await asyncBufferFromFile(String(result.telemetry_data));
      const rows = await parquetReadObjects({ file, compressors });
      expect(rows.map((row) => row['height'])).to.deep.equal(
        Array.from({ length: 10 }, (_, i) => result.run_id + i / 10),
      );
    }
    runner.kill('SIGTERM');
    expect((await once(runner, 'exit'))[0], log).to.equal(0);
  });

  it('starts with the node in PATH, through a link, and prints help and version', () => {
    const { folder, root, path } = temporary(plain);
    symlinkSync(process.execPath, join(path, 'node'));
    symlinkSync(join('..', plain.folder, 'simbatch-runner'), join(path, 'simbatch-runner'));
    const env = { PATH: path };
    const run = (...args: string[]) =>
      spawnSync(join(path, 'simbatch-runner'), args, { cwd: folder, env, encoding: 'utf8' });
    expect(run('--version').stdout).to.equal(`${packageVersion} (Node ${process.versions.node})\n`);
    expect(run('--help').stdout)
      .to.match(/^Usage: simbatch-runner \[options\]/)
      .and.include('--idle-exit');
    expect(run('--no-such').status).to.equal(64);
    expect(run())
      .to.include({ status: 78 })
      .and.property('stderr')
      .to.match(/^simbatch-runner: no engine: /);
    expect(root).to.be.a('string');
  });

  it('refuses a machine without Node, and a Node that is too old or broken, with the remedy', () => {
    const { folder, root, path } = temporary(plain);
    const run = (env: Record<string, string>) =>
      spawnSync(join(root, 'simbatch-runner'), ['--version'], { env: { PATH: path, ...env }, encoding: 'utf8' });
    const remedy =
      'install Node 20.19 or newer, name one in SIMBATCH_NODE, or use a kit that brings Node (--with-node)';
    const fake = (name: string, script: string): string => {
      const file = join(folder, name);
      writeFileSync(file, `#!/bin/sh\n${script}\n`);
      chmodSync(file, 0o755);
      return file;
    };
    const refusals: [Record<string, string>, string][] = [
      [{}, 'node is not in PATH'],
      [{ SIMBATCH_NODE: fake('old', 'echo v20.18.3') }, `${join(folder, 'old')} is version v20.18.3`],
      [{ SIMBATCH_NODE: fake('older', 'echo v9.99.0') }, `${join(folder, 'older')} is version v9.99.0`],
      [{ SIMBATCH_NODE: fake('other', 'echo io.js') }, `${join(folder, 'other')} says it is version io.js`],
      [{ SIMBATCH_NODE: fake('broken', 'echo no >&2; exit 1') }, `${join(folder, 'broken')} does not start (no)`],
    ];
    for (const [env, why] of refusals) {
      const { status, stderr } = run(env);
      expect({ status, stderr }).to.deep.equal({
        status: 78,
        stderr: `simbatch-runner: the runner cannot be started: ${why}; ${remedy}\n`,
      });
    }
    const newer = fake('newer', 'if [ "$1" = --version ]; then echo v22.0.0; else echo "$2"; fi');
    expect(run({ SIMBATCH_NODE: newer }).stdout).to.equal('--version\n');
  });

  it('is written by `simbatch kit` under a name that says version and platform', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'simbatch-kit-'));
    folders.push(folder);
    const { code, stdout, stderr } = await simbatch(['kit', folder, '-o', 'json']);
    expect(code, stderr).to.equal(0);
    const file = join(folder, `simbatch-runner-${packageVersion}-${plain.platform}.tar.gz`);
    const printed = JSON.parse(stdout) as Record<string, unknown>;
    expect(printed).to.include({ file, bytes: readFileSync(file).length, platform: plain.platform, node: null });
    const wrong = await simbatch(['kit', join(folder, 'x.tar.gz'), '--with-node=/bin/false']);
    expect(wrong).to.deep.include({ code: 78, stdout: '' });
    expect(wrong.stderr).to.match(
      /^simbatch: Node cannot be packed: \/bin\/false does not start .*; name another with --with-node=PATH\n$/,
    );
  });

  it('archives long paths as tar reads them, and refuses longer ones', () => {
    const folder = mkdtempSync(join(tmpdir(), 'simbatch-tar-'));
    folders.push(folder);
    const path = `${'a'.repeat(90)}/${'b'.repeat(60)}/${'c'.repeat(95)}`;
    const data = Buffer.alloc(513, 'x');
    execFileSync('tar', ['-xf', '-', '-C', folder], { input: tarOf([{ path, mode: 0o600, data }]) });
    expect(readFileSync(join(folder, path))).to.deep.equal(data);
    expect(() => tarOf([{ path: 'd'.repeat(101), mode: 0o600, data }])).to.throw(
      RangeError,
      'is too long for an archive',
    );
  });
});

/** Rejects when the process ends. */
async function failed(child: ChildProcess, log: () => string): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`the runner ended with ${String(code)}: ${log()}`);
}
