/** Reads the request for a round. */
import { INT32_MAX, LIMITS } from '../../contract/limits.ts';
import { Faults, membersOf, readRows, shown, textOf, type GivenRows, type RowDesign } from './given-rows.ts';
import type { Pause } from './rows.ts';

/** A request for a round that has no fault. */
export interface RoundRequest extends GivenRows {
  key: string | null;
  round: number | null;
  label: string | null;
  note: string | null;
  /** One a row, null where it gives none; undefined where no row gives one. */
  draws: readonly (number | null)[] | undefined;
}

const MEMBERS = ['key', 'round', 'rows', 'columns', 'draws', 'label', 'note'];

/** Reads a request. @throws SimbatchError `invalid-request` with the faults */
export async function readRoundRequest(
  body: unknown,
  design: RowDesign,
  pause: Pause = () => undefined,
): Promise<RoundRequest> {
  const faults = new Faults();
  const given = membersOf(body, MEMBERS, faults);
  const key = textOf(given, 'key', LIMITS.roundNameLength, faults);
  if (key === '') faults.add('/key', 'must not be empty');
  const label = textOf(given, 'label', LIMITS.roundNameLength, faults);
  const note = textOf(given, 'note', LIMITS.textLength, faults);
  const round = roundOf(given, faults);
  if (key === null && round === null && faults.list.length === 0) {
    faults.add('', 'has neither "key" nor "round"; give one, so that the request is safe to repeat');
  }
  const rows = await readRows(given, design, faults, pause);
  const draws = drawsOf(given['draws'], rows.count, design, faults);
  faults.throwIfAny();
  return { ...rows, key, round, label, note, draws };
}

function roundOf({ round = null }: Record<string, unknown>, faults: Faults): number | null {
  if (round === null) return null;
  if (Number.isInteger(round) && (round as number) >= 0 && (round as number) <= INT32_MAX) return round as number;
  faults.add('/round', `must be a whole number from 0, not ${shown(round)}`);
  return null;
}

function drawsOf(
  given: unknown,
  count: number,
  { draws: end }: RowDesign,
  faults: Faults,
): readonly (number | null)[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given)) {
    faults.add('/draws', `must be a list with one entry a row, not ${shown(given)}`);
    return undefined;
  }
  if (given.length !== count) {
    faults.add('/draws', `has ${given.length} entries for ${count} rows; give one a row, null where a row gives none`);
    return undefined;
  }
  for (const [index, draw] of (given as unknown[]).entries()) {
    if (draw === null) continue;
    if (!Number.isInteger(draw) || (draw as number) < 0 || (draw as number) >= end) {
      faults.add(`/draws/${index}`, `must be a whole number from 0 to ${end - 1}, or null, not ${shown(draw)}`);
    }
  }
  return given.some((draw) => draw !== null) ? (given as (number | null)[]) : undefined;
}
