/**
 * Detects studies of which no pending run can start until a person acts, from their findings. A study counts as blocked, and as
 * not blocked any more, after it was so in every look for the dwell time, so that the announcement does not flap.
 */
import type { BlockingFinding } from '../../../machines/protocol.ts';
import { activeRuns, pendingRuns, type BatchContext } from '../../../machines/batch.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { Finding, Uuid } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Turns } from '../kernel/turn/turn.ts';

/** The time between two looks at the open studies. */
const LOOK_EVERY_MS = 10_000;
/** A study is announced as blocked after it was blocked for this time, and again only after it was not for this time. */
export const BLOCKED_DWELL_MS = 60_000;
/** The most studies whose findings are read in one look; the next look continues with the others. */
const MOST_READ = 100;

interface Parts {
  clock: Clock;
  share: EventLoopShare;
  turns: Turns;
  openBatches(): Iterable<BatchContext>;
  findings(batchId: Uuid): Promise<Finding[]>;
  failed(error: unknown): void;
}

/** A study with active runs is not blocked: its findings need not be read. */
const isCandidate = (it: BatchContext): boolean => pendingRuns(it) > 0 && activeRuns(it) === 0;

export class BlockedStudies {
  readonly #parts: Parts;
  /** Since when a study is other than announced. */
  readonly #since = new Map<Uuid, number>();
  /** The studies whose findings were read in the running round. */
  readonly #read = new Set<Uuid>();
  #lookAtMs = -Infinity;
  #looking: Promise<void> | undefined;
  #isStopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Begins a look when it is due and none is running. */
  tick(): void {
    const now = this.#parts.clock.now();
    if (this.#isStopped || this.#looking !== undefined || now < this.#lookAtMs) return;
    this.#lookAtMs = now + LOOK_EVERY_MS;
    this.#looking = this.#look()
      .catch((error: unknown) => {
        const isStopping = error instanceof SimbatchError && error.code === 'unavailable';
        if (!isStopping) this.#parts.failed(error);
      })
      .finally(() => (this.#looking = undefined));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#looking;
  }

  async #look(): Promise<void> {
    const open = new Map([...this.#parts.openBatches()].map((it) => [it.batchId, it]));
    for (const batchId of this.#since.keys()) if (!open.has(batchId)) this.#since.delete(batchId);
    const mayBeBlocked = [...open.values()].filter(isCandidate);
    if (mayBeBlocked.every((it) => this.#read.has(it.batchId))) this.#read.clear();
    const read = new Set(mayBeBlocked.filter((it) => !this.#read.has(it.batchId)).slice(0, MOST_READ));
    for (const batch of read) this.#read.add(batch.batchId);
    for await (const batch of this.#parts.share.paced([...open.values()])) {
      if (this.#isStopped) return;
      if (read.has(batch)) await this.#note(batch, await this.#blockingFinding(batch.batchId));
      else if (!isCandidate(batch)) await this.#note(batch, undefined);
    }
  }

  /** A pause is a person's wish and is not announced. */
  async #blockingFinding(batchId: Uuid): Promise<BlockingFinding | undefined> {
    const findings = await this.#parts.findings(batchId).catch((error: unknown) => {
      if (error instanceof SimbatchError && error.code === 'unknown-batch') return [];
      throw error;
    });
    if (findings.some((it) => it.code === 'paused')) return undefined;
    const found = findings.find((it) => it.severity === 'blocked');
    return found && { code: found.code, message: found.message, remedy: found.remedy };
  }

  async #note({ batchId, blockedAtMs }: BatchContext, finding: BlockingFinding | undefined): Promise<void> {
    const { clock, turns } = this.#parts;
    if ((finding !== undefined) === (blockedAtMs !== undefined)) {
      this.#since.delete(batchId);
      return;
    }
    const since = this.#since.get(batchId) ?? clock.now();
    this.#since.set(batchId, since);
    if (clock.now() - since < BLOCKED_DWELL_MS) return;
    this.#since.delete(batchId);
    await turns.run('watch-blocked', (turn) => {
      const { now } = turn;
      if (turn.state('batch', batchId) === undefined) return;
      turn.trySend(
        'batch',
        batchId,
        finding === undefined ? { type: 'UNBLOCK', now } : { type: 'BLOCK', finding, now },
      );
    });
  }
}
