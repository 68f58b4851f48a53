/** Studies that were made, one a line of a file: a long measurement continues where it was ended, and several processes share it. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Found } from './study.ts';

export const METHODS = ['rare_event', 'SubsetSampling', 'NAIS'] as const;
export type Method = (typeof METHODS)[number];

export interface Line extends Found {
  problem: string;
  d: number;
  method: Method;
  seed: number;
}

type Place = Pick<Line, 'problem' | 'd' | 'method' | 'seed'>;

const keyOf = ({ problem, d, method, seed }: Place): string => [problem, d, method, seed].join('/');

export class Lines {
  readonly #path: string | undefined;
  readonly #lines = new Map<string, Line>();

  /** `path`: the file, read now and appended to; without one the lines are in memory alone. */
  constructor(path: string | undefined) {
    this.#path = path;
    if (path === undefined || !existsSync(path)) return;
    for (const text of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
      const line = JSON.parse(text) as Line;
      this.#lines.set(keyOf(line), line);
    }
  }

  has(place: Place): boolean {
    return this.#lines.has(keyOf(place));
  }

  add(line: Line): void {
    this.#lines.set(keyOf(line), line);
    if (this.#path !== undefined) appendFileSync(this.#path, `${JSON.stringify(line)}\n`);
  }

  /** The studies of a problem by a method, in the order of their seeds. */
  of(place: Omit<Place, 'seed'>, studies: number): Line[] {
    return Array.from({ length: studies }, (_, at) => this.#lines.get(keyOf({ ...place, seed: at + 1 }))).flatMap(
      (it) => it ?? [],
    );
  }
}
