/** Verifies a manifest from its lines alone, and names the first line that does not fit. */
import { isJsonObject } from '../../base/json/json-object.ts';
import {
  RunCounter,
  HASH_SUFFIX,
  MANIFEST_FORMAT,
  type ManifestHeader,
  type ManifestRound,
  type ManifestRun,
  chainHash,
} from './lines.ts';
import { RoundLines } from './rounds.ts';
import { isAfter } from './write.ts';

export type Verification =
  | {
      valid: true;
      batch_id: string;
      runs: number;
      /** The last hash: two manifests with the same fingerprint hold the same lines. */
      fingerprint: string;
    }
  | {
      valid: false;
      /** Number of the line, from 1; where a line is missing, the number after the last one. */
      line: number;
      reason: string;
    };

/** The content of the lines read so far. */
interface Progress {
  lines: number;
  before: string;
  header: ManifestHeader | undefined;
  lastRun: ManifestRun | undefined;
  runs: number;
  counts: RunCounter;
  rounds: RoundLines | undefined;
  /** The closing line's hash, once it was read. */
  fingerprint: string | undefined;
}

/**
 * Reads a manifest line by line (without line feeds; memory does not grow with the number of runs) up to the first line that does
 * not fit: one whose hash is not that of the line before and itself, a run out of order, rows without the digest of their round, counts
 * other than the header's, no closing line, or anything after it. A changed line fails at itself, a removed or added one at the line after it. A manifest rewritten
 * as a whole has another fingerprint: compare it with the coordinator's.
 */
export async function verifyManifest(lines: AsyncIterable<string> | Iterable<string>): Promise<Verification> {
  const progress: Progress = {
    lines: 0,
    before: '',
    header: undefined,
    lastRun: undefined,
    runs: 0,
    counts: new RunCounter(),
    rounds: undefined,
    fingerprint: undefined,
  };
  for await (const line of lines) {
    progress.lines++;
    const fault = readLine(line, progress);
    if (fault !== undefined) return { valid: false, line: progress.lines, reason: fault };
    progress.before = line;
  }
  const { header, runs, fingerprint } = progress;
  if (header === undefined) return { valid: false, line: 1, reason: 'the manifest is empty' };
  if (fingerprint === undefined) {
    return { valid: false, line: progress.lines + 1, reason: 'the closing line is missing: the manifest is cut off' };
  }
  return { valid: true, batch_id: header.batch_id, runs, fingerprint };
}

/** The fault of a line; undefined when it fits, and `progress` then includes it. */
function readLine(line: string, progress: Progress): string | undefined {
  if (progress.fingerprint !== undefined) return 'there is a line after the closing line';
  const hash = HASH_SUFFIX.exec(line)?.[1];
  const value = parsed(line);
  if (value === undefined || hash === undefined) return 'the line is not a JSON object that ends with its hash';
  if (progress.header === undefined && value.format !== MANIFEST_FORMAT) {
    return `the header names the format ${JSON.stringify(value.format)}, this version reads "${MANIFEST_FORMAT}"`;
  }
  if (chainHash(progress.before, line.replace(HASH_SUFFIX, '}')) !== hash) {
    return 'the hash is not that of the line before and this one: this line was changed, or a line before it was removed or added';
  }
  if (progress.header === undefined) return takeHeader(value, progress);
  return value.closing === true ? takeClosing(value, hash, progress) : takeRun(value, progress);
}

function takeHeader(value: Record<string, unknown>, progress: Progress): string | undefined {
  if (typeof value.batch_id !== 'string' || typeof value.counts !== 'object' || value.counts === null) {
    return 'the header has no batch_id or no counts';
  }
  progress.header = value as unknown as ManifestHeader;
  progress.rounds = new RoundLines(progress.header);
  return undefined;
}

function takeRun(value: Record<string, unknown>, progress: Progress): string | undefined {
  if (value.round !== undefined) return takeRound(value, progress);
  if (!Number.isInteger(value.run_id) || typeof value.class !== 'string') return 'the line has no run_id or no class';
  const run = value as unknown as ManifestRun;
  const { lastRun } = progress;
  if (lastRun !== undefined && !isAfter(run, lastRun)) {
    return `run ${run.run_id} follows run ${lastRun.run_id}: the runs are not in run order`;
  }
  const fault = progress.rounds?.run(run);
  if (fault !== undefined) return fault;
  progress.lastRun = run;
  progress.runs++;
  progress.counts.add(run);
  return undefined;
}

function takeRound(value: Record<string, unknown>, progress: Progress): string | undefined {
  const { round, first_run_id: first, count, digest } = value;
  const isWhole = [round, first, count].every((it) => Number.isInteger(it)) && typeof digest === 'string';
  if (!isWhole) return 'the line of a round has no first_run_id, count or digest';
  return progress.rounds?.round(value as unknown as ManifestRound);
}

function takeClosing(value: Record<string, unknown>, hash: string, progress: Progress): string | undefined {
  if (value.runs !== progress.runs)
    return `the closing line says ${String(value.runs)} runs, there are ${progress.runs}`;
  const fault = progress.rounds?.close();
  if (fault !== undefined) return fault;
  const difference = progress.counts.difference(progress.header ?? { counts: {} });
  if (difference === undefined) progress.fingerprint = hash;
  return difference;
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
