/** Whether code files differ from the commit of their repository, by git's own rules for the content of a file. Starts no process. */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { bufferOf, linkStampOf } from './byte-paths.ts';
import { GITLINK } from './git-index.ts';
import type { PlacedRepository } from './code-files.ts';
import type { Commit } from './git-program.ts';

/** A code file of a repository, below the root of the code, in bytes. */
export interface CodeInRepository {
  root: string;
  placed: PlacedRepository;
  commit: Commit;
  /** Paths below the root that are code. */
  paths: ReadonlySet<string>;
  /** The list is that of git, so that a file that is missing counts. */
  isWhole: boolean;
  /** Commits of the repositories below, by the path of their top below this repository's. */
  submodules: ReadonlyMap<string, string | undefined>;
}

/** True when a code file of this repository differs from the commit, is not in it, or is missing. */
export function isDirty({ root, placed, commit, paths, isWhole, submodules }: CodeInRepository): boolean {
  const { repository, at, below } = placed;
  const prefix = below === '' ? '' : `${below}/`;
  for (const path of paths) {
    const inRepository = prefix + path.slice(at.length);
    const committed = commit.tree.get(inRepository);
    if (committed === undefined) return true;
    if (contentOf(placed, inRepository, `${root}/${path}`, committed.oid.length) !== committed.oid) return true;
  }
  if (!isWhole) return false;
  for (const [path, { oid, mode }] of commit.tree) {
    if (!path.startsWith(prefix)) continue;
    if (Number.parseInt(mode, 8) !== GITLINK) {
      if (!paths.has(at + path.slice(prefix.length))) return true;
    } else if (submodules.has(path) && submodules.get(path) !== oid) return true;
  }
  return repository.commit === undefined;
}

/** The object id of a file's content: as the index has it where the file is as the index saw it, else of its bytes. */
function contentOf(
  { repository }: PlacedRepository,
  path: string,
  absolute: string,
  digits: number,
): string | undefined {
  const at = bufferOf(absolute);
  const stamp = linkStampOf(at);
  if (stamp === undefined) return undefined;
  const indexed = repository.index?.get(path);
  if (
    indexed !== undefined &&
    indexed.size === stamp.size % 2 ** 32 &&
    indexed.mtimeSecs === Math.floor(stamp.mtimeMs / 1000) &&
    Math.abs(indexed.mtimeNs / 1e6 - (stamp.mtimeMs % 1000)) < 0.01 &&
    // A file that is as young as the index may have changed since.
    stamp.mtimeMs < repository.indexMs
  ) {
    return indexed.oid;
  }
  try {
    const isLink = (stamp.mode & 0o170000) === 0o120000;
    const data = isLink ? readlinkSync(at, { encoding: 'buffer' }) : readFileSync(at);
    const hash = createHash(digits === 64 ? 'sha256' : 'sha1');
    return hash
      .update(`blob ${String(data.length)}\0`)
      .update(data)
      .digest('hex');
  } catch {
    return undefined;
  }
}

/** The commits of the repositories inside another, by the path of their top below its top. */
export function commitsBelow(
  placed: PlacedRepository,
  all: readonly PlacedRepository[],
): Map<string, string | undefined> {
  const { top } = placed.repository;
  return new Map(
    all
      .filter(({ repository }) => repository.top.startsWith(`${top}/`))
      .map(({ repository }) => [repository.top.slice(top.length + 1), repository.commit]),
  );
}
