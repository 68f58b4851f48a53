/** The files of an ended attempt as one archive, where its runner makes those. */
import { join, relative, sep } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { ARCHIVE } from '../../../domain/files/file-path.ts';
import type { Waits } from '../../waits.ts';
import type { ExecutionPlan, ExecutionSite } from '../execution-site.ts';

export interface ArchivedOf extends Pick<ExecutionSite, 'archiver'> {
  leaving?: ExecutionSite['leaving'] | undefined;
  directory: string;
  /** Absolute paths. */
  files: readonly string[];
  /** The telemetry file, which its readers open by its path. */
  telemetry: string | null | undefined;
  /** The time that the archive may take, in ms. */
  limitMs: number;
  /** Something may still write to the files. */
  isOpen: boolean;
}

/** Absolute paths, sorted; notes for the reader of the result. */
interface Archived {
  files: string[];
  notes: readonly string[];
}

/**
 * The files that are on the disk now.
 * @throws DeadlineError when that does not say which they are
 */
export async function archivedOf(
  waits: Waits,
  { archiver, leaving, directory, files, telemetry, limitMs, isOpen }: ArchivedOf,
): Promise<Archived> {
  const unchanged = (why?: string): Archived => ({
    files: [...files],
    notes: why === undefined ? [] : [`its files are not in an archive: ${why}`],
  });
  const others = files.filter((it) => it !== telemetry).map((it) => relative(directory, it));
  // One file needs no archive, unless it is in a folder of its own.
  if (archiver === undefined || others.length === 0 || (others.length === 1 && others[0]?.includes(sep) === false))
    return unchanged();
  if (isOpen) return unchanged('something may still write to them');
  if (limitMs <= 0) return unchanged('the time limit of the run was near');
  const keep = telemetry == null ? [] : [relative(directory, telemetry).replaceAll(sep, '/')];
  const outcome = await archiver.archive(waits, directory, keep, { leaving, limitMs });
  if (outcome.type === 'unchanged') return unchanged(outcome.why);
  const kept = new Set(outcome.kept.map((it) => join(directory, it)));
  return { files: [join(directory, ARCHIVE), ...files.filter((it) => kept.has(it))].sort(), notes: outcome.notes };
}

/** A time limit counts on the coordinator, which must have the outcome by then: of a long one this much is left to the report. */
const REPORT_MS = 5_000;

/** The time that is left for an archive within the time limit of the run, in ms. */
export function leftMs(
  { timeoutSecs, sinceMs }: Pick<ExecutionPlan, 'timeoutSecs' | 'sinceMs'>,
  clock: Pick<Clock, 'monotonicMs'>,
): number {
  if (timeoutSecs === 0 || sinceMs === undefined) return Infinity;
  const limitMs = timeoutSecs * 1000;
  return sinceMs + limitMs - Math.min(REPORT_MS, limitMs / 10) - clock.monotonicMs();
}
