// The packages beside an installed package: `dependencies` of package.json. All others are in the bundles of its programs.
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';

const manifest = fileURLToPath(new URL('../package.json', import.meta.url));
const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8'));

/** Refuses to build a file that imports what an installed package does not have. */
export function requireInstalled(name, importer) {
  const [, found] = /^((?:@[^/]+\/)?[^/]+)/.exec(name);
  if (!isBuiltin(name) && !(found in dependencies))
    throw new Error(`not built: ${importer} imports ${name}; name it in "dependencies", or bundle it`);
}
