/** `simbatch completion`: prints the completion script of a shell; its hidden counterpart `complete` answers at each tab. */
import { Argument, Command } from 'commander';
import { completionScript, SHELLS, type Shell } from '../completion/scripts.ts';
import type { Candidate } from '../completion/candidates.ts';
import { write } from '../terminal/output.ts';

/** A shell waits at each tab. */
const PATIENCE_MS = 1_000;

export function completionCommand(): Command {
  return new Command('completion')
    .description('print the completion script of a shell; read by the shell at its start, it completes at each tab')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell: Shell) => write(completionScript(shell, [process.execPath, process.argv[1] ?? 'simbatch'])));
}

/** The command of a line, loaded, and all commands by name with their summaries. */
export interface Commands {
  names: readonly Candidate[];
  load: (name: string) => Promise<Command | undefined>;
}

/** Answers `complete -- WORD...` with a line `word TAB description` for each candidate. */
export function completeCommand({ names, load }: Commands): Command {
  return new Command('complete').argument('[words...]').action(async (words: string[]) => {
    const [called = '', ...rest] = words;
    if (rest.length === 0) {
      const options: Candidate[] = [
        ['--help', 'all commands'],
        ['--version', 'the version'],
      ];
      return write(linesOf(called.startsWith('-') ? options : names, called));
    }
    const command = await load(called);
    if (command === undefined) return undefined;
    const [{ completeWords, namesOf }, { clientOf }] = await Promise.all([
      import('../completion/candidates.ts'),
      import('../../client/http-fetch.ts'),
    ]);
    const { DEFAULT_ENDPOINT } = await import('../options.ts');
    const token = process.env['SVC_TOKEN'];
    const endpoint = endpointOf(rest) ?? process.env['SVC_ENDPOINT'] ?? DEFAULT_ENDPOINT;
    const client = clientOf({ endpoint, timeoutMs: PATIENCE_MS, ...(token === undefined ? {} : { token }) });
    const { candidates, shell, isOpen } = await completeWords(command, rest, namesOf(client));
    await write(linesOf(candidates, rest.at(-1) ?? ''));
    if (isOpen === true) await write(':nospace\n');
    if (shell !== undefined) await write(`:${shell}\n`);
    return undefined;
  });
}

const endpointOf = (words: readonly string[]): string | undefined => {
  const at = words.indexOf('--endpoint');
  return at === -1 || at === words.length - 2 ? undefined : words[at + 1];
};

/** Bash gives `=` where a value follows; every value matches it. */
function linesOf(candidates: readonly Candidate[], typed: string): string {
  const begin = typed === '=' ? '' : typed;
  return candidates
    .filter(([word]) => word.startsWith(begin))
    .map(([word, text]) => `${word}\t${text.replaceAll(/\s+/g, ' ')}\n`)
    .join('');
}
