/** Location and version of the installed package. The only module that reads package.json. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The nearest folder above this file that holds a package.json: the same for the sources and for `dist/`. */
function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('package.json is missing above ' + fileURLToPath(import.meta.url));
    folder = parent;
  }
  return folder;
}

/** Absolute path of the package: `clients/`, `examples/` and `dist/web/` lie below it. */
export const packageRoot: string = findRoot();

/** The version in package.json, e.g. `0.1.0`. */
export const packageVersion: string = (
  JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }
).version;
