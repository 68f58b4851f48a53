/** The entrypoint of a study file without `--entrypoint`: a file beside it that has the name of its simulation. */
import { accessSync, constants, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

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

/** @throws Failure that names the files that were looked for */
export function requireEntrypoint(file: string, simulation: string): string {
  const found = entrypointBeside(file, simulation);
  if (found !== undefined) return found;
  const names = ENDINGS.map((ending) => `${simulation}${ending}`).join(', ');
  throw new Failure(
    EXIT.missing,
    `no simulation was found beside ${file}, of the names ${names}: name it with --entrypoint, or write it with simbatch init`,
  );
}

function canStart(path: string): boolean {
  try {
    if (extname(path) === '') accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
