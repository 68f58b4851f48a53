/** Options that commands share, their parsers, and the connection to the coordinator. */
import { InvalidArgumentError, Option } from 'commander';
import type { Client } from '../client/client.ts';
import { parseLabel } from '../domain/study/labels.ts';
import { OutputCommand } from './output-command.ts';

export const DEFAULT_ENDPOINT = 'http://127.0.0.1:7070';

/** Options of every command that calls the coordinator. */
export interface ClientFlags {
  endpoint?: string;
  format: string;
}

/** Returns a command that calls the coordinator; `formats` are the values of `--format`, the first one is the default. */
export const clientCommand = (
  name: string,
  summary: string,
  formats: readonly string[] = ['table', 'json'],
): OutputCommand => new OutputCommand(name, formats).description(summary).addOption(endpointOption());

export const endpointOption = (): Option =>
  new Option(
    '--endpoint <url>',
    `the coordinator's address (default: that of ./.simbatch, else "${DEFAULT_ENDPOINT}")`,
  ).env('SVC_ENDPOINT');

/** The data directory, for all commands that read it directly. */
export const dataDirOption = (): Option =>
  new Option('--data-dir <dir>', 'where studies, runs and results are kept').env('SVC_DATA_DIR').default('./data');

/**
 * Returns the client of the coordinator that the user names, else of that of `./.simbatch` where it runs, else of the default address.
 * The token comes from the environment, a file that it names, systemd's credentials, or the folder: every user of the machine can see a
 * command line.
 */
export async function connect(flags: { endpoint?: string }): Promise<Client> {
  const { clientOf } = await import('../client/http-fetch.ts');
  const { localCoordinator } = await import('./local-folder.ts');
  const here = flags.endpoint === undefined || flags.endpoint === '' ? localCoordinator() : undefined;
  const endpoint = here?.url ?? (flags.endpoint || DEFAULT_ENDPOINT);
  // A folder's file names an address on this machine: the user's own credential is not sent there.
  const token = here === undefined ? await ownToken() : here.token;
  return clientOf({ endpoint, ...(token === undefined ? {} : { token }) });
}

/** `SIMBATCH_TOKEN`, else the content of the file that `SIMBATCH_TOKEN_FILE` names, else systemd's credential `svc_token`. @throws Failure */
async function ownToken(): Promise<string | undefined> {
  const { env } = process;
  const { SVC_TOKEN: token, SVC_TOKEN_FILE: file, CREDENTIALS_DIRECTORY: directory } = env;
  if (token !== undefined && token !== '') return token;
  if ((file === undefined || file === '') && directory === undefined) return undefined;
  const [{ readCredential }, { Failure }, { EXIT }] = await Promise.all([
    import('../runner/config/credential.ts'),
    import('./failure.ts'),
    import('./exit-codes.ts'),
  ]);
  const found = readCredential({ tokenFile: file === '' ? undefined : file, tokenFd: undefined, env });
  const [fault] = found.faults;
  if (fault === undefined) return found.token;
  throw new Failure(EXIT.configuration, fault.replace(/^token_file/, 'SIMBATCH_TOKEN_FILE'));
}

/** Returns a parser of integers from `min` to `max`, for `Option.argParser`. */
export function integerBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Returns a parser of one or more of `allowed`, by repetition or comma. */
export function anyOf<T extends string>(
  allowed: readonly T[],
  shown: (value: T) => string = (value) => value,
): (text: string, before: T[] | undefined) => T[] {
  return (text, before = []) => {
    const values = text.split(',').map((part) => {
      const given = part.trim().toLowerCase();
      const found = allowed.find((each) => each.toLowerCase() === given || shown(each).toLowerCase() === given);
      if (found === undefined)
        throw new InvalidArgumentError(`"${part.trim()}" is not one of ${allowed.map(shown).join(', ')}.`);
      return found;
    });
    return [...before, ...values];
  };
}

/** Returns `--status` of a list: one or more of `allowed`, which a shell can complete; each also under the name that people read. */
export const statusOption = (allowed: readonly string[], shown?: (value: string) => string): Option =>
  new Option('--status <statuses>', 'only these, by comma or repetition')
    .choices(shown === undefined ? allowed : allowed.map(shown))
    .argParser(anyOf(allowed, shown));

/** Parses one label, `key=value`; further ones by repetition. */
export function labelTexts(text: string, before: string[] = []): string[] {
  const label = parseLabel(text);
  if (typeof label === 'string') throw new InvalidArgumentError(`It ${label}.`);
  return [...before, text];
}

/** Parses texts, by repetition or comma. */
export function texts(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(',').map((part) => part.trim())].filter((part) => part !== '');
}
