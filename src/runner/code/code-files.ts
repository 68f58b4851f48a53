/** Lists the code files of an engine: those of git, those of its globs, or those of its language. Reads names only. */
import { readdir } from 'node:fs/promises';
import ignore, { type Ignore } from 'ignore';
import { bufferOf, isSame, isSettled, linkStampOf, stampOf, type Stamp } from './byte-paths.ts';
import { GitRepository, repositoryAround, rulesIn } from './git-repository.ts';
import { GITLINK } from './git-index.ts';

/** Beyond these an identity is that of the entrypoint alone. */
export const MOST_FILES = 5_000;
export const MOST_CODE_BYTES = 256 * 1024 * 1024;
/** Folders that are read for one list. */
const MOST_FOLDERS = 20_000;

/** Files of the same language as an entrypoint, by its extension; of a program without one, the program alone. */
const LANGUAGES: readonly (readonly string[])[] = [
  ['py', 'pyi', 'pyx'],
  ['js', 'mjs', 'cjs'],
  ['sh', 'bash'],
  ['jl'],
  ['r', 'R'],
  ['pl', 'pm'],
  ['rb'],
  ['lua'],
  ['m'],
];
/** Folders that have files of others or of earlier runs, where no git says so. */
const NEVER_CODE = new Set(['__pycache__', 'node_modules']);
/** Files that the output of programs is redirected to, that of this runner among them; code only where git tracks it, or a pattern chooses it. */
const LOG = /\.log$|^nohup\.out$|^slurm-.*\.out$/;

/** A list that is wanted. Paths are absolute and in bytes. */
export interface ListRequest {
  entrypoint: string;
  /** Patterns relative to the folder of the entrypoint; they replace the list. */
  globs: readonly string[] | undefined;
  /** Folders that the runner writes: output and checkpoints. */
  own: readonly string[];
  excludes: string | undefined;
  nowMs: number;
}

/** A repository with its place in the list: the root is inside of it, or it is below the root. */
export interface PlacedRepository {
  repository: GitRepository;
  /** The path of its top below the root; '' where the root is inside of it. */
  at: string;
  /** The path of the root below its top; '' where it is not above the root. */
  below: string;
}

/** The list of files as of one look. */
export interface CodeList {
  /** Paths below the root, unsorted. */
  paths: readonly string[];
  /** The repository of the root first; empty without git. */
  repositories: readonly PlacedRepository[];
  /** Why the list has the entrypoint alone; undefined where it is whole. */
  cut: string | undefined;
  /** False when a folder, a rule or a repository has changed since. */
  isCurrent: () => boolean;
}

class TooMany extends Error {}

/** The folder of a file. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Lists the code files. @throws the system's error where the folder of the entrypoint cannot be read. */
export async function listCode(request: ListRequest): Promise<CodeList> {
  const root = folderOf(request.entrypoint);
  const walk = new Walk(root, request);
  const repository =
    request.globs === undefined ? await repositoryAround(root, request.nowMs, request.excludes) : undefined;
  const main = request.entrypoint.slice(root.length + 1);
  try {
    if (repository !== undefined) await walk.git(repository, root, '');
    else await walk.plain(root, '', selectorOf(request, main));
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    return { paths: [main], repositories: [], cut: error.message, isCurrent: () => false };
  }
  const repositories = walk.repositories;
  if (request.globs !== undefined) {
    // Patterns choose the files, and git still says which commit they are of.
    const around = await repositoryAround(root, request.nowMs, request.excludes);
    if (around !== undefined)
      repositories.push({ repository: around, at: '', below: root.slice(around.top.length + 1) });
  }
  if (request.globs === undefined) walk.paths.add(main);
  return { paths: [...walk.paths], repositories, cut: undefined, isCurrent: () => walk.isCurrent };
}

type Selector = (path: string) => boolean;

function selectorOf({ globs }: ListRequest, main: string): Selector {
  if (globs !== undefined) {
    // The syntax of .gitignore; a leading slash makes a pattern relative to the root, as a glob is.
    const anchored = globs.map((it) => (it.startsWith('!') ? `!/${it.slice(1)}` : `/${it}`));
    const chosen = ignore({ ignorecase: false }).add(anchored.map((it) => Buffer.from(it).toString('latin1')));
    return (path) => chosen.ignores(path);
  }
  const extension = /\.([^./]+)$/.exec(main)?.[1];
  const same = LANGUAGES.find((it) => extension !== undefined && it.includes(extension));
  return same === undefined ? (path) => path === main : (path) => same.includes(/\.([^./]+)$/.exec(path)?.[1] ?? '');
}

/** One level of rules: the folder they are in, as a path below the root of the repository, with `/` at its end. */
interface Level {
  prefix: string;
  rules: Ignore;
}

class Walk {
  readonly paths = new Set<string>();
  readonly repositories: PlacedRepository[] = [];
  readonly #root: string;
  readonly #request: ListRequest;
  /** Folders that were read, with their stamps from before. */
  readonly #folders: [Buffer, Stamp | undefined][] = [];

  constructor(root: string, request: ListRequest) {
    this.#root = root;
    this.#request = request;
  }

  get isCurrent(): boolean {
    const { nowMs } = this.#request;
    return (
      this.repositories.every(({ repository }) => repository.isCurrent) &&
      this.#folders.every(([path, stamp]) => isSettled(stamp, nowMs) && isSame(stamp, stampOf(path)))
    );
  }

  /** Adds the files that a repository tracks, or would track, in `folder` and below. @param at the folder below the root, with `/` at its end. */
  async git(repository: GitRepository, folder: string, at: string): Promise<void> {
    const below = folder.slice(repository.top.length + 1);
    this.repositories.push({ repository, at, below });
    const levels: Level[] = [{ prefix: '', rules: repository.rules }];
    // The rules of the folders above the root hold in it, too.
    const above = below === '' ? [] : below.split('/');
    for (let depth = 0; depth < above.length; depth++) {
      const prefix = above
        .slice(0, depth)
        .map((it) => `${it}/`)
        .join('');
      await this.#addRules(levels, `${repository.top}/${prefix}`.replace(/\/$/, ''), prefix);
    }
    const inRepository = below === '' ? '' : `${below}/`;
    await this.#gitFolder(repository, folder, { at, inRepository, levels });
    for (const { path, mode } of repository.index?.values() ?? []) {
      if (mode === GITLINK || !path.startsWith(inRepository)) continue;
      const own = at + path.slice(inRepository.length);
      if (!this.paths.has(own) && linkStampOf(bufferOf(`${this.#root}/${own}`)) !== undefined) this.#add(own);
    }
  }

  async #gitFolder(
    repository: GitRepository,
    folder: string,
    { at, inRepository, levels: above }: { at: string; inRepository: string; levels: readonly Level[] },
  ): Promise<void> {
    const entries = await this.#read(folder);
    if (at !== '' && this.#isOurs(entries)) return;
    const levels = [...above];
    await this.#addRules(levels, folder, inRepository);
    for (const entry of entries) {
      const { name } = entry;
      if (name === '.git') continue;
      const path = `${folder}/${name}`;
      if (entry.isDirectory()) {
        if (this.#request.own.includes(path)) continue;
        const nested = await GitRepository.open(path, this.#request.nowMs, this.#request.excludes);
        if (nested !== undefined) {
          const isTracked = repository.index?.get(inRepository + name)?.mode === GITLINK;
          if (isTracked || !isIgnored(levels, `${inRepository}${name}/`)) await this.git(nested, path, `${at}${name}/`);
        } else if (name !== '__pycache__' && !isIgnored(levels, `${inRepository}${name}/`)) {
          await this.#gitFolder(repository, path, {
            at: `${at}${name}/`,
            inRepository: `${inRepository}${name}/`,
            levels,
          });
        }
      } else if (
        (entry.isFile() || entry.isSymbolicLink()) &&
        !LOG.test(name) &&
        !isIgnored(levels, inRepository + name)
      ) {
        this.#add(at + name);
      }
    }
  }

  /** Adds the chosen files in `folder` and below, without git. */
  async plain(folder: string, at: string, isChosen: Selector): Promise<void> {
    const entries = await this.#read(folder);
    if (at !== '' && this.#isOurs(entries)) return;
    // A virtual environment of Python has code of others.
    if (at !== '' && entries.some(({ name }) => name === 'pyvenv.cfg')) return;
    for (const entry of entries) {
      const { name } = entry;
      const path = `${folder}/${name}`;
      if (entry.isDirectory()) {
        const isHidden = name.startsWith('.') && this.#request.globs === undefined;
        if (isHidden || name === '.git' || NEVER_CODE.has(name) || this.#request.own.includes(path)) continue;
        await this.plain(path, `${at}${name}/`, isChosen);
      } else if ((entry.isFile() || entry.isSymbolicLink()) && isChosen(at + name)) this.#add(at + name);
    }
  }

  async #read(folder: string) {
    const buffer = bufferOf(folder === '' ? '/' : folder);
    this.#folders.push([buffer, stampOf(buffer)]);
    if (this.#folders.length > MOST_FOLDERS) throw new TooMany(`there are more than ${String(MOST_FOLDERS)} folders`);
    if (this.#folders.length === 1) return await readdir(buffer, { withFileTypes: true, encoding: 'latin1' });
    // A folder that may not be read has no files for the simulation either.
    return await readdir(buffer, { withFileTypes: true, encoding: 'latin1' }).catch(() => []);
  }

  /** True for the folder of a coordinator's store, or of another runner's output, which changes with every run and is not watched. */
  #isOurs(entries: readonly { name: string }[]): boolean {
    const has = (name: string): boolean => entries.some((it) => it.name === name);
    if (!has('.simbatch-runner') && !(has('CURRENT') && has('LOCK'))) return false;
    this.#folders.pop();
    return true;
  }

  #add(path: string): void {
    this.paths.add(path);
    if (this.paths.size > MOST_FILES) throw new TooMany(`there are more than ${String(MOST_FILES)} code files`);
  }

  /** The rules of a folder's own `.gitignore`, whose changes are seen like those of a folder. */
  async #addRules(levels: Level[], folder: string, prefix: string): Promise<void> {
    const path = bufferOf(`${folder}/.gitignore`);
    const stamp = stampOf(path);
    if (stamp === undefined) return;
    this.#folders.push([path, stamp]);
    const rules = await rulesIn(folder);
    if (rules !== undefined) levels.push({ prefix, rules });
  }
}

/** The rules of the deepest folder that have an opinion decide. @param path below the top of the repository; with `/` at its end for a folder. */
function isIgnored(levels: readonly Level[], path: string): boolean {
  for (const { prefix, rules } of levels.toReversed()) {
    const { ignored, unignored } = rules.test(path.slice(prefix.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}
