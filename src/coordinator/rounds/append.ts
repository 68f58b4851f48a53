/**
 * Appends a round of runs to an adaptive study. Every append is safe to repeat: its key or its number finds the stored round, which is
 * answered before the state of the study is looked at. The rows are read, packed and hashed in slices; the turn only compares and stores.
 */
import type { AppendedRound, Batch, BatchContext, RoundRecord, Uuid } from '../../contract/types.ts';
import { readRoundRequest, type RoundRequest } from '../../domain/adaptive/round-request.ts';
import {
  digestOfRound,
  encodeBlock,
  firstDifference,
  withDraws,
  type RowBlock,
  type RowShape,
} from '../../domain/adaptive/rows.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { missingRecord } from '../kernel/actors/actor-kinds.ts';
import type { Directory, RecordSource } from '../kernel/actors/directory.ts';
import { batchOrThrow } from '../kernel/records/lookup.ts';
import { readBlocks, readRound } from '../kernel/records/stored-rounds.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import { toBatch } from '../kernel/records/to-resource.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { GroupCommit } from '../kernel/turn/group-commit.ts';
import { byActor } from '../kernel/turn/acting-turns.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import { appended, refuseIfClosed, refuseOwnRounds, storeRound } from './store-round.ts';

interface AppendParts {
  turns: Turns;
  directory: Directory;
  groupCommit: GroupCommit;
  studyCache: StudyCache;
  share: EventLoopShare;
}

/** The rows as they are stored when the round begins with this run. */
interface PackedRows {
  firstRunId: number;
  blocks: readonly RowBlock[];
  digest: string;
  records: readonly string[];
}

/** The stored round that the request names, with the error for other rows than its own. */
interface Known {
  stored: RoundRecord;
  code: 'round-key-reused' | 'round-taken';
}

/**
 * Appends a round, or returns the stored one of the same key or number and the same rows.
 * @throws SimbatchError `invalid-request` with all faults; `round-key-reused`, `round-taken`, `round-out-of-order`, `budget-exhausted`,
 * `study-closed`, `not-external`
 */
export async function appendRound(parts: AppendParts, batchId: Uuid, body: unknown): Promise<AppendedRound> {
  const { share, directory, groupCommit, turns } = parts;
  const pause = (): Promise<void> | undefined => share.slice();
  const { rows: design } = parts.studyCache.of(contextOf(directory, batchId));
  if (design === undefined) {
    throw new SimbatchError(
      'not-external',
      `study ${batchId} has a fixed number of runs; rounds are for studies with sampling_method: adaptive`,
    );
  }
  refuseOwnRounds(batchId, design);
  const request = await readRoundRequest(body, design, pause);
  const { names } = design;
  const rows = new RowsOfRequest(request, design, pause);
  for (;;) {
    const packed = await rows.packed(contextOf(directory, batchId).totalJobs);
    const outcome = await turns.run('append-round', (turn) => append(turn, batchId, request, packed));
    // The study has grown meanwhile, and draws of rows without one are those of other runs.
    if (outcome === undefined) continue;
    if (!('stored' in outcome)) return outcome;
    const { stored, code } = outcome;
    const compared = await rows.packed(stored.first_run_id);
    if (compared.digest === stored.digest) return { ...appended(stored), repeated: true };
    const storedBlocks: RowBlock[] = [];
    for (const block of readBlocks(groupCommit, batchId, stored, names.length)) {
      storedBlocks.push(block);
      await pause();
    }
    throw differs(code, stored, request, firstDifference(names, compared.blocks, storedBlocks, stored.first_run_id));
  }
}

const contextOf = (directory: Directory, batchId: Uuid): BatchContext =>
  batchOrThrow({ state: (kind, id) => directory.state(kind, id) }, batchId).context;

/** Packs the rows of a request; anew only where draws depend on the first run. */
class RowsOfRequest {
  readonly #request: RoundRequest;
  readonly #shape: RowShape;
  readonly #pause: () => Promise<void> | undefined;
  #packed: PackedRows | undefined;

  constructor(request: RoundRequest, shape: RowShape, pause: () => Promise<void> | undefined) {
    this.#request = request;
    this.#shape = shape;
    this.#pause = pause;
  }

  async packed(firstRunId: number): Promise<PackedRows> {
    const { draws, blocks: given } = this.#request;
    const isFixed = draws === undefined || !draws.includes(null);
    const known = this.#packed;
    if (known !== undefined && (isFixed || known.firstRunId === firstRunId)) return { ...known, firstRunId };
    const blocks = draws === undefined ? given : withDraws(given, draws, firstRunId);
    const digest = await digestOfRound(this.#shape, blocks, this.#pause);
    const records: string[] = [];
    for (const block of blocks) {
      const later = records.length === 0 ? undefined : this.#pause();
      if (later !== undefined) await later;
      records.push(encodeBlock(block));
    }
    this.#packed = { firstRunId, blocks, digest, records };
    return this.#packed;
  }
}

/** Stores the round, or returns the stored one. Undefined where the rows are packed for another first run. */
function append(
  turn: Turn,
  batchId: Uuid,
  request: RoundRequest,
  packed: PackedRows,
): AppendedRound | Known | undefined {
  const { context } = batchOrThrow(turn, batchId);
  const { rounds = 0, totalJobs } = context;
  const known = knownRound(turn, batchId, request, rounds);
  if (known !== undefined) return known;
  refuseIfClosed(context, request.count);
  if (totalJobs !== packed.firstRunId) return undefined;
  return { ...appended(storeRound(turn, batchId, { ...request, ...packed })), repeated: false };
}

/** The stored round that the request repeats; a known key decides first. */
function knownRound(turn: Turn, batchId: Uuid, { key, round }: RoundRequest, next: number): Known | undefined {
  const named = key === null ? undefined : turn.read(keys['round-key'](batchId, key));
  if (named !== undefined) {
    const stored = storedRound(turn, batchId, Number(named));
    if (round === null || round === stored.round) return { stored, code: 'round-key-reused' };
    throw new SimbatchError(
      'round-key-reused',
      `the key ${JSON.stringify(key)} names round ${stored.round}, and the request says round ${round}; give another key, or round ${stored.round}`,
    );
  }
  if (round === null || round === next) return undefined;
  if (round > next) {
    throw new SimbatchError(
      'round-out-of-order',
      `the next round of the study is ${next}, and the request says ${round}`,
    );
  }
  const stored = storedRound(turn, batchId, round);
  if (key === null) return { stored, code: 'round-taken' };
  throw taken(stored, `the key ${JSON.stringify(key)} is new, and the next round is ${next}`);
}

const taken = ({ round, digest }: RoundRecord, why: string): SimbatchError =>
  new SimbatchError('round-taken', `round ${round} of the study is there with the digest ${digest}: ${why}`);

function storedRound(source: RecordSource, batchId: Uuid, round: number): RoundRecord {
  const stored = readRound(source, batchId, round);
  if (stored === undefined) throw missingRecord(`the round ${round} of study ${batchId}`);
  return stored;
}

/** The error for other rows under a known key or number, with the first place that differs. */
function differs(
  code: Known['code'],
  stored: RoundRecord,
  { key, count, byColumn }: RoundRequest,
  difference: ReturnType<typeof firstDifference>,
): SimbatchError {
  const { round, digest } = stored;
  let why = `the request has ${count} rows, and the stored round has ${stored.count}`;
  let pointer = '/rows';
  if (count === stored.count) {
    const { row, column } = difference ?? { row: 0, column: { draw: true as const } };
    const isDraw = typeof column !== 'string';
    const token = isDraw ? '' : pointerToken(column);
    pointer = isDraw ? `/draws/${row}` : byColumn ? `/columns${token}/${row}` : `/rows/${row}${token}`;
    why = `row ${row} differs first, in ${isDraw ? 'its draw' : JSON.stringify(column)}`;
  }
  const faults = [{ pointer, detail: 'differs from the stored round' }];
  if (code === 'round-taken') return new SimbatchError(code, taken(stored, why).message, { faults });
  const message = `the key ${JSON.stringify(key)} names round ${round} with the digest ${digest}: ${why}; give other rows another key`;
  return new SimbatchError(code, message, { faults });
}

/**
 * Closes an adaptive study: it takes no further rounds, and ends once its runs have. Closing a closed one changes nothing.
 * @throws SimbatchError `not-external` for a study whose number of runs is fixed
 */
export function closeBatch({ turns }: Pick<AppendParts, 'turns'>, batchId: Uuid): Promise<Batch> {
  return turns.run('close-batch', (turn) => {
    const { context } = batchOrThrow(turn, batchId);
    if (context.budget === undefined) {
      throw new SimbatchError('not-external', `study ${batchId} has a fixed number of runs, and ends by itself`);
    }
    turn.trySend('batch', batchId, { type: 'CLOSE', ...byActor(turn), now: turn.now });
    turn.deliverFacts();
    return toBatch(batchOrThrow(turn, batchId), (key) => turn.read(key));
  });
}
