/** A git repository as its files show it: its top, its commit, the files it tracks and those it ignores. Starts no process. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import ignore, { type Ignore } from 'ignore';
import { bufferOf, isSame, isSettled, stampOf, type Stamp } from './byte-paths.ts';
import { readIndex, type IndexEntry } from './git-index.ts';

const REF = /^ref: (\S+)/;
const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Paths are absolute and in bytes. */
export class GitRepository {
  /** The folder that has `.git`. */
  readonly top: string;
  /** The folder of `HEAD` and `index`; of a worktree or submodule, its own. */
  readonly gitDir: string;
  /** The folder of refs and settings. */
  readonly commonDir: string;
  /** Undefined: no commit yet. */
  readonly commit: string | undefined;
  /** The tracked files by path below the top; undefined where the index is not read. */
  readonly index: ReadonlyMap<string, IndexEntry> | undefined;
  /** When the index was written, in ms: a stamp in it that is as young says nothing. */
  readonly indexMs: number;
  /** Rules that hold below the top: of the repository and of the user. */
  readonly rules: Ignore;
  readonly #watched: readonly [Buffer, Stamp | undefined][];
  readonly #sinceMs: number;

  private constructor(found: Found) {
    this.top = found.top;
    this.gitDir = found.gitDir;
    this.commonDir = found.commonDir;
    this.commit = found.commit;
    this.index = found.index;
    this.indexMs = found.indexMs;
    this.rules = found.rules;
    this.#watched = found.watched;
    this.#sinceMs = found.sinceMs;
  }

  /**
   * The repository of which this folder is the top; undefined when it is none.
   * @param excludes the user's own file of ignored files, if any.
   */
  static async open(top: string, nowMs: number, excludes: string | undefined): Promise<GitRepository | undefined> {
    const gitDir = await gitDirOf(top);
    if (gitDir === undefined) return undefined;
    const commonText = await textOf(`${gitDir}/commondir`);
    const commonDir = commonText === undefined ? gitDir : resolved(gitDir, commonText.trim());
    const head = `${gitDir}/HEAD`;
    const [, ref] = REF.exec((await textOf(head)) ?? '') ?? [];
    const indexPath = `${gitDir}/index`;
    const exclude = `${commonDir}/info/exclude`;
    const paths = [head, indexPath, exclude, `${commonDir}/packed-refs`, `${top}/.git`];
    if (ref !== undefined) paths.push(`${gitDir}/${ref}`, `${commonDir}/${ref}`);
    if (excludes !== undefined) paths.push(excludes);
    // Before they are read: a change meanwhile shows in the next look.
    const watched = paths.map((it): [Buffer, Stamp | undefined] => [bufferOf(it), stampOf(bufferOf(it))]);
    const commit = await commitOf({ head, ref, gitDir, commonDir });
    const data = await bytesIn(indexPath);
    const rules = ignore({ ignorecase: false });
    for (const it of [excludes, exclude]) if (it !== undefined) rules.add((await textOf(it)) ?? '');
    const index = data === undefined ? new Map<string, IndexEntry>() : readIndex(data, (commit?.length ?? 40) / 2);
    const indexMs = watched[1]?.[1]?.mtimeMs ?? 0;
    return new GitRepository({ top, gitDir, commonDir, commit, index, indexMs, rules, watched, sinceMs: nowMs });
  }

  /** True while its commit, its index and its rules are those that were read. */
  get isCurrent(): boolean {
    return this.#watched.every(([path, stamp]) => isSettled(stamp, this.#sinceMs) && isSame(stamp, stampOf(path)));
  }
}

interface Found {
  top: string;
  gitDir: string;
  commonDir: string;
  commit: string | undefined;
  index: ReadonlyMap<string, IndexEntry> | undefined;
  indexMs: number;
  rules: Ignore;
  watched: readonly [Buffer, Stamp | undefined][];
  sinceMs: number;
}

/** The repository in which a folder is: its own, or that of the nearest folder above. */
export async function repositoryAround(
  folder: string,
  nowMs: number,
  excludes: string | undefined,
): Promise<GitRepository | undefined> {
  for (let top = folder; ; top = top.slice(0, top.lastIndexOf('/'))) {
    const found = await GitRepository.open(top, nowMs, excludes);
    if (found !== undefined || top === '') return found;
  }
}

/** `.git` is a folder, or a file that names one (worktrees, submodules). */
async function gitDirOf(top: string): Promise<string | undefined> {
  const dotGit = `${top}/.git`;
  if (stampOf(bufferOf(`${dotGit}/HEAD`)) !== undefined) return dotGit;
  const [, path] = /^gitdir: (.+)$/m.exec((await textOf(dotGit)) ?? '') ?? [];
  if (path === undefined) return undefined;
  const gitDir = resolved(top, path.trim());
  return stampOf(bufferOf(`${gitDir}/HEAD`)) === undefined ? undefined : gitDir;
}

const resolved = (folder: string, path: string): string => (path.startsWith('/') ? path : `${folder}/${path}`);

async function commitOf(of: {
  head: string;
  ref: string | undefined;
  gitDir: string;
  commonDir: string;
}): Promise<string | undefined> {
  const { head, ref, gitDir, commonDir } = of;
  if (ref === undefined) return oidIn(await textOf(head));
  for (const folder of new Set([gitDir, commonDir])) {
    const loose = oidIn(await textOf(`${folder}/${ref}`));
    if (loose !== undefined) return loose;
  }
  const packed = (await textOf(`${commonDir}/packed-refs`)) ?? '';
  const line = packed.split('\n').find((it) => it.endsWith(` ${ref}`));
  return oidIn(line?.split(' ', 1)[0]);
}

function oidIn(text: string | undefined): string | undefined {
  const oid = text?.trim() ?? '';
  return OID.test(oid) ? oid : undefined;
}

const textOf = async (path: string): Promise<string | undefined> => (await bytesIn(path))?.toString('latin1');

/** The content of a file; undefined where it cannot be read, or is none: a pipe or a device is not waited for. */
async function bytesIn(path: string): Promise<Buffer | undefined> {
  const file = await open(bufferOf(path), constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  try {
    return (await file?.stat())?.isFile() === true ? await file?.readFile() : undefined;
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}

/** The rules of the `.gitignore` in a folder; undefined without one. */
export async function rulesIn(folder: string): Promise<Ignore | undefined> {
  const text = await textOf(`${folder}/.gitignore`);
  return text === undefined ? undefined : ignore({ ignorecase: false }).add(text);
}
