// The parameters of a run, and which of them the simulation looks up. `_parameters.py` of the Python client has the same rules.
import { randomBytes } from 'node:crypto';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** In the output directory: the look-ups of a run, for the runner, which removes the file. */
const READS_FILE = '.simbatch-reads.json';
/** The access time that the runner gives a run configuration, in seconds: nothing has read it. */
const UNREAD_S = 1;
const MOST_ASKED = 16;
const MOST_ASKED_LENGTH = 256;

/** The environment or the run configuration does not say what a run needs. */
export class RunConfigError extends Error {
  name = 'RunConfigError';
}

/**
 * The value of a variable, which has two names: `SIMBATCH_NAME`, and that of the run contract. Undefined where neither is set.
 * `src/base/text/variables.ts` has the same rule.
 */
export function variable(name) {
  const { [`SIMBATCH_${name}`]: first, [`SVC_${name}`]: second } = process.env;
  // The values may be secrets.
  if (first && second && first !== second)
    throw new RunConfigError(
      `the environment is ambiguous: SIMBATCH_${name} and SVC_${name} are two names of one setting and have different values; unset one of them`,
    );
  return first || second;
}

/** Whether nothing has read the run configuration, as far as its file system says. */
export function isUnread(path) {
  try {
    return statSync(path).atimeMs === UNREAD_S * 1000;
  } catch {
    return false;
  }
}

/**
 * The parameters; a name that is missing throws instead of becoming undefined, and NaN a little later. Getting a member is a look-up of
 * it, listing or copying the members one of all, printing them none.
 */
export class NotedParameters {
  #given;
  #read = new Set();
  #asked = new Set();
  #isAll = false;
  #path;
  #markMs = 0;

  /** `given`: the names that the study gives; the others are defaults of the simulation. */
  constructor(values, given) {
    const known = Object.assign(Object.create(null), values);
    this.#given = new Set(given);
    this.values = new Proxy(known, {
      get: (target, name) => {
        if (name in target) this.#note(name);
        // Members that JavaScript itself reads (printing, awaiting, JSON) are not misspelt parameters.
        if (name in target || typeof name === 'symbol' || name === 'toJSON' || name === 'then') return target[name];
        this.#ask(name);
        const names = Object.keys(target).sort().join(', ');
        throw new RunConfigError(`the run has no parameter ${name}; it has: ${names || 'none'}`);
      },
      has: (target, name) => {
        if (!(name in target)) this.#ask(name);
        return name in target;
      },
      ownKeys: (target) => {
        this.#isAll = true;
        return Reflect.ownKeys(target);
      },
      getOwnPropertyDescriptor: (target, name) => {
        if (name in target) this.#note(name);
        else this.#ask(name);
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
    });
  }

  /** Leaves the look-ups for the runner when the program ends. Call it once the configuration was read, which nothing had read before. */
  watch(path, directory) {
    try {
      const found = statSync(path);
      // A file system that keeps no access times does not show another reader of the file, such as a child process.
      if (found.atimeMs === UNREAD_S * 1000) return;
      const markS = 2 + randomBytes(4).readUInt32BE() / 1e3;
      utimesSync(path, markS, found.mtimeMs / 1e3);
      this.#markMs = statSync(path).atimeMs;
    } catch {
      return;
    }
    this.#path = path;
    process.on('exit', () => this.#write(directory));
  }

  #note(name) {
    if (this.#given.has(name)) this.#read.add(name);
    else this.#ask(name);
  }

  #ask(name) {
    if (typeof name === 'string' && name.length <= MOST_ASKED_LENGTH && this.#asked.size < MOST_ASKED)
      this.#asked.add(name);
  }

  #report() {
    if (this.#isAll || this.#read.size === this.#given.size) return { read: 'all' };
    // Another access time: something else has read the file, and perhaps the values that were not looked up here.
    if (statSync(this.#path).atimeMs !== this.#markMs) return undefined;
    return { read: [...this.#read].sort((a, b) => (a < b ? -1 : 1)), asked: [...this.#asked] };
  }

  #write(directory) {
    try {
      const report = this.#report();
      if (report !== undefined) writeFileSync(join(directory, READS_FILE), JSON.stringify(report), { flag: 'wx' });
    } catch {
      // Nothing is known then.
    }
  }
}
