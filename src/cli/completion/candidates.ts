/** The candidates for the last word of a command line: commands, options, their values, studies, runs, runners and files. */
import type { Argument, Command, Option } from 'commander';
import type { Client } from '../../client/client.ts';
import { shownStatus } from '../../contract/enums.ts';
import { newestBatches } from '../../client/newest-batches.ts';
import { BATCH_ARGUMENT, JOB_ARGUMENT } from '../study/references.ts';
import { printable, shortId } from '../terminal/format.ts';

/** A word, and a description of it. */
export type Candidate = readonly [word: string, text: string];

/** Candidates, or the files or folders of the shell. */
export interface Completion {
  candidates: readonly Candidate[];
  shell?: 'files' | 'dirs';
  /** No space follows the word: a value is to be added. */
  isOpen?: boolean;
}

/** Names that the coordinator knows. A coordinator that does not answer has none. */
export interface KnownNames {
  studies(): Promise<Candidate[]>;
  runners(): Promise<Candidate[]>;
}

const NONE: Completion = { candidates: [] };
/** Studies that are offered: the latest. */
const MOST_STUDIES = 50;

/** Completes the last of `words`, which follow the name of `command`. */
export async function completeWords(
  command: Command,
  words: readonly string[],
  names: KnownNames,
): Promise<Completion> {
  const joined = joinValues(words);
  const current = joined.at(-1) ?? '';
  let [inner, index] = [command, 0];
  let expected: Option | undefined;
  for (const word of joined.slice(0, -1)) {
    const before = expected;
    expected = undefined;
    if (before !== undefined) continue;
    if (word.startsWith('-') && word !== '-') {
      const option = optionOf(inner, word);
      if (option?.required === true && !word.includes('=')) expected = option;
      continue;
    }
    const part = index === 0 ? inner.commands.find((it) => it.name() === word) : undefined;
    if (part === undefined) index++;
    else inner = part;
  }
  if (expected !== undefined) return valuesOf(expected, names);
  const [, name = '', value] = /^(--[\w-]+)=(.*)$/.exec(current) ?? [];
  if (value !== undefined) {
    const option = optionOf(inner, name);
    const values = option === undefined ? NONE : await valuesOf(option, names);
    return { ...values, candidates: values.candidates.map(([word, text]) => [`${name}=${word}`, text]) };
  }
  if (current.startsWith('-')) return { candidates: optionsOf(inner) };
  const parts: Candidate[] = index > 0 ? [] : inner.commands.map((it) => [it.name(), it.summary() || it.description()]);
  const { registeredArguments } = inner;
  const argument = registeredArguments[Math.min(index, registeredArguments.length - 1)];
  if (argument === undefined || (index >= registeredArguments.length && !argument.variadic))
    return { candidates: parts };
  const found = await placesOf(argument.description, argument.argChoices, names);
  return { ...found, candidates: [...parts, ...found.candidates] };
}

/** Bash breaks words at `=`: `--status`, `=`, `Fai` become one word again, as other shells give it. */
function joinValues(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const [at, word] of words.entries()) {
    const isValue = words[at - 1] === '=' && (words[at - 2] ?? '').startsWith('--');
    // The value alone is completed, as bash replaces it alone.
    if (word === '=' && (joined.at(-1) ?? '').startsWith('--')) {
      if (at === words.length - 1) joined.push('');
    } else if (isValue) joined.push(word);
    else joined.push(word);
  }
  return joined;
}

const optionOf = (command: Command, word: string): Option | undefined =>
  command.options.find((it) => it.long === word.replace(/=.*$/, '') || it.short === word);

const optionsOf = (command: Command): Candidate[] =>
  command.options.filter((it) => !it.hidden).map((it) => [it.long ?? it.flags, it.description]);

/** Options whose values are names or places, by their long form. */
const FOLDERS = /^--(data-dir|output-dir|output-root|working-directory|dir|state-dir)$/;
const FILES = /^--(file|from|study|config|entrypoint|tls-cert|tls-key|python-executable|token-file)$/;

async function valuesOf(option: Option, names: KnownNames): Promise<Completion> {
  const { long = '', argChoices } = option;
  if (long === '--batch' || long === '--against') return { candidates: await names.studies() };
  if (long === '--runner') return { candidates: await names.runners() };
  if (argChoices !== undefined) return { candidates: argChoices.map((it) => [it, '']) };
  if (FOLDERS.test(long)) return { candidates: [], shell: 'dirs' };
  return FILES.test(long) ? { candidates: [], shell: 'files' } : NONE;
}

/** The argument of a command: its description says whether it is a study, a run, a runner or a file. */
async function placesOf(text: string, choices: Argument['argChoices'], names: KnownNames): Promise<Completion> {
  if (choices !== undefined) return { candidates: choices.map((it) => [it, '']) };
  const isStudy = text.includes(BATCH_ARGUMENT);
  const isRun = text.includes(JOB_ARGUMENT);
  const isRunner = text.includes('runner id');
  if (isStudy || isRun || isRunner) {
    const studies = isStudy || isRun ? await names.studies() : [];
    const runs = isRun ? studies.map(([id, name]): Candidate => [`${id}/`, `a run of ${name}`]) : [];
    const candidates = [...(isStudy ? studies : []), ...runs, ...(isRunner ? await names.runners() : [])];
    return { candidates, ...(isRun ? { isOpen: true } : {}) };
  }
  if (/\bdirectory\b/.test(text)) return { candidates: [], shell: 'dirs' };
  return /\b(file|script|snapshot|manifest)\b/.test(text) ? { candidates: [], shell: 'files' } : NONE;
}

/** The names of a coordinator; a coordinator that does not answer has none. */
export function namesOf(client: Client): KnownNames {
  const quietly = async (ask: () => Promise<Candidate[]>): Promise<Candidate[]> => ask().catch(() => []);
  return {
    studies: () =>
      quietly(async () => {
        const studies = await newestBatches(client, MOST_STUDIES);
        const [last] = studies;
        const described = studies.map((it): Candidate => [shortId(it.id), `${printable(it.name, 40)}, ${it.status}`]);
        return last === undefined ? [] : [['latest', printable(last.name, 40)], ...described];
      }),
    runners: () =>
      quietly(async () =>
        (await client.runners()).runners.map((it): Candidate => [it.id, `${it.name}, ${shownStatus(it.status)}`]),
      ),
  };
}
