/** The batches of a table in the analysis worker, and its rows: every run of each, or one of each run of a family. */
import type { BatchSubmission, JobStatus, TerminationCondition } from '../../../../contract/types.ts';
import type { RoundLookup } from '../../../../domain/adaptive/rows.ts';
import type { RunSelection } from '../../../../domain/runs/run-selection.ts';
import { replicateRunsOf } from '../../../../domain/sampling/replicates.ts';
import type { Sampler } from '../../../../domain/sampling/run-values.ts';
import type { ReadingHead, RowKind } from '../../row-readings.ts';
import { type NextRows, runBlocks, StoredRun } from '../runs.ts';
import { studyOf } from '../study.ts';

/** A batch with its design. */
export interface Member {
  head: ReadingHead;
  /** The place of the batch among the members. */
  place: number;
  replicate: number;
  /** The runs of each replicate of a batch that has several. */
  replicateRuns: number | undefined;
  selection: RunSelection;
  sampler: Sampler;
  /** The rounds of an adaptive study. */
  rounds: RoundLookup | undefined;
  submission: BatchSubmission;
  /** The conditions that may have ended a run early. */
  conditions: readonly TerminationCondition[];
  next: NextRows;
}

/** Rows are read and passed on in blocks of at most about this many. */
const BLOCK = 500;

/** The run with the highest rank counts among the runs with one id in a family: a cancelled rerun does not hide the run before it. */
const RANKS: Readonly<Record<JobStatus, number>> = {
  Completed: 2,
  Failed: 2,
  Timeout: 2,
  Cancelled: 1,
  Pending: 0,
  Claimed: 0,
  Running: 0,
};

/** A run of a member. */
export interface Row {
  member: Member;
  /** Without records for a run that was never claimed. */
  run: StoredRun;
}

/** The state of a run. */
export const statusOf = ({ member, run }: Row): JobStatus =>
  run.job?.value ?? (member.head.isCancelled ? 'Cancelled' : 'Pending');

/** The replicate of a run of a member. */
export const replicateOf = ({ replicate, replicateRuns }: Member, runId: number): number =>
  replicateRuns === undefined ? replicate : Math.floor(runId / replicateRuns);

/** The members in the order of rows: by replicate, then by age. */
export function membersOf(heads: readonly ReadingHead[], nextOf: (head: ReadingHead) => NextRows): Member[] {
  const members = heads.map((head) => {
    const { submission, selection, sampler } = studyOf(head);
    const { enabled, conditions } = submission.config.early_termination;
    const replicate = submission.config.monte_carlo.replicate ?? 0;
    const rules = enabled ? conditions : [];
    const { rounds } = head;
    const replicateRuns = replicateRunsOf(submission.config.monte_carlo);
    return {
      head,
      replicate,
      replicateRuns,
      selection,
      sampler,
      rounds,
      submission,
      conditions: rules,
      next: nextOf(head),
    };
  });
  members.sort((a, b) => a.replicate - b.replicate || (a.head.batchId < b.head.batchId ? -1 : 1));
  return members.map((it, place) => ({ ...it, place }));
}

/**
 * The rows of the members in ascending order of (replicate, run id), in blocks. Where several members have the same run, the latest
 * that ended counts, or else the latest cancelled, or else the latest. `kinds` are the records that are read; a family always needs those of jobs. `from`: the
 * first run id, for a reading that was restarted there.
 */
export async function* rowBlocks(
  members: readonly Member[],
  kinds: readonly RowKind[],
  from = { replicate: 0, runId: 0 },
): AsyncGenerator<Row[]> {
  for (const group of replicatesOf(members)) {
    const [first] = group;
    if (first === undefined || first.replicate < from.replicate) continue;
    const start = first.replicate === from.replicate ? from.runId : 0;
    if (group.length === 1) yield* memberBlocks(first, kinds, start);
    else yield* mergedBlocks(group, [...new Set<RowKind>(['job', ...kinds])], start);
  }
}

function replicatesOf(members: readonly Member[]): Member[][] {
  const groups = new Map<number, Member[]>();
  for (const it of members) groups.set(it.replicate, [...(groups.get(it.replicate) ?? []), it]);
  return [...groups.values()];
}

async function* memberBlocks(member: Member, kinds: readonly RowKind[], from: number): AsyncGenerator<Row[]> {
  const { selection, next } = member;
  let index = selection.indexFrom(from);
  function* untouched(end: number): Generator<Row[]> {
    while (index < end) {
      const block: Row[] = [];
      for (; index < end && block.length < BLOCK; index++)
        block.push({ member, run: new StoredRun(selection.nth(index)) });
      yield block;
    }
  }
  if (kinds.length > 0) {
    for await (const stored of runBlocks(next, kinds)) {
      let block: Row[] = [];
      for (const run of stored) {
        const end = selection.indexFrom(run.runId);
        if (index < end) {
          if (block.length > 0) yield block;
          block = [];
          yield* untouched(end);
        }
        block.push({ member, run });
        index = end + 1;
      }
      if (block.length > 0) yield block;
    }
  }
  yield* untouched(selection.count);
}

/** One row for each run id of any member. */
async function* mergedBlocks(
  members: readonly Member[],
  kinds: readonly RowKind[],
  from: number,
): AsyncGenerator<Row[]> {
  const cursors = members.map((it) => new Cursor(memberBlocks(it, kinds, from)));
  let block: Row[] = [];
  try {
    for (;;) {
      for (const it of cursors) if (it.isUsedUp) await it.fill();
      const runId = Math.min(...cursors.map((it) => it.row?.run.runId ?? Infinity));
      if (runId === Infinity) break;
      let chosen: Row | undefined;
      for (const it of cursors) {
        const { row } = it;
        if (row?.run.runId !== runId) continue;
        if (chosen === undefined || RANKS[statusOf(row)] >= RANKS[statusOf(chosen)]) chosen = row;
        it.drop();
      }
      block.push(chosen!);
      if (block.length < BLOCK) continue;
      yield block;
      block = [];
    }
    if (block.length > 0) yield block;
  } finally {
    for (const it of cursors) await it.close();
  }
}

/** The rows of a member with the first one in view. */
class Cursor {
  readonly #blocks: AsyncGenerator<Row[]>;
  #block: Row[] = [];
  #at = 0;
  #isOver = false;

  constructor(blocks: AsyncGenerator<Row[]>) {
    this.#blocks = blocks;
  }

  /** Undefined after the last one. */
  get row(): Row | undefined {
    return this.#block[this.#at];
  }

  get isUsedUp(): boolean {
    return this.row === undefined && !this.#isOver;
  }

  async fill(): Promise<void> {
    const step = await this.#blocks.next();
    this.#at = 0;
    this.#block = step.done === true ? [] : step.value;
    this.#isOver = step.done === true;
  }

  drop(): void {
    this.#at++;
  }

  async close(): Promise<void> {
    await this.#blocks.return(undefined);
  }
}
