/** Asks before a command that cannot be undone: on a terminal; elsewhere `--yes` has to be given. */
import { createInterface } from 'node:readline/promises';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

/** `--yes`, as the arguments of `Command.option`. */
export const YES_OPTION = ['-y, --yes', 'do not ask; needed without a terminal'] as const;

/**
 * Resolves when the person agrees, or has with `--yes`. `act`: what is done, such as `delete study 01a1fd51 "recovery" with 400 runs`.
 * @throws Failure when the answer is no, or when there is no terminal to ask on
 */
export async function confirm(act: string, isAgreed: boolean | undefined): Promise<void> {
  if (isAgreed === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new Failure(EXIT.usage, `did not ${act}: there is no terminal to ask on; repeat with --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const stopped = new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''));
  });
  const question = `${act.charAt(0).toUpperCase()}${act.slice(1)}? [y/N] `;
  const answer = await Promise.race([terminal.question(question), stopped]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure(EXIT.interrupted, 'nothing was changed');
}
