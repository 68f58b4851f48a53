/**
 * Maps a thrown error to the lines on stderr and the exit code. A stack is shown only for an internal fault when SVC_DEBUG
 * is set.
 */
import { existsSync } from 'node:fs';
import { ApiError, UnreachableError } from '../../client/client.ts';
import { SimbatchError, type ErrorCode } from '../../domain/errors.ts';
import type { Fault } from '../../contract/types.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { LOCAL_FOLDER } from '../local-folder.ts';
import { plural, printable } from './format.ts';

export interface FailureReport {
  exitCode: ExitCode;
  lines: string[];
}

/** An error for programs, as RFC 9457; `errors` holds further faults. */
export interface CommandProblem {
  type: string;
  title: string;
  detail: string;
  code: string;
  exit_code: ExitCode;
  /** The HTTP status, where the coordinator refused a request. */
  status?: number;
  errors?: readonly (Fault | { detail: string })[];
}

/** Returns the error as a problem: that of the coordinator, or one of the command, whose code is the meaning of the exit code. */
export function problemOf(error: unknown): CommandProblem {
  const { exitCode, lines } = describeFailure(error);
  const [detail = 'failed', ...more] = lines;
  if (error instanceof ApiError && error.problem !== undefined) {
    const { type, title, status, code } = error.problem;
    const errors = error.faults.length === 0 ? {} : { errors: error.faults };
    return { type, title, status, detail, code, exit_code: exitCode, ...errors };
  }
  const [name = 'failed'] = Object.entries(EXIT).find(([, value]) => value === exitCode) ?? [];
  const code = name.replaceAll(/[A-Z]/g, (it) => `-${it.toLowerCase()}`);
  const errors = more.length === 0 ? {} : { errors: more.map((line) => ({ detail: line.trim() })) };
  return {
    type: `urn:simbatch:command:${code}`,
    title: TITLES[exitCode] ?? 'The command failed',
    detail,
    code,
    exit_code: exitCode,
    ...errors,
  };
}

const TITLES: Partial<Record<ExitCode, string>> = {
  [EXIT.usage]: 'The command line is not valid',
  [EXIT.invalid]: 'The study or the request is not valid',
  [EXIT.missing]: 'There is no such thing',
  [EXIT.unavailable]: 'The coordinator cannot be reached',
  [EXIT.cannotOpen]: 'A file or a port cannot be opened',
  [EXIT.conflict]: 'The state does not allow it',
  [EXIT.forbidden]: 'The credentials do not suffice',
  [EXIT.configuration]: 'The configuration is not valid',
  [EXIT.interrupted]: 'The command was stopped',
};

const EXIT_OF_CODE: Partial<Record<ErrorCode, ExitCode>> = {
  'store-locked': EXIT.cannotOpen,
  'store-newer': EXIT.cannotOpen,
  'store-unusable': EXIT.cannotOpen,
  'store-damaged': EXIT.cannotOpen,
  'snapshot-newer': EXIT.invalid,
  'snapshot-unusable': EXIT.invalid,
  'invalid-configuration': EXIT.configuration,
  'invalid-request': EXIT.invalid,
  unavailable: EXIT.unavailable,
};

const SYSTEM_REMEDIES: Record<string, string> = {
  EADDRINUSE: 'another program listens there: choose another --port, or stop it',
  EADDRNOTAVAIL: 'this machine has no such address: choose another --host',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the device',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  ENOTFOUND: 'the name is not known',
};

const CANNOT_OPEN = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EISDIR']);

/** Returns the exit code for an answer of the coordinator with this HTTP status. */
export function exitCodeOfStatus(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.forbidden;
  if (status === 404) return EXIT.missing;
  if (status === 409) return EXIT.conflict;
  if (status === 429 || status === 502 || status === 503 || status === 504) return EXIT.unavailable;
  if (status >= 400 && status < 500) return EXIT.invalid;
  return EXIT.failed;
}

/** Returns the lines to print for `error`, and the exit code. */
export function describeFailure(error: unknown, debug = false): FailureReport {
  if (error instanceof Failure) {
    return {
      exitCode: error.exitCode,
      lines: [printable(error.message), ...error.details.map((line) => printable(line))],
    };
  }
  if (error instanceof UnreachableError) {
    // The server is reachable, and the message names the way to trust it.
    if (error.message.includes('certificate')) return { exitCode: EXIT.unavailable, lines: [printable(error.message)] };
    const data = `${LOCAL_FOLDER}/data`;
    const start = existsSync(data)
      ? `simbatch serve --data-dir ${data}\`, for the studies of this folder,`
      : 'simbatch serve`,';
    const remedy = `start it with \`${start} or name another with --endpoint or SIMBATCH_ENDPOINT`;
    return { exitCode: EXIT.unavailable, lines: [`${printable(error.message)}; ${remedy}`] };
  }
  if (error instanceof ApiError) {
    const hint = error.status === 401 ? '; set SIMBATCH_TOKEN to a token of this coordinator' : '';
    return {
      exitCode: exitCodeOfStatus(error.status),
      lines: [
        printable(hint === '' ? error.message : error.message.replace(/\.$/, '')) + hint,
        ...faultLines(error.faults),
      ],
    };
  }
  if (error instanceof SimbatchError) {
    return {
      exitCode: exitCodeOfRefusal(error),
      // A message may have several lines, one per fault, such as that of a configuration.
      lines: [...error.message.split('\n').map((line) => printable(line)), ...faultLines(error.faults)],
    };
  }
  return describeForeign(error, debug);
}

/** Finds the system's error: an unavailable address is a configuration error with the system's error as its cause. */
function exitCodeOfRefusal(error: SimbatchError): ExitCode {
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  if (error.code === 'invalid-configuration' && code !== undefined && CANNOT_OPEN.has(code)) return EXIT.cannotOpen;
  return EXIT_OF_CODE[error.code] ?? EXIT.failed;
}

function describeForeign(error: unknown, debug: boolean): FailureReport {
  if (!(error instanceof Error)) return { exitCode: EXIT.failed, lines: [printable(String(error))] };
  const { code, path, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const remedy = code === undefined ? undefined : SYSTEM_REMEDIES[code];
  if (code !== undefined && remedy !== undefined) {
    const where = address === undefined ? path : `${address}:${port ?? ''}`;
    const exitCode = CANNOT_OPEN.has(code) ? EXIT.cannotOpen : code === 'ENOENT' ? EXIT.missing : EXIT.failed;
    return { exitCode, lines: [`${printable(where ?? error.message)}: ${remedy} (${code})`] };
  }
  const stack = debug && error.stack !== undefined ? error.stack.split('\n').slice(1) : [];
  return { exitCode: EXIT.failed, lines: [printable(error.message), ...stack] };
}

function faultLines(faults: readonly Fault[] | undefined): string[] {
  if (faults === undefined || faults.length === 0) return [];
  const shown = faults.slice(0, 50).map((fault) => `  ${printable(fault.pointer) || '/'}: ${printable(fault.detail)}`);
  return faults.length > shown.length
    ? [...shown, `  and ${plural(faults.length - shown.length, 'more fault')}`]
    : shown;
}
