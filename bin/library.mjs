// A step of the build: copies the public modules (`exports` of package.json) and what they import from `dist/` to `dist/library`, with
// their types: an installed package needs no other module of the sources, since its programs are bundles.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeOthers, writeChanged } from './changed-files.mjs';
import { requireInstalled } from './installed.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const PUBLIC = Object.values(exports).flatMap(({ default: it }) => /^\.\/dist\/library\/(.*)\.js$/.exec(it)?.[1] ?? []);
const IMPORT = /\b(?:from|import)\s*\(?\s*["']([^"'\s]+)["']/g;
/** The maps lead to sources that an installed package does not have. */
const MAP = /^\/\/# sourceMappingURL=.*\n?/m;

/** By path below `dist`, the text of the public files with this suffix and of all files that they import. */
function closure(suffix) {
  const texts = new Map();
  const open = PUBLIC.map((it) => it + suffix);
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (texts.has(path)) continue;
    const text = readFileSync(join(root, 'dist', path), 'utf8');
    texts.set(path, text.replace(MAP, ''));
    for (const [, name] of text.matchAll(IMPORT)) {
      if (name.startsWith('.')) open.push(join(dirname(path), name.replace(/\.[jt]s$/, suffix)));
      else requireInstalled(name, path);
    }
  }
  return texts;
}

const folder = join(root, 'dist/library');
const made = [...closure('.js'), ...closure('.d.ts')].map(([path, text]) => [join(folder, path), text]);
for (const [path, text] of made) writeChanged(path, text);
removeOthers(folder, new Set(made.map(([path]) => path)));
