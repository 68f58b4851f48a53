/** The histories of a reported run: checked against its study, and put beside its result in the same turn. */
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { historyName, pointCount } from '../../domain/histories/points.ts';
import { readHistory } from '../../domain/histories/values.ts';
import type { BatchConfig, Fault, OutcomeReport, Uuid } from '../../contract/types.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Turn } from '../kernel/turn/turn.ts';

/** The values of each history of a run, in base64 as they are stored, by its place in the study. */
export type StoredHistories = readonly string[];

const MEMBER = '/result/histories';

/**
 * The histories of a report; undefined where it has none.
 * @throws SimbatchError `invalid-request` for a history of another length or name or without base64, and for a part of them
 */
export function reportedHistories(
  { histories: declared }: Pick<BatchConfig, 'histories'>,
  { job_id: jobId, result }: OutcomeReport,
): StoredHistories | undefined {
  const given = result?.histories;
  if (given === undefined) return undefined;
  const names = (declared ?? []).map(historyName);
  const faults: Fault[] = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => ({
      pointer: MEMBER + pointerToken(name),
      detail: `is not a history of the study; report ${names.join(', ') || 'none'}`,
    }));
  const stored = (declared ?? []).map((history, place) => {
    const name = names[place]!;
    const pointer = MEMBER + pointerToken(name);
    const text = Object.hasOwn(given, name) ? given[name] : undefined;
    const bytes = text === undefined ? 'is missing; report every history of the study' : read(text, history);
    if (typeof bytes !== 'string') return bytes.toString('base64');
    faults.push({ pointer, detail: bytes });
    return '';
  });
  const [first] = faults;
  if (first === undefined) return stored.length === 0 ? undefined : stored;
  const message = `the report of run ${jobId} is refused: ${first.pointer} ${first.detail}`;
  throw new SimbatchError('invalid-request', message, { faults });
}

const read = (text: string, { at }: NonNullable<BatchConfig['histories']>[number]): Buffer | string =>
  readHistory(text, pointCount(at));

/** Puts the histories of an ended run. */
export function putHistories(turn: Turn, jobId: Uuid, histories: StoredHistories): void {
  for (const [place, values] of histories.entries())
    turn.put(keys.history(batchIdOf(jobId), place, runIdOf(jobId)), values);
}

/** True where these are the stored histories of the run. */
export const areStored = (turn: Turn, jobId: Uuid, histories: StoredHistories): boolean =>
  histories.every((it, place) => turn.read(keys.history(batchIdOf(jobId), place, runIdOf(jobId))) === it);
