/** The source files of the project, for the tests of conventions. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';

export interface SourceFile {
  /** Relative to the package, with `/`. */
  path: string;
  text: string;
}

/** The files below these folders whose name ends so. */
export function filesIn(folders: readonly string[], ending = '.ts'): SourceFile[] {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
      .filter((it) => it.isFile() && it.name.endsWith(ending))
      .map((it) => relative(packageRoot, join(it.parentPath, it.name)).split(sep).join('/'))
      .filter((it) => !it.includes('node_modules')),
  );
  return paths.sort().map((path) => ({ path, text: readFileSync(join(packageRoot, path), 'utf8') }));
}

/** The files with these paths, relative to the package. */
export function rootFiles(...paths: string[]): SourceFile[] {
  return paths.map((path) => ({ path, text: readFileSync(join(packageRoot, path), 'utf8') }));
}
