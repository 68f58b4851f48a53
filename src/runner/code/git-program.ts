/** Questions that only the program `git` answers, at most once a minute for each repository: the tree of a commit, its description, the user's settings. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { bytesOf, textOf } from './byte-paths.ts';

const run = promisify(execFile);
/** How often git may be started for one repository. */
const EACH_MS = 60_000;
/** The two waits of a first look are shorter together than a run waits for it: it has its digest without a commit then. */
const TIMEOUT_MS = 5_000;
const MOST_BYTES = 256 << 20;
/** Commits that are remembered, each with its files. */
const MOST_COMMITS = 8;

/** A commit as git describes it. */
export interface Commit {
  /** `git describe --tags --always`. */
  describe: string;
  /** Path below the top of the repository, in bytes -> object id and mode of each file. */
  tree: ReadonlyMap<string, { oid: string; mode: string }>;
}

export class GitProgram {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #env: Readonly<Record<string, string>>;
  readonly #commits = new Map<string, Commit>();
  readonly #askedMs = new Map<string, number>();
  #excludes: Promise<string | undefined> | undefined;

  /** @param env of its processes, with PATH and HOME. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, env: Readonly<Record<string, string>>) {
    this.#clock = clock;
    this.#env = env;
  }

  /** The user's file of ignored files, in bytes; asked for once. */
  excludes(): Promise<string | undefined> {
    this.#excludes ??= this.#git('/', ['config', '--global', '--path', '--get', 'core.excludesFile'])
      .then((it) => bytesOf(it.toString().trim()) || undefined)
      .catch(() => this.#defaultExcludes());
    return this.#excludes;
  }

  #defaultExcludes(): string | undefined {
    const { XDG_CONFIG_HOME: config, HOME: home } = this.#env;
    if (config !== undefined && config !== '') return bytesOf(`${config}/git/ignore`);
    return home === undefined ? undefined : bytesOf(`${home}/.config/git/ignore`);
  }

  /** The commit, as far as it is known or may be asked for now; undefined otherwise. @param below the folder of which the tree is wanted, in bytes. */
  async commit(top: string, id: string, below: string): Promise<Commit | undefined> {
    const key = `${id} ${top}/${below}`;
    const known = this.#commits.get(key);
    if (known !== undefined || !this.#mayAsk(top)) return known;
    try {
      // A path with bytes that are not UTF-8 cannot be an argument: the whole tree is read then.
      const path = below === '' || bytesOf(textOf(below)) !== below ? [] : ['--', `${textOf(below)}/`];
      const folder = textOf(top);
      const [listed, described] = await Promise.all([
        this.#git(folder, ['ls-tree', '-r', '-z', '--full-tree', id, ...path]),
        this.#git(folder, ['describe', '--tags', '--always', id]),
      ]);
      const commit = { describe: described.toString().trim(), tree: treeOf(listed) };
      this.#commits.set(key, commit);
      const [oldest] = this.#commits.keys();
      if (this.#commits.size > MOST_COMMITS && oldest !== undefined) this.#commits.delete(oldest);
      return commit;
    } catch {
      // Absent, refused ("dubious ownership"), or damaged: nothing is claimed about the commit.
      return undefined;
    }
  }

  #mayAsk(top: string): boolean {
    const now = this.#clock.monotonicMs();
    if (now - (this.#askedMs.get(top) ?? -Infinity) < EACH_MS) return false;
    this.#askedMs.set(top, now);
    return true;
  }

  async #git(folder: string, args: readonly string[]): Promise<Buffer> {
    const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...inherited } = this.#env;
    const env = {
      ...inherited,
      GIT_OPTIONAL_LOCKS: '0',
      GIT_TERMINAL_PROMPT: '0',
      GIT_NO_LAZY_FETCH: '1',
      LC_ALL: 'C',
    };
    const options = {
      env,
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL' as const,
      maxBuffer: MOST_BYTES,
      encoding: 'buffer' as const,
    };
    return (await run('git', ['-C', folder, ...args], options)).stdout;
  }
}

/** `<mode> <type> <object>\t<path>`, ended by 00. */
function treeOf(listed: Buffer): Commit['tree'] {
  const tree = new Map<string, { oid: string; mode: string }>();
  for (const line of listed.toString('latin1').split('\0')) {
    const tab = line.indexOf('\t');
    const [mode, , oid] = line.slice(0, tab).split(' ');
    if (mode !== undefined && oid !== undefined) tree.set(line.slice(tab + 1), { oid, mode });
  }
  return tree;
}
