/**
 * Where the runner's credential comes from: a file, a file descriptor, the environment, or systemd's credentials. Removes
 * it from the process's environment, which every process of the same user can read in `/proc/<pid>/environ`.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { oneLine } from '../system-error.ts';

export const TOKEN_VARIABLE = 'SVC_TOKEN';
/** The name of the credential in systemd's `LoadCredential=`. */
export const SYSTEMD_CREDENTIAL = 'svc_token';

const MOST_BYTES = 4096;
/** Permissions of users other than the owner. */
const OTHERS = 0o077;

export interface CredentialSources {
  tokenFile: string | undefined;
  /** A descriptor that the parent process opened; read to its end and closed. */
  tokenFd: number | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

export interface Credential {
  token: string | undefined;
  faults: string[];
  notes: string[];
}

/** The first source that is given, in this order: file, descriptor, `SVC_TOKEN`, systemd's credential `svc_token`. */
export function readCredential({ tokenFile, tokenFd, env }: CredentialSources): Credential {
  const variable = env[TOKEN_VARIABLE];
  const given = [
    ...(tokenFile === undefined ? [] : ['token_file']),
    ...(tokenFd === undefined ? [] : ['token_fd']),
    ...(variable === undefined || variable === '' ? [] : [TOKEN_VARIABLE]),
  ];
  const notes = given.length > 1 ? [`${given.join(' and ')} are both given; ${given[0] ?? ''} is used`] : [];
  if (tokenFile !== undefined) return withNotes(notes, fromFile('token_file', tokenFile));
  if (tokenFd !== undefined) return withNotes(notes, fromDescriptor(tokenFd));
  if (variable !== undefined && variable !== '') return { token: variable, faults: [], notes };
  const directory = env['CREDENTIALS_DIRECTORY'];
  if (directory === undefined || directory === '') return { token: undefined, faults: [], notes };
  const found = fromFile(SYSTEMD_CREDENTIAL, join(directory, SYSTEMD_CREDENTIAL), true);
  return withNotes(notes, found);
}

function withNotes(notes: readonly string[], credential: Credential): Credential {
  return { ...credential, notes: [...notes, ...credential.notes] };
}

function fromFile(name: string, path: string, isOptional = false): Credential {
  const notes: string[] = [];
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if (isOptional) return { token: undefined, faults: [], notes };
    return fault(`${name} ${path} cannot be read: ${oneLine(error)}; name a file that holds the token alone`);
  }
  const mode = fstatSync(fd).mode & OTHERS;
  if (mode !== 0) notes.push(`${name} ${path} can be read by other users; run: chmod 600 ${path}`);
  return withNotes(notes, fromOpen(`${name} ${path}`, fd));
}

function fromDescriptor(fd: number): Credential {
  return fromOpen(`token_fd ${String(fd)}`, fd);
}

function fromOpen(name: string, fd: number): Credential {
  try {
    const buffer = Buffer.alloc(MOST_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = readSync(fd, buffer, length, buffer.length - length, null);
    if (length > MOST_BYTES)
      return fault(`${name} is longer than ${String(MOST_BYTES)} bytes; it must hold the token alone`);
    const token = buffer.toString('utf8', 0, length).trim();
    if (token === '') return fault(`${name} is empty; it must hold the token`);
    if (/\s/.test(token)) return fault(`${name} has more than one word; it must hold the token alone`);
    return { token, faults: [], notes: [] };
  } catch (error) {
    return fault(`${name} cannot be read: ${oneLine(error)}; give a descriptor that is open for reading`);
  } finally {
    closeQuietly(fd);
  }
}

function fault(message: string): Credential {
  return { token: undefined, faults: [message], notes: [] };
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // The descriptor was not open.
  }
}

/**
 * Overwrites the value of `variable` in the environment block that this process was started with, so that
 * `/proc/<pid>/environ` no longer shows it, and checks that it is gone. Linux only: the block's address is in
 * `/proc/self/stat`. Source: proc(5), fields `env_start` and `env_end`.
 * @returns why the value may still be readable; undefined when it is not.
 */
export function hideVariable(variable: string): string | undefined {
  try {
    const before = readFileSync('/proc/self/environ');
    const value = valueOf(before, variable);
    if (value === undefined) return undefined;
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // The command's name is in parentheses and may hold anything; `env_start` is the 50th field, the 48th after it.
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[47]);
    if (!Number.isSafeInteger(start) || start <= 0) return 'the address of the environment is not known';
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      writeSync(memory, Buffer.alloc(value.length), 0, value.length, start + value.start);
    } finally {
      closeSync(memory);
    }
    const after = readFileSync('/proc/self/environ');
    return after.includes(before.subarray(value.start, value.start + value.length))
      ? 'it could not be overwritten'
      : undefined;
  } catch (error) {
    return oneLine(error);
  }
}

function valueOf(environ: Buffer, variable: string): { start: number; length: number } | undefined {
  const name = Buffer.from(`${variable}=`);
  for (let at = environ.indexOf(name); at >= 0; at = environ.indexOf(name, at + 1)) {
    if (at > 0 && environ[at - 1] !== 0) continue;
    const start = at + name.length;
    const end = environ.indexOf(0, start);
    const length = (end < 0 ? environ.length : end) - start;
    return length === 0 ? undefined : { start, length };
  }
  return undefined;
}
