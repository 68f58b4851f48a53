/**
 * The lines of the audit log. Each has its number, the hash of the line before it, and last the hash of its own text, so that a line that is
 * changed, missing or in another place is found. Pure.
 */
import { createHash } from 'node:crypto';

/** A line without its place in the chain; members that do not apply are absent. */
export interface AuditEntry {
  /**
   * `begun`: an action is about to be done; `ended`: its outcome; `refused`: requests without the right to an action, counted;
   * `torn`: a crash left a part of a line, which was never acknowledged and is removed.
   */
  event: 'begun' | 'ended' | 'refused' | 'torn';
  /** The id of the request, the same in both lines of an action. */
  request?: string | undefined;
  /** The name of the client, and the id of its token. */
  actor?: string | undefined;
  token?: string | undefined;
  operation?: string | undefined;
  /** The study, run or runner of the action. */
  on?: string | undefined;
  /** The address of the peer; with a proxy before the coordinator that of the proxy. */
  from?: string | undefined;
  /** `done`, or the code of the problem that the client got. */
  outcome?: string | undefined;
  /** The study that the action made. */
  made?: string | undefined;
  /** Of refusals: status, reason, and how many there were. */
  status?: number | undefined;
  why?: string | undefined;
  count?: number | undefined;
  bytes?: number | undefined;
}

/** The place of a line in the chain. */
export interface Link {
  n: number;
  hash: string;
}

/** The place before the first line. */
export const START: Link = { n: 0, hash: '0'.repeat(64) };

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the line after `before`, without its line feed, and its place. */
export function chained(before: Link, at: string, entry: AuditEntry): { line: string; link: Link } {
  const n = before.n + 1;
  const body = JSON.stringify({ n, at, ...entry, prev: before.hash });
  const hash = hashOf(body);
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, link: { n, hash } };
}

const SEALED = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/s;

/** Returns the place of a line and that of the line before it, or why it is none. */
export function readLine(line: string): { link: Link; prev: string } | string {
  const [, body, hash = ''] = SEALED.exec(line) ?? [];
  if (body === undefined) return 'is not a whole line of an audit log';
  if (hashOf(`${body}}`) !== hash) return 'was changed: its hash is not that of its text';
  const { n, prev } = JSON.parse(`${body}}`) as { n: number; prev: string };
  return { link: { n, hash }, prev };
}

/** The head: the place of the last line that is on disk, in a file of its own, so that lines missing at the end are found. All heads have one length. */
export const headText = ({ n, hash }: Link): string => `${String(n).padStart(16, '0')} ${hash}\n`;

export function readHead(text: string): Link | undefined {
  const [, n = '', hash = ''] = /^(\d{16}) ([0-9a-f]{64})\n$/.exec(text) ?? [];
  return hash === '' ? undefined : { n: Number(n), hash };
}

export const AUDIT_FILE = 'audit.ndjson';
export const HEAD_FILE = 'audit.head';

/** The name of a file that is full, by the number of its last line; the names are in the order of the lines. */
export const fullName = (n: number): string => `audit-${String(n).padStart(16, '0')}.ndjson`;

/** Returns the files of an audit log among those of a directory, in the order of their lines. */
export function auditFiles(names: readonly string[]): string[] {
  const full = names.filter((it) => /^audit-\d{16}\.ndjson$/.test(it)).sort();
  return names.includes(AUDIT_FILE) ? [...full, AUDIT_FILE] : full;
}
