/** Faults of the machine that a runner reports at its start: one row each. */
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { resolveHere } from '../../src/runner/preflight.ts';

const host = { hostname: 'lab', cpuCores: 1, memoryGb: 1 };

describe('runner: the machine', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-machine-'));
    mkdirSync(join(folder, 'folder'));
    for (const name of ['sim.mjs', 'sim.py', 'plain', 'program', 'with space']) writeFileSync(join(folder, name), '');
    for (const name of ['program', 'with space']) chmodSync(join(folder, name), 0o755);
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  /** The lines of the refusal, the folder written as HERE; empty when there is none. */
  async function faults(yaml: string): Promise<string[]> {
    const file = join(folder, 'runner.yaml');
    writeFileSync(file, yaml);
    try {
      await resolveHere({ flags: {}, file, env: {}, cwd: folder, host });
      return [];
    } catch (error) {
      expect(error).to.have.property('code', 'invalid-configuration');
      return (error as Error).message.replaceAll(folder, 'HERE').split('\n');
    }
  }

  const REMEDY = 'name the file of the simulation: a path without arguments, not a command looked up in PATH';
  const table: [yaml: string, said: string[]][] = [
    ['entrypoint: sim.mjs', []],
    ['entrypoint: program', []],
    ['entrypoint: ./with space', []],
    ['entrypoint: image:/opt/model/run\ncontainer_runtime: podman\ncontainer_images: "*"', []],
    [
      'entrypoint: image:/opt/model/run',
      [
        'HERE/runner.yaml:1:13: entrypoint is "image:/opt/model/run", but there is no container runtime; set container_runtime, or name a file of this machine',
      ],
    ],
    ['entrypoint: none', [`HERE/runner.yaml:1:13: entrypoint is "none", but HERE/none does not exist; ${REMEDY}`]],
    ['entrypoint: sh', [`HERE/runner.yaml:1:13: entrypoint is "sh", but HERE/sh does not exist; ${REMEDY}`]],
    [
      'entrypoint: program --fast',
      [`HERE/runner.yaml:1:13: entrypoint is "program --fast", but HERE/program --fast does not exist; ${REMEDY}`],
    ],
    ['entrypoint: folder', [`HERE/runner.yaml:1:13: entrypoint is "folder", but HERE/folder is not a file; ${REMEDY}`]],
    [
      'entrypoint: plain',
      ['HERE/runner.yaml:1:13: entrypoint is "plain", but HERE/plain is not executable; try: chmod +x HERE/plain'],
    ],
    [
      'engines: [a, b]\nentrypoint: none',
      [`HERE/runner.yaml:2:13: entrypoint is "none", but HERE/none does not exist; ${REMEDY}`],
    ],
    [
      'endpoint: nope\na_entrypoint: none\nb_entrypoint: plain\nworking_directory: gone\noutput_root: plain/out\ncpu_cores: x',
      [
        'HERE/runner.yaml:1:11: endpoint is "nope" and is not an address; give one, e.g. http://127.0.0.1:7070',
        'HERE/runner.yaml:6:12: cpu_cores is "x" and must be a whole number of at least 0',
        `HERE/runner.yaml:2:15: a_entrypoint is "none", but HERE/none does not exist; ${REMEDY}`,
        'HERE/runner.yaml:3:15: b_entrypoint is "plain", but HERE/plain is not executable; try: chmod +x HERE/plain',
        'HERE/runner.yaml:4:20: working_directory is "gone", but there is no folder HERE/gone; make it, or name another',
        'HERE/runner.yaml:5:14: output_root is "plain/out", but HERE/plain is not a folder; name another',
      ],
    ],
    [
      'entrypoint: sim.py\npython_executable: ./plain',
      [
        'HERE/runner.yaml:2:20: python_executable is "./plain", but it is not a Python that can be started; name another, or leave it out',
      ],
    ],
  ];
  for (const [yaml, said] of table) {
    it(`${JSON.stringify(yaml)}: ${said.length === 0 ? 'fine' : said.length}`, async () => {
      rmSync(join(folder, 'simbatch-output'), { recursive: true, force: true });
      expect(await faults(yaml)).to.deep.equal(said);
      expect(existsSync(join(folder, 'simbatch-output')), 'made only for a runner that starts').to.equal(
        said.length === 0,
      );
    });
  }

  it('warns of an output root on a file system of another machine, with the remedy', async () => {
    const flags = { entrypoint: [join(folder, 'sim.mjs')] };
    const noted = async (fileSystem: string): Promise<readonly string[]> =>
      (await resolveHere({ flags, env: {}, cwd: folder, host }, [{ mountPoint: folder, fileSystem }])).notes;
    expect(await noted('nfs4')).to.deep.equal([
      `the store in ${join(folder, 'simbatch-output')} is on nfs4, a file system of another machine: it may let two machines write at once and lose synced writes; ` +
        'name a local folder in --output-root, such as $TMPDIR/simbatch, and have files sent to an object store, or read them with --serve-files',
    ]);
    expect(await noted('xfs')).to.deep.equal([]);
  });

  it('keeps its folder for itself below a folder of all users, and refuses a folder that another user has made there', async function () {
    if (process.getuid === undefined) this.skip();
    const uid = process.getuid();
    const shared = join(folder, 'tmp');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    const resolve = (user: number, name: string) =>
      resolveHere({
        flags: { entrypoint: [join(folder, 'sim.mjs')], output_root: join(shared, name) },
        env: {},
        cwd: folder,
        host: { ...host, uid: user },
      });
    await resolve(uid, 'own');
    expect(statSync(join(shared, 'own')).mode & 0o777).to.equal(0o700);
    await resolve(uid, 'own');
    await resolve(uid + 1, 'own').then(
      () => expect.fail('not refused'),
      ({ message }: Error) =>
        expect(message.replaceAll(folder, 'HERE')).to.equal(
          `--output-root: output_root is "HERE/tmp/own", but HERE/tmp/own belongs to another user (${String(uid)}); remove it, or name another`,
        ),
    );
    // Nor a link of another user.
    if (uid !== 0) return;
    symlinkSync('/etc', join(shared, 'link'));
    lchownSync(join(shared, 'link'), 12_345, 12_345);
    await resolve(uid, 'link').then(
      () => expect.fail('not refused'),
      ({ message }: Error) => expect(message).to.include('belongs to another user (12345)'),
    );
  });

  it('reports a folder that no file system will create, and does not try for ever', async function () {
    if (process.platform !== 'linux') this.skip();
    const [said, ...more] = await faults('entrypoint: sim.py\noutput_root: /proc/simbatch/out');
    expect(more).to.deep.equal([]);
    expect(said).to.match(
      /^HERE\/runner\.yaml:2:14: output_root is "\/proc\/simbatch\/out", but the folder cannot be made: ENOENT.*; name another$|may not write in \/proc/,
    );
  });
});
