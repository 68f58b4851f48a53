/** Stores a round within a turn: its record, its rows, its key, and the growth of the study. */
import type { RARE_EVENT_ALGORITHM } from '../../contract/enums.ts';
import type { AppendedRound, BatchContext, RareDecision, RoundRecord, Uuid } from '../../contract/types.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { RowShape } from '../../domain/adaptive/rows.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { RunSelection } from '../../domain/runs/run-selection.ts';
import { missingRecord } from '../kernel/actors/actor-kinds.ts';
import type { RecordSource } from '../kernel/actors/directory.ts';
import { batchOrThrow } from '../kernel/records/lookup.ts';
import { recordDigest } from '../kernel/records/stored-rounds.ts';
import { timestamp } from '../kernel/records/to-resource.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Turn } from '../kernel/turn/turn.ts';

/** A round to store. */
interface NewRound {
  key: string | null;
  label: string | null;
  note: string | null;
  count: number;
  digest: string;
  /** The records of its blocks of rows. */
  records: readonly string[];
  /** Of a round that the coordinator has decided; absent: a client's. */
  own?: { source: typeof RARE_EVENT_ALGORITHM; decision: RareDecision };
}

/** Stores a round as the next one of a study that takes it. */
export function storeRound(turn: Turn, batchId: Uuid, given: NewRound): RoundRecord {
  const { key, label, note, count, digest, own } = given;
  const { rounds = 0, totalJobs } = batchOrThrow(turn, batchId).context;
  turn.send('batch', batchId, { type: 'APPEND', count, now: turn.now });
  const record: RoundRecord = {
    round: rounds,
    first_run_id: totalJobs,
    count,
    space: own === undefined ? 'parameters' : 'normal',
    source: own?.source ?? 'external',
    key,
    digest,
    previous: recordDigest(recordBefore(turn, batchId, rounds)),
    label,
    appended_at: timestamp(turn.now),
    note,
    decision: own?.decision ?? null,
  };
  turn.put(keys.round(batchId, rounds), JSON.stringify(record));
  for (const [block, rows] of given.records.entries()) turn.put(keys.rows(batchId, rounds, block), rows);
  if (key !== null) turn.put(keys['round-key'](batchId, key), String(rounds));
  return record;
}

function recordBefore(source: RecordSource, batchId: Uuid, round: number): string {
  const key = round === 0 ? keys.submission(batchId) : keys.round(batchId, round - 1);
  const record = source.read(key);
  if (record === undefined) throw missingRecord(key);
  return record;
}

/** Refuses rounds of clients in a study whose rounds the coordinator decides. @throws SimbatchError `not-external` */
export function refuseOwnRounds(batchId: Uuid, { space }: RowShape): void {
  if (space === 'parameters') return;
  throw new SimbatchError(
    'not-external',
    `the coordinator appends the rounds of study ${batchId} (algorithm: rare_event); clients append to studies with the algorithm external`,
  );
}

/** Refuses a round of so many runs. @throws SimbatchError `study-closed`, `budget-exhausted` */
export function refuseIfClosed({ growing, rounds = 0, totalJobs, budget = 0 }: BatchContext, count: number): void {
  if (growing === undefined) {
    throw new SimbatchError('study-closed', 'the study is closed, cancelled or has ended: it takes no further rounds');
  }
  const left = budget - totalJobs;
  if (count > left) {
    throw new SimbatchError(
      'budget-exhausted',
      `the round has ${count} runs, and ${left} of the ${budget} runs of the study are left; nothing was appended`,
    );
  }
  if (rounds >= LIMITS.rounds) {
    throw new SimbatchError('budget-exhausted', `the study has ${rounds} rounds, the most that one may have`);
  }
}

/** A stored round, as the answer of an append has it. */
export const appended = ({
  round,
  first_run_id: first,
  count,
  digest,
}: RoundRecord): Omit<AppendedRound, 'repeated'> => ({
  round,
  first_run_id: first,
  count,
  run_ids: RunSelection.between(first, first + count).toString(),
  digest,
});
