/** The files of an ended attempt as one archive, where its runner makes those. */
import { join, relative, sep } from 'node:path';
import { ARCHIVE } from '../../../domain/files/file-path.ts';
import type { Waits } from '../../waits.ts';
import type { ExecutionSite } from '../execution-site.ts';

export interface ArchivedOf extends Pick<ExecutionSite, 'archiver' | 'leaving'> {
  directory: string;
  /** Absolute paths. */
  files: readonly string[];
  /** The telemetry file, which its readers open by its path. */
  telemetry: string | null | undefined;
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
  { archiver, leaving, directory, files, telemetry, isOpen }: ArchivedOf,
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
  const keep = telemetry == null ? [] : [relative(directory, telemetry).replaceAll(sep, '/')];
  const outcome = await archiver.archive(waits, directory, keep, leaving);
  if (outcome.type === 'unchanged') return unchanged(outcome.why);
  const kept = new Set(outcome.kept.map((it) => join(directory, it)));
  return { files: [join(directory, ARCHIVE), ...files.filter((it) => kept.has(it))].sort(), notes: outcome.notes };
}
