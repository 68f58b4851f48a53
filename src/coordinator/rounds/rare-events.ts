/**
 * The rounds of studies of rare events: when all runs of a round have ended, the next one is computed in the analysis worker and appended in one
 * turn, once. A round that was computed twice, as after a crash, is found in its place and dropped. Nothing but the rounds is stored: they follow
 * from the submission and the results.
 */
import type { Fact } from '../../../machines/protocol.ts';
import { RARE_EVENT_ALGORITHM } from '../../contract/enums.ts';
import type { Uuid } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Answers } from '../answers/answers.ts';
import type { RareOutcome } from '../answers/worker/rare-rounds.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import { batchOrThrow } from '../kernel/records/lookup.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import type { RoundProgress } from './round-progress.ts';
import { storeRound } from './store-round.ts';

interface RareEventParts {
  turns: Turns;
  directory: Directory;
  studyCache: StudyCache;
  roundProgress: RoundProgress;
  answers: Answers;
}

export class RareEvents {
  readonly #parts: RareEventParts;
  readonly #report: (error: unknown) => void;
  /** Studies whose next round is being computed. */
  readonly #running = new Map<Uuid, Promise<void>>();
  /** Studies that have changed meanwhile. */
  readonly #changed = new Set<Uuid>();
  /** Studies whose round could not be computed. */
  readonly #failed = new Set<Uuid>();
  /** Studies whose rounds cannot be computed by this version; each is reported once. */
  readonly #broken = new Set<Uuid>();
  readonly #stopListening: () => void;
  #isStopped = false;

  /** `failed`: called when a round cannot be computed; it is tried again at the next tick. */
  constructor(parts: RareEventParts, failed: (error: unknown) => void) {
    this.#parts = parts;
    this.#report = failed;
    this.#stopListening = parts.roundProgress.onComplete(({ batchId }) => this.#wake(batchId));
  }

  /** Takes over the open studies after a restart. */
  restore(): void {
    for (const activation of this.#parts.directory.batches.values()) this.#wake(stateOf(activation).context.batchId);
  }

  committed(facts: readonly Fact[]): void {
    for (const fact of facts)
      if (fact.type === 'batch.opened' || fact.type === 'batch.extended') this.#wake(fact.batchId);
  }

  tick(): void {
    const failed = [...this.#failed];
    this.#failed.clear();
    for (const batchId of failed) this.#wake(batchId);
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening();
    await Promise.all(this.#running.values());
  }

  #wake(batchId: Uuid): void {
    if (this.#isStopped || this.#broken.has(batchId)) return;
    if (this.#running.has(batchId)) {
      this.#changed.add(batchId);
      return;
    }
    if (!this.#isDue(batchId)) return;
    const running = this.#advance(batchId)
      .catch((error: unknown) => {
        if (this.#isStopped) return;
        this.#failed.add(batchId);
        // The coordinator ends, or a crash of the worker is reported by its thread.
        if (!(error instanceof SimbatchError && error.code === 'unavailable')) this.#report(error);
      })
      .finally(() => {
        this.#running.delete(batchId);
        if (this.#changed.delete(batchId)) this.#wake(batchId);
      });
    this.#running.set(batchId, running);
  }

  /** True for a growing study of rare events of which no round is open. */
  #isDue(batchId: Uuid): boolean {
    const { directory, studyCache, roundProgress } = this.#parts;
    const state: BatchState | undefined = directory.state('batch', batchId);
    if (state?.context.growing !== true) return false;
    const { rounds = 0 } = state.context;
    if (rounds > 0 && !roundProgress.isComplete(batchId, rounds - 1)) return false;
    return studyCache.of(state.context).submission.config.adaptive?.algorithm === 'rare_event';
  }

  async #advance(batchId: Uuid): Promise<void> {
    const outcome = await this.#parts.answers.nextRareRound(batchId);
    if (this.#isStopped || outcome.kind === 'wait') return;
    if (outcome.kind === 'broken') {
      this.#broken.add(batchId);
      throw new SimbatchError(
        'internal',
        `the next round of study ${batchId} cannot be computed: its ${outcome.rounds} rounds do not follow from its results by this version; submit the study anew`,
      );
    }
    await this.#parts.turns.run('append-rare-round', (turn) => append(turn, batchId, outcome));
  }
}

/** Appends the round, or closes the study, unless another round is in its place or the study takes none any more. */
function append(turn: Turn, batchId: Uuid, outcome: Extract<RareOutcome, { kind: 'round' | 'end' }>): void {
  const { growing, rounds = 0 } = batchOrThrow(turn, batchId).context;
  const place = outcome.kind === 'round' ? outcome.round : outcome.rounds;
  if (growing !== true || rounds !== place) return;
  if (outcome.kind === 'end') {
    turn.trySend('batch', batchId, { type: 'CLOSE', now: turn.now });
    return;
  }
  const { count, digest, records, decision } = outcome;
  storeRound(turn, batchId, {
    key: null,
    label: null,
    note: null,
    count,
    digest,
    records,
    own: { source: RARE_EVENT_ALGORITHM, decision },
  });
}
