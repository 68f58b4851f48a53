/** The lines of a verification manifest: their members, and the hash that chains each to the one before. */
import { createHash } from 'node:crypto';
import { stringifyExact } from '../../base/json/json-writing.ts';
import type { CodeIdentity, Seed } from '../../contract/types.ts';
import type { RoundHead } from '../../domain/adaptive/rows.ts';

/** The name and version of the format, first in every manifest. */
export const MANIFEST_FORMAT = 'simbatch-manifest/1';

/** The first line: the origin of the runs, and how many there are. */
export interface ManifestHeader {
  batch_id: string;
  /** The configuration as submitted, with the seed that is used. */
  configuration: unknown;
  /** SHA-256 of the configuration, as the batch shows it. */
  config_hash: string;
  /** Version of the sampler, such as `mc-sampler/1`. */
  sampling_scheme: string;
  seed: Seed;
  /** Versions of the coordinator, the simulation, and every other program that the result depends on. */
  versions: Readonly<Record<string, string>>;
  /** The versions of the code that were started; absent: none is known. */
  code_versions?: readonly CodeIdentity[];
  /** Runs by class. */
  counts: Readonly<Record<string, number>>;
  /** Runs with `reused_from`; absent: none, or written by a version that did not count them. */
  reused?: number;
}

/** One run. Lines are in ascending order of (replicate, run id). */
export interface ManifestRun {
  run_id: number;
  /** Absent for the first design. */
  replicate?: number;
  parameters: Readonly<Record<string, number>>;
  /** Of an adaptive study: the run whose random draw it has; absent where damage has lost its row. */
  draw?: number;
  /** Parameters that are -0, which JSON writes as 0; absent for none. */
  minus_zero?: readonly string[];
  class: string;
  /** The first 12 digits of the digest of the code of its last attempt; absent: not known. */
  code?: string;
  /** The job whose result it has; absent: it was executed. */
  reused_from?: string;
  /** SHA-256 of the result, 64 hex digits; null where there is none. */
  result_digest: string | null;
}

/** One round of an adaptive study, before the lines of its runs, of which a batch that repeats a part of a study has some. */
export type ManifestRound = RoundHead;

export const isRound = (line: ManifestRun | ManifestRound): line is ManifestRound => 'round' in line;

/** `,"hash":"<64 hex digits>"}` at the end of a line. */
export const HASH_SUFFIX = /,"hash":"([0-9a-f]{64})"\}$/;

/**
 * The hash of a line: SHA-256 over the line before (with its own hash), a line feed, and this line without its `hash` member, in
 * UTF-8. The header has an empty line before it. So each line fixes all lines before it. Source: Haber and Stornetta, J. Cryptology 3 (1991) 99 (linked time stamps).
 */
export function chainHash(lineBefore: string, lineWithoutHash: string): string {
  return createHash('sha256').update(`${lineBefore}\n${lineWithoutHash}`, 'utf8').digest('hex');
}

export const headerLine = (header: ManifestHeader): string => chainedLine('', { format: MANIFEST_FORMAT, ...header });

/** A value as a line of the chain: its members, then `hash`. The value has at least one member and none of that name. */
export function chainedLine(lineBefore: string, value: object): string {
  const text = stringifyExact(value);
  return `${text.slice(0, -1)},"hash":"${chainHash(lineBefore, text)}"}`;
}

/** Runs by class, and those with results of other runs, counted one at a time. */
export class RunCounter {
  readonly #counts = new Map<string, number>();
  #reused = 0;

  add({ class: name, reused_from: origin }: Pick<ManifestRun, 'class' | 'reused_from'>): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    if (origin !== undefined) this.#reused++;
  }

  count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** How the counts differ from the header's, in words; undefined when they agree. */
  difference({ counts, reused }: Pick<ManifestHeader, 'counts' | 'reused'>): string | undefined {
    const expected = new Map(Object.entries(counts));
    for (const name of new Set([...expected.keys(), ...this.#counts.keys()])) {
      const [wanted, found] = [expected.get(name) ?? 0, this.#counts.get(name) ?? 0];
      if (wanted !== found) return `the header says ${wanted} runs are ${name}, there are ${found}`;
    }
    if (reused === undefined || reused === this.#reused) return undefined;
    return `the header says ${reused} runs have results of other runs, there are ${this.#reused}`;
  }
}
