/** A command line as a subject: placeholders `{name=30}` in its words, or the options that its help text describes. */
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { programAdapter } from '../adapter-text.ts';
import { lookAt } from './started.ts';
import { plainName, type FoundInput, type Subject } from '../subject.ts';

const PLACEHOLDER = /\{([A-Za-z_]\w*)(?:=([^{}]*))?\}/g;

/** A longer text is not a help text. */
const LONGEST_HELP = 64 * 1024;

export const hasPlaceholders = (words: readonly string[]): boolean =>
  words.some((word) => [...word.matchAll(PLACEHOLDER)].some(([, , value]) => value !== undefined));

/** The words of one quoted text; quotes in it keep blanks. */
export const wordsOf = (text: string): string[] =>
  [...text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));

/** Words that name files of the folder, which a run finds from its own folder too. */
export const hereWords = (words: readonly string[], folder: string): Set<string> =>
  new Set(words.filter((word) => !isAbsolute(word) && word !== '{file}' && existsSync(join(folder, word))));

export const shownCommand = (words: readonly string[], file = '{file}'): string =>
  words.map((word) => word.replaceAll('{file}', file)).join(' ');

interface Command {
  words: readonly string[];
  /** The folder of the adapter. */
  folder: string;
  isInPlace: boolean;
}

/** A command with a placeholder for each input: `./sim --speed {speed=30}`. */
export function placeholderSubject({ words, folder, isInPlace }: Command): Subject {
  const given = words.flatMap((word) => [...word.matchAll(PLACEHOLDER)]);
  const values: Record<string, string> = {};
  for (const [all, name = '', text] of given) {
    if (text === undefined && !(name in values))
      throw new Failure(
        EXIT.usage,
        `${all} has no value: write {${name}=30}, the value of a run that does not vary it`,
      );
    if (text === undefined) continue;
    if (text.trim() === '' || !Number.isFinite(Number(text)))
      throw new Failure(EXIT.usage, `${all} has no number: write {${name}=30}`);
    values[name] = text;
  }
  const inputs = Object.entries(values).map(([name, text]) => ({ name, value: Number(text), whole: false }));
  const command = words.map((word) => word.replaceAll(PLACEHOLDER, '{$1}'));
  return commandSubject(
    { words: command, folder, isInPlace },
    { from: 'the placeholders of the command', inputs, values },
  );
}

/** A program whose help text has options with numbers as defaults. */
export async function helpSubject({ words, folder, isInPlace }: Command): Promise<Subject | undefined> {
  const started = words.map((word) => (hereWords([word], folder).has(word) ? resolve(folder, word) : word));
  const { printed, isLate } = await lookAt(`${words.join(' ')} --help`, [...started, '--help']);
  if (isLate) return undefined;
  const options = optionsOfHelp(printed);
  if (options.length === 0) return undefined;
  const inputs = options.map(({ name, value }) => ({ name, value, whole: false }));
  return commandSubject(
    { words, folder, isInPlace },
    {
      from: `the options in the text of --help`,
      inputs,
      values: {},
      options: Object.fromEntries(options.map(({ name, flag }) => [name, flag])),
    },
  );
}

/** `--speed <m/s>  initial speed (default: 30)`, also with the default in a further line. */
export function optionsOfHelp(text: string): { name: string; flag: string; value: number }[] {
  const entries = text.slice(0, LONGEST_HELP).split(/\n(?=[ \t]*-{1,2}\w)/);
  return entries.flatMap((entry) => {
    const flag = /(?:^|[\s,])(--[A-Za-z][\w-]*)/.exec(entry)?.[1];
    const value = /default(?:s to| is)?[\s:=]*['"]?([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])/i.exec(
      entry,
    )?.[1];
    if (flag === undefined || value === undefined) return [];
    return [{ name: flag.slice(2).replaceAll('-', '_'), flag, value: Number(value) }];
  });
}

interface Found {
  from: string;
  inputs: readonly FoundInput[];
  values: Readonly<Record<string, string>>;
  options?: Readonly<Record<string, string>>;
  environment?: Readonly<Record<string, string>>;
  notes?: readonly string[];
}

/** The subject of a command whose inputs are placeholders and options. */
export function commandSubject({ words, folder, isInPlace }: Command, found: Found): Subject {
  // The name of the study is that of the script, else of the program.
  const named = words.find((word) => /\.(py|mjs|cjs|js|m|jl|r)$/i.test(word)) ?? words[0] ?? 'study';
  const stem = plainName(basename(named).replace(/\.\w+$/, ''));
  return {
    name: stem,
    folder,
    from: found.from,
    inputs: found.inputs,
    adapter: {
      name: `${stem}.run.mjs`,
      text: (given) =>
        programAdapter({
          subject: words.join(' '),
          command: words,
          here: hereWords(words, folder),
          options: found.options ?? {},
          inputs: found.inputs.map((it) => it.name),
          whole: found.inputs.filter((it) => it.whole).map((it) => it.name),
          values: {
            ...found.values,
            ...Object.fromEntries([...given].map(([name, value]) => [name, String(value)])),
          },
          ...(found.environment === undefined ? {} : { environment: found.environment }),
          folder: isInPlace ? 'here' : 'run',
        }),
    },
    notes: found.notes ?? [],
  };
}

/** The folder of the adapter of a command: that of its program or script where it lies in or below the working directory. */
export function folderOfCommand(words: readonly string[]): string {
  const file = words.find((word) => !isAbsolute(word) && word.includes('.') && existsSync(word));
  const folder = file === undefined ? '.' : dirname(file);
  return relative('.', folder).startsWith('..') ? '.' : folder;
}
