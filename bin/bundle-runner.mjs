// Bundles the runner of the kit into one file, and collects the licenses of the packages in it. Reads what tsc has built.
import { readFileSync, readdirSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** A bundle is one ES module; the packages in it that are CommonJS need these. */
const COMMONJS = [
  "import { createRequire as _createRequire } from 'node:module';",
  "import { fileURLToPath as _fileURLToPath } from 'node:url';",
  "import { dirname as _dirname } from 'node:path';",
  'const require = _createRequire(import.meta.url);',
  'const __filename = _fileURLToPath(import.meta.url), __dirname = _dirname(__filename);',
].join('\n');

/**
 * Native packages stay beside the bundle, in the kit's `node_modules`. The store's is loaded when the spool is opened; that of
 * LZ4 by the first run whose study asks for this compression.
 */
const natives = {
  name: 'natives',
  setup(bundle) {
    bundle.onLoad({ filter: /classic-level[/\\]binding\.js$/ }, ({ path }) => ({
      contents:
        "module.exports = require('node-gyp-build')(require('node:path').join(__dirname, 'node_modules', 'classic-level'));",
      resolveDir: dirname(path),
    }));
    bundle.onResolve({ filter: /^lz4-napi$/ }, ({ path, namespace, resolveDir }) =>
      namespace === 'lazy' ? { path, external: true } : { path, namespace: 'lazy', pluginData: resolveDir },
    );
    bundle.onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path, pluginData }) => ({
      contents: `module.exports = { compressSync: (input) => require(${JSON.stringify(path)}).compressSync(input) };`,
      resolveDir: pluginData,
    }));
  },
};

/** Writes `runner.mjs` and `LICENSES.txt` to `folder`. The same sources give the same bytes. */
export async function bundleRunner(folder) {
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: [join(root, 'dist/bin/runner.js')],
    outfile: join(folder, 'runner.mjs'),
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    banner: { js: COMMONJS },
    plugins: [natives],
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  const bundled = inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  // Copied beside the bundle by src/launcher/kit.
  const packages = [...new Set([...bundled, 'node_modules/classic-level', 'node_modules/lz4-napi'])].toSorted();
  writeFileSync(join(folder, 'LICENSES.txt'), packages.map(license).join('\n\n'));
}

function license(path) {
  const { name, version, license: id } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  const file = readdirSync(join(root, path)).find((it) => /^licen[cs]e(\.|$)/i.test(it));
  const text = file === undefined ? '' : `\n${readFileSync(join(root, path, file), 'utf8').trim()}\n`;
  return `== ${name} ${version} (${id})\n${text}`;
}
