/** Paths of files of runs: relative to the output directory of an attempt, with `/` between folders. */
import { LIMITS } from '../../contract/limits.ts';
import type { FileKind, StoredResult } from '../../contract/types.ts';

/** The archive into which a runner may put the other files of an ended attempt. */
export const ARCHIVE = 'files.zip';

/** Why a text is not such a path, to follow the path in a message; undefined for a valid path. */
export function filePathFault(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.length > LIMITS.pathLength) return `is longer than ${String(LIMITS.pathLength)} characters`;
  if (path.includes('\0')) return 'has a zero byte';
  // Halves become the same replacement character in UTF-8, so that two files would have one name.
  if (!path.isWellFormed()) return 'has half of a surrogate pair';
  const segments = path.split('/');
  if (segments.includes('')) return 'begins or ends with / or has //';
  if (segments.some((it) => it === '.' || it === '..')) return 'has . or .. as a folder';
  return undefined;
}

const KINDS: Readonly<Record<string, FileKind>> = {
  'stdout.log': 'stdout',
  'stderr.log': 'stderr',
  'metadata.json': 'metadata',
};

/** Where the file of this path comes from. */
export function fileKindOf(path: string): FileKind {
  return KINDS[path] ?? (/^telemetry(?:-\d+)?\.parquet$/.test(path) ? 'telemetry' : 'artifact');
}

/** The path in the output directory of an attempt that an address has; undefined for another address. */
export function pathInAttempt(address: string): string | undefined {
  // A backslash separates folders on Windows alone; elsewhere it belongs to a name.
  const plain = /^(?:\/|s3:)/.test(address) ? address : address.replaceAll('\\', '/');
  // A folder above that of the study may be named like that of an attempt.
  const found = /\/[0-9a-f-]{36}\/\d+\/attempt-\d+\/(.+)$/s.exec(plain) ?? /\/attempt-\d+\/(.+)$/s.exec(plain);
  return found?.[1];
}

/** The addresses of all files of a run, its telemetry first. */
export const addressesOf = ({
  telemetry_data: telemetry,
  output_files: files,
}: Pick<StoredResult, 'telemetry_data' | 'output_files'>): string[] => [
  ...new Set([...(telemetry == null ? [] : [telemetry]), ...files]),
];

/** The media types in which a file of a run is sent; a page that opens it must never execute it. */
const MEDIA: Readonly<Record<string, string>> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
  log: 'text/plain; charset=utf-8',
  md: 'text/plain; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  png: 'image/png',
  tsv: 'text/tab-separated-values; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** The media type of a file, by the end of its name. */
export const mediaTypeOf = (path: string): string =>
  MEDIA[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream';
