/** The runner kit: the runner as one archive that needs only Node, or brings it along. Packed from the installed package. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { packageRoot, packageVersion } from '../../base/package.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { OLDEST_NODE, START_SCRIPT } from './start-script.ts';
import { tarOf, type ArchivedFile } from './tar.ts';

/** A `node` program that a kit brings along. */
export interface NodeProgram {
  path: string;
  /** Version of Node, e.g. `20.19.5`. */
  version: string;
}

export interface Kit {
  /** The one folder in the archive, e.g. `simbatch-runner-0.1.0`. */
  folder: string;
  version: string;
  /** The machines that can run it, e.g. `linux-x64`: those of the machine that packed it. */
  platform: string;
  /** Version of the Node that it brings along; undefined: none. */
  node: string | undefined;
  /** A tar file, compressed by gzip. */
  archive: Buffer;
  /** SHA-256 of the archive, in hex. Equal content has an equal digest. */
  sha256: string;
}

const { platform: SYSTEM, arch: ARCHITECTURE } = process;
const PLATFORM = `${SYSTEM}-${ARCHITECTURE}`;
/** Where the build puts the bundle. */
const BUNDLE = join(packageRoot, 'dist', 'kit');
const PROGRAM_MODE = 0o755;
const FILE_MODE = 0o644;

/**
 * Packs the kit of the installed version for machines like this one. `bundle` is the folder with `runner.mjs`.
 * @throws SimbatchError `invalid-configuration` when the bundle or a native package is missing.
 */
export async function packKit({ node, bundle = BUNDLE }: { node?: NodeProgram; bundle?: string } = {}): Promise<Kit> {
  const files = [
    { path: 'simbatch-runner', mode: PROGRAM_MODE, data: Buffer.from(START_SCRIPT) },
    ...(await bundleFiles(bundle)),
    ...(await clientFiles()),
    ...(await nativeFiles()),
    ...(node === undefined ? [] : [{ path: 'node', mode: PROGRAM_MODE, data: await readFile(node.path) }]),
  ].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const description = {
    name: 'simbatch-runner',
    version: packageVersion,
    type: 'module',
    platform: PLATFORM,
    node: { required: `>=${OLDEST_NODE}`, included: node?.version ?? null },
    files: Object.fromEntries(files.map(({ path, data }) => [path, sha256(data)])),
  };
  // The runner reads its version from package.json.
  const about = {
    path: 'package.json',
    mode: FILE_MODE,
    data: Buffer.from(`${JSON.stringify(description, null, 2)}\n`),
  };
  const folder = `simbatch-runner-${packageVersion}`;
  const tar = tarOf([about, ...files].map((file) => ({ ...file, path: `${folder}/${file.path}` })));
  // Level 9 takes three times as long, and a Node gets 0.4 % smaller.
  const archive = await promisify(gzip)(tar, { level: 6 });
  return {
    folder,
    version: packageVersion,
    platform: PLATFORM,
    node: node?.version,
    archive,
    sha256: sha256(archive),
  };
}

const sha256 = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

/**
 * Asks a `node` program what it is.
 * @throws SimbatchError `invalid-configuration` when it does not start, is of another platform, or needs a library of its own.
 */
export async function describeNode(path: string): Promise<NodeProgram> {
  const script =
    'JSON.stringify([process.versions.node, process.platform + "-" + process.arch, process.config.variables.node_shared === true, process.execPath])';
  const refusal = (why: string): SimbatchError =>
    new SimbatchError(
      'invalid-configuration',
      `Node cannot be packed: ${path} ${why}; name another with --with-node=PATH`,
    );
  let printed: string;
  try {
    ({ stdout: printed } = await promisify(execFile)(path, ['-p', script]));
  } catch (error) {
    throw refusal(`does not start (${error instanceof Error ? error.message.split('\n', 1).join('') : String(error)})`);
  }
  const [version, platform, isShared, program] = JSON.parse(printed) as [string, string, boolean, string];
  if (platform !== PLATFORM) throw refusal(`is for ${platform}, and the kit for ${PLATFORM}`);
  if (isShared) throw refusal('needs a shared library of Node that other machines lack');
  return { path: program, version };
}

async function bundleFiles(folder: string): Promise<ArchivedFile[]> {
  const names = ['runner.mjs', 'look-worker.js', 'archive-worker.js', 'LICENSES.txt'];
  try {
    return await Promise.all(
      names.map(async (path) => ({ path, mode: FILE_MODE, data: await readFile(join(folder, path)) })),
    );
  } catch (error) {
    throw new SimbatchError(
      'invalid-configuration',
      `the runner kit cannot be packed: ${join(folder, 'runner.mjs')} is missing; run \`npm run build\``,
      { cause: error },
    );
  }
}

/** The files of warm engines and functions of studies: Python, and the script of a Node process that waits. */
async function clientFiles(): Promise<ArchivedFile[]> {
  const folders = ['clients/python/simbatch', 'clients/python/warm', 'clients/node/warm'];
  const below = await Promise.all(folders.map((folder) => filesBelow(join(packageRoot, folder))));
  const paths = [join(packageRoot, 'clients/python/function_main.py'), ...below.flat()];
  const sources = paths.filter((path) => /\.(py|cjs)$/.test(path));
  return Promise.all(sources.map((path) => archived(relative(packageRoot, path).split(sep).join('/'), path)));
}

/** True for `prebuilds/<system>-<architecture>[+<architecture>...]/<program>.node` of this machine. */
function isForThisPlatform(path: string): boolean {
  const [, system, architectures = ''] = /^prebuilds\/([^/-]+)-([^/]+)\//.exec(path) ?? [];
  return system === SYSTEM && architectures.split('+').includes(ARCHITECTURE);
}

/** Native packages of this platform: the spool's store, and LZ4 where it is installed. */
async function nativeFiles(): Promise<ArchivedFile[]> {
  const own = createRequire(join(packageRoot, 'package.json'));
  const store = packageFolder(createRequire(own.resolve('level')), 'classic-level');
  const files = await packageFiles(store, 'classic-level', isForThisPlatform);
  if (!files.some(({ path }) => path.endsWith('.node'))) {
    throw new SimbatchError(
      'invalid-configuration',
      `the runner kit cannot be packed: classic-level has no program for ${PLATFORM}; install runners with npm there`,
    );
  }
  const lz4 = packageFolder(own, 'lz4-napi');
  files.push(...(await packageFiles(lz4, 'lz4-napi', (path) => path === 'index.js')));
  const { optionalDependencies = {} } = JSON.parse(await readFile(join(lz4, 'package.json'), 'utf8')) as {
    optionalDependencies?: Record<string, string>;
  };
  const inLz4 = createRequire(join(lz4, 'package.json'));
  for (const name of Object.keys(optionalDependencies)) {
    if (!name.includes(PLATFORM)) continue;
    try {
      files.push(...(await packageFiles(packageFolder(inLz4, name), name, (path) => path.endsWith('.node'))));
    } catch {
      // Installed are those of this machine's C library only.
    }
  }
  return files;
}

/** The folder of an installed package. Throws when it is not installed. */
function packageFolder(require: NodeJS.Require, name: string): string {
  const main = require.resolve(name);
  const parts = join('node_modules', ...name.split('/'));
  const at = main.lastIndexOf(parts);
  return at < 0 ? dirname(main) : main.slice(0, at + parts.length);
}

async function packageFiles(folder: string, name: string, wanted: (path: string) => boolean): Promise<ArchivedFile[]> {
  const paths = (await filesBelow(folder)).map((path) => relative(folder, path).split(sep).join('/'));
  const chosen = paths.filter((path) => path === 'package.json' || wanted(path));
  return Promise.all(chosen.map((path) => archived(`node_modules/${name}/${path}`, join(folder, path))));
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name));
}

const archived = async (path: string, file: string): Promise<ArchivedFile> => ({
  path,
  mode: FILE_MODE,
  data: await readFile(file),
});
