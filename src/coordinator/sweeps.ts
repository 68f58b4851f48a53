/**
 * Forgets, once an hour, what has been kept for its time: studies, runners, notifications, idempotency keys, abandoned uploads. A clock that is wrong must not delete what is
 * younger: when it is far ahead of the last instant that the store knows, an operator has an hour to set it right.
 */
import { decodeBatch, decodeRunner } from './kernel/actors/actor-kinds.ts';
import { allOf, keys } from './kernel/storage/keys.ts';
import type { Store } from './kernel/storage/store.ts';
import { forgetOldKeys } from './kernel/turn/idempotency.ts';
import { SweepTimes, type ClockLeap } from '../domain/retention/sweep-times.ts';
import type { CoordinatorParts } from './lifecycle.ts';
import { AbandonedUploads } from './files/object-store/abandoned-uploads.ts';
import { sweepNotifications } from './notifications/list.ts';
import type { Part } from './parts.ts';
import { sweepRunners } from './pool/departures.ts';
import { sweepStudies } from './studies/deletions.ts';

/** The last instant at which deletion was allowed, as text of milliseconds. */
const INSTANT_KEY = keys.meta('instant');

export class Sweeps implements Part {
  readonly #parts: CoordinatorParts;
  readonly #leapt: (leap: ClockLeap | undefined) => void;
  readonly #uploads: AbandonedUploads;
  #times: SweepTimes | undefined;

  /**
   * @param leapt called with a leap that was found at the start, and without one when deletion begins after it.
   * @param uploadsSwept see `CoordinatorHooks`.
   */
  constructor(
    parts: CoordinatorParts,
    leapt: (leap: ClockLeap | undefined) => void,
    uploadsSwept: (bucket: string, aborted: number, error?: unknown) => void,
  ) {
    this.#parts = parts;
    this.#leapt = leapt;
    this.#uploads = new AbandonedUploads(parts, uploadsSwept);
  }

  async restore(): Promise<void> {
    const { clock, store } = this.#parts;
    const nowMs = clock.now();
    const noted = store.get(INSTANT_KEY);
    this.#times = new SweepTimes(noted === undefined ? await latestInstant(store) : Number(noted), nowMs);
    if (this.#times.leap !== undefined) this.#leapt(this.#times.leap);
  }

  async tick(now: number): Promise<void> {
    const hasLeapt = this.#times?.leap !== undefined;
    if (this.#times?.begin(now) !== true) return;
    const parts = this.#parts;
    // Not before: a restart within the wait must wait again. In the same store as what is deleted, so that a crash or a power failure keeps or loses both.
    await parts.turns.run('note-instant', (turn) => turn.put(INSTANT_KEY, String(now)));
    if (hasLeapt) this.#leapt(undefined);
    await forgetOldKeys(parts);
    // After the running purges: a tick does not wait for it.
    parts.purges.run(async () => {
      await sweepStudies(parts);
      await sweepRunners(parts);
      await sweepNotifications(parts);
      await this.#uploads.sweep();
    });
  }
}

/** The latest instant of a study or a runner, for a store of a version that noted none; without any of them the future: there is nothing to delete. */
async function latestInstant(store: Store): Promise<number> {
  let latestMs = -Infinity;
  const view = store.snapshot();
  try {
    // A damaged study is left out: an earlier instant deletes nothing sooner.
    for await (const chunk of view.entries(allOf('batch'), { onDamage: () => {} })) {
      for (const [, record] of chunk) {
        const { createdAtMs, endedAtMs } = decodeBatch(record).context;
        latestMs = Math.max(latestMs, createdAtMs, endedAtMs ?? 0);
      }
    }
    for await (const chunk of view.entries(allOf('runner'))) {
      for (const [, record] of chunk) latestMs = Math.max(latestMs, decodeRunner(record).context.lastHeartbeatMs);
    }
  } finally {
    await view.close();
  }
  return latestMs === -Infinity ? Infinity : latestMs;
}
