/** What a replay found: how much it replayed, and where the record and the machines part. */
import { same } from './actor-player.ts';

/** A place where the record and what the machines do now part. */
export interface Divergence {
  /** `step 3`, `turn 12`, the address of an actor. */
  where: string;
  detail: string;
}

export interface ReplayReport {
  actors: number;
  events: number;
  /** Attempts so old that the record only counts them: taken on trust. */
  attemptsOmitted: number;
  partings: Divergence[];
  /** How many more there are than are listed. */
  partingsOmitted: number;
}

const MAX_PARTINGS = 100;

/** Gathers what a replay finds. */
export class DivergenceLog {
  readonly report: ReplayReport = { actors: 0, events: 0, attemptsOmitted: 0, partings: [], partingsOmitted: 0 };

  part(where: string, detail: string): void {
    if (this.report.partings.length < MAX_PARTINGS) this.report.partings.push({ where, detail });
    else this.report.partingsOmitted += 1;
  }

  /** Notes where two values differ, member by member where they are objects. */
  compare(where: string, what: string, recorded: unknown, now: unknown): void {
    if (same(recorded, now)) return;
    if (isPlainObject(recorded) && isPlainObject(now)) {
      for (const name of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
        const path = what === '' ? name : `${what}.${name}`;
        this.compare(where, path, recorded[name], now[name]);
      }
      return;
    }
    this.part(where, `${what === '' ? 'the state' : what} is ${shown(recorded)} in the record and ${shown(now)} now`);
  }
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (value: unknown): string => {
  const text = value === undefined ? 'absent' : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
};
