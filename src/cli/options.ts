/** What the commands have in common: how options are read and checked, and the connection to the coordinator. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Client } from '../client/client.ts';

export const DEFAULT_ENDPOINT = 'http://127.0.0.1:7070';

/** The options of every command that asks the coordinator. */
export interface ClientFlags {
  endpoint?: string;
  output: string;
}

/** A command that talks to the coordinator; `formats` are the values of `--output`, the first of them the default. */
export function clientCommand(name: string, summary: string, formats: readonly string[] = ['table', 'json']): Command {
  const output = new Option('-o, --output <format>', 'how to print').choices(formats).default(formats[0]);
  return new Command(name)
    .description(summary)
    .addOption(output)
    .addOption(
      new Option('--endpoint <url>', `the coordinator's address (default: "${DEFAULT_ENDPOINT}")`).env('SVC_ENDPOINT'),
    );
}

/** Where the coordinator keeps its data; the same for all commands that look there themselves. */
export const dataDirOption = (): Option =>
  new Option('--data-dir <dir>', 'where studies, jobs and results are kept').env('SVC_DATA_DIR').default('./data');

/** The client, with the token of the environment: a token on the command line would be seen by every user of the machine. */
export async function connect(flags: { endpoint?: string }): Promise<Client> {
  const { Client } = await import('../client/client.ts');
  const endpoint = flags.endpoint === undefined || flags.endpoint === '' ? DEFAULT_ENDPOINT : flags.endpoint;
  const token = process.env['SVC_TOKEN'];
  return new Client({ endpoint, ...(token === undefined ? {} : { token }) });
}

/** A reader of whole numbers from `min` to `max`, for `Option.argParser`. */
export function integerBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** A reader of one or several of `allowed`, by repetition or comma. */
export function anyOf<T extends string>(allowed: readonly T[]): (text: string, before: T[] | undefined) => T[] {
  return (text, before = []) => {
    const values = text.split(',').map((part) => {
      const found = allowed.find((each) => each.toLowerCase() === part.trim().toLowerCase());
      if (found === undefined) throw new InvalidArgumentError(`"${part.trim()}" is none of ${allowed.join(', ')}.`);
      return found;
    });
    return [...before, ...values];
  };
}

/** `--status` of a list: one or several of `allowed`, which a shell can complete. */
export const statusOption = (allowed: readonly string[]): Option =>
  new Option('--status <statuses>', 'only these, by comma or repetition').choices(allowed).argParser(anyOf(allowed));

/** A reader of texts, by repetition or comma. */
export function texts(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(',').map((part) => part.trim())].filter((part) => part !== '');
}

export const MAX_INT32 = 2_147_483_647;
