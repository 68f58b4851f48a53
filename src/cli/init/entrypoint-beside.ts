/** The entrypoint of a study file without `--entrypoint`: a file beside it that has the name of its simulation. */
import { accessSync, constants, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';

/** Endings in the order in which they are looked for; without one: a program. */
const ENDINGS = ['.run.mjs', '.run.py', '.py', '.mjs', '.js', '.cjs', ''];

/** The absolute path; undefined where there is none. The names are that of the simulation, then that of the study file. */
export function entrypointBeside(file: string, simulation: string): string | undefined {
  if (file === '-') return undefined;
  const names = [simulation, basename(file, extname(file))].filter((it) => !/[/\\]/.test(it) && it !== '');
  return names
    .flatMap((name) => ENDINGS.map((ending) => resolve(join(dirname(file), `${name}${ending}`))))
    .find((path) => canStart(path));
}

function canStart(path: string): boolean {
  try {
    if (extname(path) === '') accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
