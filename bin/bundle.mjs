// Bundles the programs from what tsc has built, and collects the licenses of the packages in them: a command that opens few files
// starts sooner than with two thousand. `node bin/bundle.mjs` writes `dist/bin` and `dist/kit`.
import { chmodSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { removeOthers, writeChanged } from './changed-files.mjs';
import { requireInstalled } from './installed.mjs';
import { builtValidators } from './validators.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const built = (path) => join(root, 'dist/src', path);

/** A bundle is one ES module; the packages in it that are CommonJS need these. */
const COMMONJS = [
  "import { createRequire as _createRequire } from 'node:module';",
  "import { fileURLToPath as _fileURLToPath } from 'node:url';",
  "import { dirname as _dirname } from 'node:path';",
  'const require = _createRequire(import.meta.url);',
  'const __filename = _fileURLToPath(import.meta.url), __dirname = _dirname(__filename);',
].join('\n');

const SHARED = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  banner: { js: COMMONJS },
};
/** Packages that are not bundled: native ones, and those that start a file of theirs as a thread. */
const APART = ['classic-level', 'pino'];
/** Packages that ws uses where they are installed. */
const WHERE_INSTALLED = new Set(['bufferutil', 'utf-8-validate']);

/** A native package stays beside the kit's bundle, in its `node_modules`; it is loaded when the spool is opened. */
const natives = {
  name: 'natives',
  setup(bundle) {
    bundle.onLoad({ filter: /classic-level[/\\]binding\.js$/ }, ({ path }) => ({
      contents:
        "module.exports = require('node-gyp-build')(require('node:path').join(__dirname, 'node_modules', 'classic-level'));",
      resolveDir: dirname(path),
    }));
  },
};

/** The validators that the build compiles. */
const validators = {
  name: 'validators',
  setup(bundle) {
    bundle.onLoad({ filter: /validation[/\\]built-(first|all)\.js$/ }, async ({ path }) => ({
      contents: await builtValidators(/built-(\w+)\.js$/.exec(path)[1]),
      resolveDir: dirname(path),
    }));
  },
};

/**
 * `import` of Node's module `http` reads all that it has, for which Node 22 and later load their WebSocket, a twentieth of a start.
 * `require` reads what is used.
 */
const http = {
  name: 'http',
  setup(bundle) {
    bundle.onResolve({ filter: /^(node:)?https?$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'http' } : undefined,
    );
    bundle.onLoad({ filter: /.*/, namespace: 'http' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/** The threads of a runner: `name.js` beside the bundle, or in `parts/`. */
const THREADS = {
  'look-worker': 'runner/code/look-worker.js',
  'archive-worker': 'runner/files/archive/archive-worker.js',
};

/** Writes the runner of the kit to `folder`: `runner.mjs`, its threads and `LICENSES.txt`. The same sources give the same bytes. */
export async function bundleRunner(folder) {
  const options = { ...SHARED, minify: true, plugins: [natives, http] };
  const runner = await build({
    ...options,
    entryPoints: [built('cli/programs/runner.js')],
    outfile: join(folder, 'runner.mjs'),
  });
  const threads = [];
  for (const [name, path] of Object.entries(THREADS))
    threads.push(await build({ ...options, entryPoints: [built(path)], outfile: join(folder, `${name}.js`) }));
  // Copied beside the bundle by src/launcher/kit.
  writeLicenses(folder, [runner, ...threads], ['node_modules/classic-level', 'node_modules/lz4-napi']);
}

/**
 * Writes the command `simbatch` to `folder`: `simbatch.js`, and in `parts/` what its commands share or load when they are called.
 * A thread lies where the module that starts it looks for it: beside or below that module, and so in `parts/`.
 */
async function bundleProgram(folder) {
  const program = await build({
    ...SHARED,
    entryPoints: {
      simbatch: built('cli/programs/simbatch.js'),
      ...Object.fromEntries(Object.entries(THREADS).map(([name, path]) => [`parts/${name}`, built(path)])),
    },
    chunkNames: 'parts/[name]-[hash]',
    outdir: folder,
    splitting: true,
    external: APART,
    plugins: [validators, http],
    write: false,
  });
  // In one file: to find and read a hundred of them is a third of the time in which the thread starts.
  const worker = await build({
    ...SHARED,
    entryPoints: [built('coordinator/answers/worker/worker.js')],
    outfile: join(folder, 'parts/worker/worker.js'),
    external: APART,
    write: false,
  });
  for (const { metafile } of [program, worker]) {
    refuseLateCommonJs(metafile);
    for (const [path, { imports }] of Object.entries(metafile.outputs))
      for (const it of imports) if (it.external && !WHERE_INSTALLED.has(it.path)) requireInstalled(it.path, path);
  }
  const command = join(folder, 'simbatch.js');
  const made = [...program.outputFiles, ...worker.outputFiles].map(({ path, text }) => [
    path,
    path === command ? `#!/usr/bin/env node\n${text}` : text,
  ]);
  for (const [path, text] of made) writeChanged(path, text);
  chmodSync(command, 0o755);
  writeLicenses(folder, [program, worker], []);
  removeOthers(folder, new Set([...made.map(([path]) => path), join(folder, 'LICENSES.txt')]));
}

/**
 * A CommonJS package has no named exports in a bundle when it is imported by `import()`.
 * @param {import('esbuild').Metafile} metafile
 */
function refuseLateCommonJs({ inputs }) {
  for (const [path, { imports }] of Object.entries(inputs)) {
    const late = imports.find((it) => it.kind === 'dynamic-import' && inputs[it.path]?.format === 'cjs');
    if (late !== undefined && path.startsWith('dist/'))
      throw new Error(
        `bundle not made: ${path} calls import() of the CommonJS file ${late.path}; import it at the top`,
      );
  }
}

/**
 * @param {{ metafile: import('esbuild').Metafile }[]} bundles
 * @param {string[]} beside packages beside the bundle
 */
function writeLicenses(folder, bundles, beside) {
  const inputs = bundles.flatMap(({ metafile }) =>
    Object.values(metafile.outputs).flatMap((it) => Object.keys(it.inputs)),
  );
  const bundled = inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  const packages = [...new Set([...bundled, ...beside])].toSorted();
  writeChanged(join(folder, 'LICENSES.txt'), packages.map(license).join('\n\n'));
}

function license(path) {
  const { name, version, license: id } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  const file = readdirSync(join(root, path)).find((it) => /^licen[cs]e(\.|$)/i.test(it));
  const text = file === undefined ? '' : `\n${readFileSync(join(root, path, file), 'utf8').trim()}\n`;
  return `== ${name} ${version} (${id})\n${text}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundleProgram(join(root, 'dist/bin'));
  await bundleRunner(join(root, 'dist/kit'));
}
