/** The shape of the commands that print an answer about a study: sentence and table, or the same JSON as HTTP. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Client } from '../../../client/client.ts';
import type { Uuid } from '../../../contract/types.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { writeJson, writeLine } from '../../terminal/output.ts';

export interface AnswerFlags extends ClientFlags {
  confidence?: number;
}

/** Returns a command with a study as its first argument. */
export const answerCommand = (name: string, summary: string): Command =>
  clientCommand(name, summary)
    .argument('<batch>', BATCH_ARGUMENT)
    .addOption(
      new Option('--confidence <share>', 'of intervals and tests, between 0 and 1 (default: 0.95)').argParser(share),
    );

/** Parses a number between 0 and 1, neither included. */
export function share(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value < 1)) {
    throw new InvalidArgumentError('It must be a number between 0 and 1, such as 0.9.');
  }
  return value;
}

/** Asks a question about the study and prints the answer, as lines or as JSON. Returns the answer. */
export async function printAnswer<T>(
  reference: string,
  flags: ClientFlags,
  ask: (client: Client, batchId: Uuid) => Promise<T>,
  lines: (answer: T) => readonly string[],
): Promise<T> {
  const client = await connect(flags);
  const answer = await ask(client, await resolveBatch(client, reference));
  if (flags.output === 'json') await writeJson(answer);
  else for (const line of lines(answer)) await writeLine(line);
  return answer;
}

/** The options that are given. */
export const given = <T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
