/** The next round of a study of rare events: computed from its stored rounds and the results of its runs. */
import { CLASS_CODES, runClassOf } from '../../../analysis/table/run-class.ts';
import { replayed, type RareReplay } from '../../../analysis/rare/answer/replay.ts';
import { scoresUnder } from '../../../analysis/rare/answer/scores.ts';
import type { RareEnd } from '../../../contract/enums.ts';
import type { RareDecision, Uuid } from '../../../contract/types.ts';
import { mostFurtherRuns, rareRequirement, type RareSource } from '../../../domain/study/rare-event/settings.ts';
import { blockRows, digestOfRound, encodeBlock, type RowBlock } from '../../../domain/adaptive/rows.ts';
import { EXECUTION_SECS, executionSecsOf, numberOf, outputsOf } from '../../../domain/runs/outputs.ts';
import { reasonOf } from '../../../domain/runs/run-end.ts';
import { endingConditions } from '../../../domain/study/condition.ts';
import { decodeSubmission } from '../../kernel/records/study-cache.ts';
import type { ReadingHead, RowKind, RowsRequest } from '../row-readings.ts';
import { nextOf, runBlocks, type StoredRun } from './runs.ts';

/** A round to append as the next one of a study with so many rounds, or the end of its rounds. */
export type RareOutcome =
  | { kind: 'round'; round: number; count: number; digest: string; records: string[]; decision: RareDecision }
  | { kind: 'end'; rounds: number }
  /** A run of the last round has not ended. */
  | { kind: 'wait' }
  /** The stored rounds do not follow from the results. */
  | { kind: 'broken'; rounds: number };

/** The stored rounds of a study against those that are computed again. */
export interface RareCheck {
  /** Rounds that were computed again. */
  rounds: number;
  /** The greatest difference of a number, relative from 1 on. */
  largest: number;
  /** The first number that differs by more than 1e-9. */
  first: { round: number; run: number } | null;
}

/** How a study can be extended after its end. */
export interface RareExtension {
  /** Undefined for a study that was closed before its end. */
  reason: RareEnd | undefined;
  /** The least number of further runs; undefined where it cannot be extended. */
  least: number | undefined;
  most: number;
}

/** The readings that it takes; see `RowReadings`. */
export interface RareReadings {
  open(batchId: Uuid): Promise<ReadingHead>;
  rows(request: RowsRequest): Promise<Uint8Array>;
  withRounds(head: ReadingHead): Promise<ReadingHead>;
  close(reading: number): Promise<void>;
}

export class RareRounds {
  readonly #readings: RareReadings;

  constructor(readings: RareReadings) {
    this.#readings = readings;
  }

  /** Computes the next round of a study. */
  async next(batchId: Uuid): Promise<RareOutcome> {
    const { replay, rounds } = await this.#replayed(batchId);
    const { study, names } = replay;
    if (replay.isBroken) return { kind: 'broken', rounds };
    if (study.taken.rounds < rounds) return { kind: 'wait' };
    const round = study.next();
    if (round === undefined) return { kind: 'end', rounds };
    const blocks = blocksOf(round.rows, round.count, names.length);
    const digest = await digestOfRound({ space: 'normal', names }, blocks);
    return {
      kind: 'round',
      round: rounds,
      count: round.count,
      digest,
      records: blocks.map(encodeBlock),
      decision: decisionOf(replay),
    };
  }

  /** Computes all rounds again. */
  async check(batchId: Uuid): Promise<RareCheck> {
    const { replay, rounds, source } = await this.#replayed(batchId);
    // The rows of the open round are compared when they are read.
    replay.prefix(source.rounds, () => undefined);
    const { largest, first = null } = replay.difference;
    const { taken } = replay.study;
    const broken = replay.isBroken ? { round: taken.rounds, run: taken.runs } : first;
    return { rounds: replay.isBroken ? taken.rounds : rounds, largest, first: broken };
  }

  /** How a study that has ended can be extended. */
  async extension(batchId: Uuid): Promise<RareExtension> {
    const { study, isBroken } = (await this.#replayed(batchId)).replay;
    const { reason, leastExtension } = study;
    return { reason, least: isBroken ? undefined : leastExtension, most: mostFurtherRuns(study.settings, reason) };
  }

  async #replayed(batchId: Uuid): Promise<{ replay: RareReplay; rounds: number; source: RareSource }> {
    const opened = await this.#readings.open(batchId);
    const { reading } = opened;
    try {
      const head = await this.#readings.withRounds(opened);
      const source = rareSourceOf(head)!;
      const known = replayed(source, () => undefined);
      const scores = await this.#scores(head, source, known.study.taken.runs);
      return { replay: replayed(source, (run) => scores.get(run)), rounds: source.rounds.heads.length, source };
    } finally {
      await this.#readings.close(reading);
    }
  }

  /** The scores of the ended runs from a run on. */
  async #scores(head: ReadingHead, { submission }: RareSource, from: number): Promise<Map<number, number>> {
    const { reading, totalJobs, isCancelled } = head;
    const runIds = Uint32Array.from({ length: Math.max(0, totalJobs - from) }, (_, at) => from + at);
    const rows = (kind: RowKind, ids: Uint32Array): Promise<Uint8Array> =>
      this.#readings.rows({ reading, kind, runIds: ids });
    const { adaptive } = submission.config;
    const requirement = rareRequirement(adaptive!, submission.requirements ?? [])!;
    const scoreOf = scoresUnder(requirement, adaptive?.unknown ?? 'unknown');
    const hasRules = endingConditions(submission.config.early_termination).length > 0;
    const scores = new Map<number, number>();
    for await (const block of runBlocks(nextOf(runIds, rows))) {
      for (const run of block) {
        const { code, value, isLost } = endOf(run, requirement.output ?? '', hasRules);
        const score = scoreOf(code, value, isLost);
        if (score !== undefined) scores.set(run.runId, score);
      }
    }
    // Runs without a record are cancelled with their study.
    if (isCancelled) for (const run of runIds) if (!scores.has(run)) scores.set(run, Number.NaN);
    return scores;
  }
}

/** The study of a reading with its rounds, as it was submitted; undefined for another algorithm. */
export function rareSourceOf({ submission: record, rounds, extensions }: ReadingHead): RareSource | undefined {
  if (rounds === undefined) return undefined;
  const { submission, seed } = decodeSubmission(record);
  return submission.config.adaptive?.algorithm === 'rare_event' ? { submission, seed, rounds, extensions } : undefined;
}

/** The class, the value of the output and the loss of telemetry of a run, as the table of its study has them. */
function endOf(run: StoredRun, output: string, hasRules: boolean): { code: number; value: number; isLost: boolean } {
  const job = run.job!;
  const { result } = run;
  const code = CLASS_CODES[runClassOf(job.value, reasonOf(job))];
  const isLost = hasRules && (result?.telemetry?.lost ?? 0) > 0;
  if (result === undefined) return { code, value: Number.NaN, isLost };
  const reported = outputsOf(result.metadata).get(output);
  const given = reported === undefined && output === EXECUTION_SECS ? executionSecsOf(result) : numberOf(reported);
  return { code, value: given ?? Number.NaN, isLost };
}

function blocksOf(rows: Float64Array, count: number, width: number): RowBlock[] {
  const full = blockRows(width);
  return Array.from({ length: Math.ceil(count / full) }, (_, block) => {
    const size = Math.min(full, count - block * full);
    const from = block * full * width;
    return { rows: size, values: rows.slice(from, from + size * width) };
  });
}

/** Why the next round of a study is as it is. */
function decisionOf({ study }: RareReplay): RareDecision {
  const { phase, search, tuning, attempts, proposal, taken } = study;
  const inLevel = phase === 'search' && taken.rounds > 0;
  const level = search?.levels.length ?? 0;
  const known = tuning.at(-1)?.estimate ?? (study.found.length > 0 ? search!.estimate : null);
  return {
    phase,
    level: inLevel ? level : null,
    b: inLevel ? search!.levels[level - 1]!.b : null,
    lambda: inLevel ? search!.lambda : null,
    attempt: phase === 'confirm' ? attempts.length : null,
    components: phase === 'search' ? null : proposal!.components.length,
    estimate: known,
  };
}
