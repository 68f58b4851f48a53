/** The report of a replay: how much it replayed, and each divergence of the machines from the record. */
import { isJsonObject } from '../../base/json/json-object.ts';
import { same } from '../../../machines/actor-player.ts';

/** One difference between the record and the machines of today. */
export interface Divergence {
  /** `step 3`, `turn 12`, the address of an actor. */
  where: string;
  detail: string;
}

export interface ReplayReport {
  actors: number;
  events: number;
  /** Old attempts that the record only counts, so that they cannot be replayed. */
  attemptsOmitted: number;
  divergences: Divergence[];
  /** The number of divergences that are not listed. */
  divergencesOmitted: number;
}

const MAX_DIVERGENCES = 100;

/** Collects the divergences of a replay. */
export class DivergenceLog {
  readonly report: ReplayReport = { actors: 0, events: 0, attemptsOmitted: 0, divergences: [], divergencesOmitted: 0 };

  add(where: string, detail: string): void {
    if (this.report.divergences.length < MAX_DIVERGENCES) this.report.divergences.push({ where, detail });
    else this.report.divergencesOmitted += 1;
  }

  /** Records each difference of two values, member by member where they are objects. */
  compare(where: string, what: string, recorded: unknown, now: unknown): void {
    if (same(recorded, now)) return;
    if (isJsonObject(recorded) && isJsonObject(now)) {
      for (const name of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
        const path = what === '' ? name : `${what}.${name}`;
        this.compare(where, path, recorded[name], now[name]);
      }
      return;
    }
    this.add(where, `${what === '' ? 'the state' : what} is ${shown(recorded)} in the record and ${shown(now)} now`);
  }
}

const shown = (value: unknown): string => {
  const text = value === undefined ? 'absent' : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
};
