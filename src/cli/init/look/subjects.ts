/** Finds out what the words after `simbatch init` are: a script, an input file, a command line, an FMU. */
import { existsSync, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { folderOfCommand, hasPlaceholders, helpSubject, placeholderSubject, wordsOf } from './command-line.ts';
import { fmuSubject } from './fmu.ts';
import { inputFileSubject, isInputFile } from './input-file.ts';
import { nodeSubject } from './node-script.ts';
import { pythonSubject } from './python-script.ts';
import type { Subject } from '../subject.ts';

export interface LookOptions {
  pythonExecutable?: string | undefined;
  mayStart: boolean;
  isInPlace: boolean;
}

/** @throws Failure where the words name nothing that is understood */
export async function subjectOf(given: readonly string[], options: LookOptions): Promise<Subject> {
  const { isInPlace } = options;
  const quoted = given.length === 1 && /\s/.test(given[0] ?? '') && !existsSync(given[0] ?? '');
  const words = quoted ? wordsOf(given[0] ?? '') : [...given];
  const [first = ''] = words;
  if (isInputFile(first)) return inputFileSubject(regular(first), words.slice(1), isInPlace);
  const command = { words, folder: folderOfCommand(words), isInPlace };
  if (hasPlaceholders(words)) return placeholderSubject(inFolder(command));
  if (words.length > 1) {
    const found = options.mayStart ? await helpSubject(inFolder(command)) : undefined;
    if (found !== undefined) return found;
    throw new Failure(
      EXIT.usage,
      `no input was found in the command: mark each one, with its value: ${words[0]} --speed {speed=30}`,
    );
  }
  const [, file = first, functionName] = /^(.+\.py):(\w+)$/i.exec(first) ?? [];
  regular(file);
  const extension = extname(file).toLowerCase();
  if (extension === '.py')
    return pythonSubject(file, { ...options, functionName, python: await pythonOf(options.pythonExecutable) });
  if (extension === '.fmu') return fmuSubject(file, await pythonOf(options.pythonExecutable));
  if (['.mjs', '.js', '.cjs'].includes(extension)) return nodeSubject(file, options);
  if (/dockerfile/i.test(file))
    throw new Failure(
      EXIT.usage,
      `${file} describes an image: build it, and give the command that runs it: simbatch init -- podman run --rm IMAGE --speed {speed=30}; docs/runner.md has studies that name an image`,
    );
  return programSubject(file, options);
}

/** A program by itself: its help text is all that there is to read. */
async function programSubject(file: string, options: LookOptions): Promise<Subject> {
  const isExecutable = (statSync(file).mode & 0o111) !== 0;
  const words = [file.includes('/') ? file : `./${file}`];
  const command = inFolder({ words, folder: folderOfCommand(words), isInPlace: options.isInPlace });
  const found = isExecutable && options.mayStart ? await helpSubject(command) : undefined;
  if (found !== undefined) return found;
  const why = isExecutable
    ? 'its --help shows no option with a number as its default'
    : 'it is not a program, and no file of a known format';
  throw new Failure(
    EXIT.usage,
    `${file}: ${why}; write its command with a placeholder for each input: simbatch init -- ${words[0]} --speed {speed=30}`,
  );
}

/** Words that name files are relative to the folder of the adapter. */
function inFolder<T extends { words: readonly string[]; folder: string }>(command: T): T {
  if (command.folder === '.') return command;
  const prefix = `${command.folder}/`;
  return {
    ...command,
    words: command.words.map((word) => (word.startsWith(prefix) ? `./${word.slice(prefix.length)}` : word)),
  };
}

/** @throws Failure for what is not a file: a pipe would be waited for */
function regular(file: string): string {
  if (!existsSync(file))
    throw new Failure(EXIT.missing, `no file ${file}: name a script, an input file, a program or an FMU`);
  if (!statSync(resolve(file)).isFile()) throw new Failure(EXIT.usage, `${file} is not a file`);
  return file;
}

async function pythonOf(configured: string | undefined): Promise<string> {
  const { findPython } = await import('../../../runner/launch/engine.ts');
  const python = await findPython(configured, process.env['PATH'] ?? '');
  if (python === undefined)
    throw new Failure(EXIT.missing, 'no Python was found to read the file: name one with --python-executable');
  // The name, where it is found by it: the adapter may go to another machine.
  return configured ?? /python\d*$/.exec(python.executable)?.[0] ?? python.executable;
}
