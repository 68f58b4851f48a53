/**
 * The identity of the code of one engine, looked at again and again: files are read once, and then only when their stamps differ. A look holds its
 * thread (`LookThread`) until the file system answers.
 */
import { dirname } from 'node:path';
import { sleep, type Clock } from '../../base/clock.ts';
import type { CodeIdentity } from '../../contract/types.ts';
import { plural } from '../../domain/plural.ts';
import { bufferOf, bytesOf, isSame, stampOf, textOf } from './byte-paths.ts';
import { commitsBelow, isDirty } from './code-changes.ts';
import { type CodeList, listCode, MOST_CODE_BYTES } from './code-files.ts';
import { type CodeFile, readCode, sameHash } from './code-reading.ts';
import { codeDigest } from './digest.ts';
import type { Commit, GitProgram } from './git-program.ts';
import { repositoryAround } from './git-repository.ts';

/** After a look no other begins for so many times the time that it took: looks take at most a fifth of the time. */
const PAUSE = 4;
/** A longer time of a look counts as this one, in milliseconds. */
const MOST_COST_MS = 50;
/** How long a list that is cut counts: it would cost the most to make again. */
const CUT_MS = 60_000;
/** How long an identity without its commit counts, where git may not be asked yet. */
const UNDESCRIBED_MS = 5_000;
/** Changed files that a message names. */
const MOST_NAMED = 5;

export interface CodeLookOptions {
  /** The file of this machine, absolute. */
  entrypoint: string;
  globs: readonly string[] | undefined;
  /** Folders that the runner writes, absolute. */
  own: readonly string[];
  clock: Pick<Clock, 'now' | 'monotonicMs' | 'after'>;
  git: GitProgram;
  /** Called when an identity differs from that before, with the files. */
  onChange?: (identity: CodeIdentity, files: readonly string[]) => void;
}

/** The files as they are after the call, or as they were lately: a fifth of a second ago at most, far less for few files. */
export type LookTime = 'now' | 'lately';

/** Changes of the code that are remembered. */
const MOST_CHANGES = 64;

/**
 * The result of a look: the identity, with the beginning of the look in ms since the epoch, or why there is none. `late`: it was not waited for any
 * longer, and says nothing about the files.
 */
export type Looked = { code: CodeIdentity; lookedMs: number } | { fault: string; late?: true };

export class CodeLook {
  readonly #options: CodeLookOptions;
  readonly #entrypoint: string;
  readonly #root: string;
  #list: CodeList | undefined;
  #listedMs = 0;
  #files = new Map<string, CodeFile>();
  /** Times of changes in ms since the epoch, as the files state them; where a file was added or removed, the look before. */
  readonly #changesMs: number[] = [];
  #lookedMs = 0;
  #latest: { looked: Looked; madeMs: number; isDescribed: boolean } | undefined;
  /** The look that is made, and when it began; undefined while it has not begun. Monotonic times, in ms. */
  #running: { looked: Promise<Looked>; begunMs: number | undefined } | undefined;
  #next: Promise<Looked> | undefined;
  /** The last look that was made. */
  #looked: { looked: Looked; begunMs: number } | undefined;
  #endedMs = -Infinity;
  /** The time that a look takes which reads no file. */
  #costMs = 0;

  constructor(options: CodeLookOptions) {
    this.#options = options;
    this.#entrypoint = bytesOf(options.entrypoint);
    this.#root = bytesOf(dirname(options.entrypoint)).replace(/^\/$/, '');
  }

  /**
   * Looks at the files. Calls share a look that begins after them; `lately` also takes a look that began before, by as much as the pause between
   * looks. Never rejects.
   */
  look(time: LookTime = 'now'): Promise<Looked> {
    const sinceMs = this.#options.clock.monotonicMs() - (time === 'now' ? 0 : (PAUSE + 1) * this.#costMs);
    const running = this.#running;
    if (running !== undefined && (running.begunMs ?? sinceMs) >= sinceMs) return running.looked;
    if (running === undefined) {
      const made = this.#looked;
      return made !== undefined && time === 'lately' && made.begunMs >= sinceMs
        ? Promise.resolve(made.looked)
        : this.#begin();
    }
    this.#next ??= running.looked.then(() => {
      this.#next = undefined;
      return this.look();
    });
    return this.#next;
  }

  #begin(): Promise<Looked> {
    this.#running = { looked: this.#paced(), begunMs: undefined };
    return this.#running.looked;
  }

  async #paced(): Promise<Looked> {
    const { clock } = this.#options;
    const pauseMs = this.#endedMs + PAUSE * this.#costMs - clock.monotonicMs();
    // Calls that come meanwhile share the look.
    await (pauseMs < 1 ? undefined : sleep(clock, pauseMs));
    const begunMs = clock.monotonicMs();
    if (this.#running !== undefined) this.#running.begunMs = begunMs;
    const looked = await this.#look(begunMs).catch((error: unknown): Looked => ({
      fault: error instanceof Error ? error.message : String(error),
    }));
    this.#looked = { looked, begunMs };
    this.#running = undefined;
    this.#endedMs = clock.monotonicMs();
    return looked;
  }

  async #look(begunMs: number): Promise<Looked> {
    const nowMs = this.#options.clock.now();
    const before = this.#latest;
    const sinceMs = this.#lookedMs;
    this.#lookedMs = nowMs;
    const isListed = this.#isListed(nowMs);
    if (!isListed) await this.#makeList(nowMs);
    const changed = await this.#readChanged(nowMs);
    const isDue = before?.isDescribed === false && nowMs - before.madeMs >= UNDESCRIBED_MS;
    if (before !== undefined && isListed && changed.length === 0 && !isDue) {
      this.#costMs = Math.min(this.#options.clock.monotonicMs() - begunMs, MOST_COST_MS);
      return 'code' in before.looked ? { ...before.looked, lookedMs: nowMs } : before.looked;
    }
    const looked = await this.#identity(nowMs);
    if (before !== undefined && 'code' in looked && digestOf(before.looked) !== looked.code.digest) {
      this.#noteChange(changed, sinceMs);
      this.#options.onChange?.(looked.code, changed.slice(0, MOST_NAMED).map(textOf));
    }
    return looked;
  }

  /** The times of the known changes, in ms since the epoch, as of the last look. */
  get changesMs(): readonly number[] {
    return this.#changesMs;
  }

  #noteChange(changed: readonly string[], lookedMs: number): void {
    const times = changed.map((path) => this.#files.get(path)?.stamp?.ctimeMs ?? lookedMs);
    // A file may have older times than its replacement: the change is not before the last look.
    this.#changesMs.push(times.length === 0 ? lookedMs : Math.max(lookedMs, Math.min(...times)));
    if (this.#changesMs.length > MOST_CHANGES) this.#changesMs.shift();
  }

  #isListed(nowMs: number): boolean {
    if (this.#list === undefined) return false;
    return this.#list.cut === undefined ? this.#list.isCurrent() : nowMs - this.#listedMs < CUT_MS;
  }

  async #makeList(nowMs: number): Promise<void> {
    const { globs, own, git } = this.#options;
    const excludes = await git.excludes();
    const request = { entrypoint: this.#entrypoint, globs, own: own.map(bytesOf), excludes, nowMs };
    const list = await listCode(request);
    this.#use(this.#isLarge(list) ? cutTo(this.#entrypoint, 'the code files have more than 256 MiB') : list, nowMs);
  }

  #use(list: CodeList, nowMs: number): void {
    const files = new Map<string, CodeFile>();
    for (const path of list.paths) {
      const at = bufferOf(`${this.#root}/${path}`);
      files.set(path, this.#files.get(path) ?? { path, at, stamp: undefined, isSettled: false, hash: undefined });
    }
    this.#list = list;
    this.#listedMs = nowMs;
    this.#files = files;
  }

  #isLarge({ paths }: CodeList): boolean {
    let bytes = 0;
    for (const path of paths) bytes += stampOf(bufferOf(`${this.#root}/${path}`))?.size ?? 0;
    return bytes > MOST_CODE_BYTES && paths.length > 1;
  }

  /** Reads the files whose stamps differ. Returns the paths of those with other bytes. */
  async #readChanged(nowMs: number): Promise<string[]> {
    const changed: string[] = [];
    let bytes = 0;
    for (const file of this.#files.values()) {
      const stamp = stampOf(file.at);
      bytes += stamp?.size ?? 0;
      if (file.isSettled && isSame(file.stamp, stamp)) continue;
      const hash = file.hash;
      await readCode(file, stamp, nowMs);
      if (!sameHash(hash, file.hash)) changed.push(file.path);
    }
    if (bytes > MOST_CODE_BYTES && this.#files.size > 1 && this.#list?.cut === undefined) {
      this.#use(cutTo(this.#entrypoint, 'the code files have more than 256 MiB'), nowMs);
      return [...(await this.#readChanged(nowMs)), ...changed];
    }
    return changed;
  }

  async #identity(nowMs: number): Promise<Looked> {
    const list = this.#list;
    const main = this.#files.get(this.#entrypoint.slice(this.#root.length + 1));
    const fault = this.#faultOf(main);
    if (fault !== undefined || list === undefined) return this.#keep({ fault: fault ?? 'no list' }, nowMs, true);
    const files = [...this.#files.values()].flatMap(({ path, hash }) => (hash === undefined ? [] : [{ path, hash }]));
    const unread = this.#files.size - files.length;
    const git = await this.#git(list);
    const note = [
      ...(list.cut === undefined
        ? []
        : [`only the entrypoint, since ${list.cut}: name the code files in <engine>_code`]),
      ...(unread === 0
        ? []
        : [`${plural(unread, 'code file')} cannot be read and ${unread === 1 ? 'is' : 'are'} not in the digest`]),
    ].join('; ');
    const code: CodeIdentity = {
      kind: 'entrypoint',
      digest: codeDigest(files),
      ...(git === undefined ? {} : { git: git.shown }),
      files: files.length,
      root: textOf(this.#root === '' ? '/' : this.#root),
      ...(note === '' ? {} : { note }),
    };
    return this.#keep({ code, lookedMs: nowMs }, nowMs, git?.isWhole ?? true);
  }

  #keep(looked: Looked, madeMs: number, isDescribed: boolean): Looked {
    this.#latest = { looked, madeMs, isDescribed };
    return looked;
  }

  /** Why there is no identity; the entrypoint itself must be in it, unless patterns replace the list. */
  #faultOf(main: CodeFile | undefined): string | undefined {
    const { globs, entrypoint } = this.#options;
    if (globs === undefined)
      return main?.hash === undefined ? `the entrypoint ${entrypoint} cannot be read` : undefined;
    const isAny = [...this.#files.values()].some(({ hash }) => hash !== undefined);
    return isAny ? undefined : `no file matches ${globs.join(', ')} in ${textOf(this.#root)}`;
  }

  /** The commit of the code, and whether a code file differs from it. */
  async #git(list: CodeList): Promise<{ shown: NonNullable<CodeIdentity['git']>; isWhole: boolean } | undefined> {
    const repositories = [...list.repositories];
    if (list.cut !== undefined) {
      const { git, clock } = this.#options;
      const repository = await repositoryAround(this.#root, clock.now(), await git.excludes());
      if (repository !== undefined)
        repositories.push({ repository, at: '', below: this.#root.slice(repository.top.length + 1) });
    }
    const [first] = repositories;
    const id = first?.repository.commit;
    if (first === undefined || id === undefined) return undefined;
    const commits: (Commit | undefined)[] = [];
    for (const { repository, below } of repositories) {
      const { top, commit } = repository;
      commits.push(commit === undefined ? undefined : await this.#options.git.commit(top, commit, below));
    }
    const isKnown = commits.every((it) => it !== undefined);
    const isWhole = list.cut === undefined && this.#options.globs === undefined;
    // The files of a repository are those below its top that are in no repository below it.
    const owners = repositories.toSorted((a, b) => b.at.length - a.at.length);
    const pathsOf = (placed: (typeof repositories)[number]): Set<string> =>
      new Set([...this.#files.keys()].filter((path) => owners.find(({ at }) => path.startsWith(at)) === placed));
    const dirty = repositories.some((placed, index) => {
      const commit = commits[index];
      const submodules = commitsBelow(placed, repositories);
      return (
        commit !== undefined &&
        isDirty({ root: this.#root, placed, commit, paths: pathsOf(placed), isWhole, submodules })
      );
    });
    const describe = commits[0]?.describe ?? null;
    // A difference is a difference, also while another repository is not known.
    return { shown: { commit: id, dirty: dirty ? true : isKnown ? false : null, describe }, isWhole: isKnown };
  }
}

const digestOf = (looked: Looked): string | undefined => ('code' in looked ? looked.code.digest : undefined);

const cutTo = (entrypoint: string, cut: string): CodeList => ({
  paths: [entrypoint.slice(entrypoint.lastIndexOf('/') + 1)],
  repositories: [],
  cut,
  isCurrent: () => false,
});
