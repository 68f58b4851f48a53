/** Brings the outcome of an attempt to the coordinator: into the spool first, then reported until it is acknowledged. */
import { TERMINAL_STATUSES } from '../../contract/enums.ts';
import type { AttemptRef } from '../../contract/types.ts';
import type { AttemptActor } from '../attempt-actor.ts';
import type { AttemptEnd } from './outcome.ts';
import type { Log } from '../log.ts';
import type { Outcome, Spool, SpooledAttempt } from '../spool.ts';
import { oneLine } from '../system-error.ts';
import { Stopped } from '../connection/coordinator-connection.ts';
import type { Uploads } from '../files/uploads.ts';
import type { ReportQueue, Verdict } from '../connection/report-queue.ts';

export interface DeliveryOptions {
  spool: Spool;
  reporter: ReportQueue;
  uploads?: Uploads | undefined;
  log: Log;
  /** Called when an outcome is being reported. */
  onReport: () => void;
}

export class OutcomeDelivery {
  readonly #options: DeliveryOptions;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Resolves when the attempt needs nothing more from this process, to whether its run has ended. Never rejects. */
  async conclude(actor: AttemptActor, started: SpooledAttempt, end: AttemptEnd): Promise<boolean> {
    const { spool, log, uploads } = this.#options;
    const { ref } = actor;
    if (end.type === 'abandoned') {
      const { killedFor } = actor;
      log.info(`run killed: ${killedFor?.type === 'abandoned' ? killedFor.detail : 'abandoned'}`, { ...ref });
      spool.finished(started);
      return false;
    }
    const outcome = outcomeOf(end, ref);
    const record = (outcome.type === 'release' ? undefined : await uploads?.recorded(started, outcome)) ?? started;
    let size: number | undefined;
    try {
      // The outcome is on disk before it is reported.
      size = await spool.ended(record, outcome);
    } catch (error) {
      // A disk that cannot take it must not keep the outcome from being reported at all.
      log.error(`the spool cannot take an outcome; reporting it from memory: ${oneLine(error)}`, { ...ref });
    }
    return await this.deliver(actor, record, outcome, size);
  }

  /** Reports an outcome that is in the spool; resolves to whether the run has ended by it. Never rejects. */
  async deliver(actor: AttemptActor, record: SpooledAttempt, outcome: Outcome, size?: number): Promise<boolean> {
    const { reporter, spool, log, onReport } = this.#options;
    const about = { ...actor.ref };
    try {
      const reported = reporter.report(outcome, size);
      // The next claim is sent at the same time, and answered as soon as the coordinator has this outcome.
      onReport();
      const verdict = await reported;
      if (!this.isRefused(actor, verdict, 'outcome')) {
        if (outcome.type === 'complete') log.info('run completed', about);
        else if (outcome.type === 'release') log.info(`run handed back: ${outcome.message}`, about);
        else log.warn(`run failed: ${outcome.error_message.split('\n', 1)[0] ?? ''}`, about);
      }
      const isOver = 'status' in verdict && TERMINAL_STATUSES.some((it) => it === verdict.status);
      // A run that is tried again has other files in the end.
      const upload = isOver && record.upload !== undefined && this.#options.uploads !== undefined;
      actor.send({ type: 'DELIVERED', upload });
      if (upload) await this.#upload(actor, record);
      else spool.finished(record);
      return isOver;
    } catch (error) {
      // The outcome stays in the spool for the next process under this id.
      actor.send({ type: 'KEPT' });
      if (!(error instanceof Stopped)) log.error(`an outcome was not reported: ${oneLine(error)}`, about);
      return false;
    }
  }

  async #upload(actor: AttemptActor, { outcome: _, ...record }: SpooledAttempt): Promise<void> {
    const { spool, uploads } = this.#options;
    // A crash that loses this costs one report that is repeated.
    await spool.running(record);
    uploads?.add(actor, record);
  }

  /** A refusal means that the attempt is no longer this runner's: it is logged and dropped. */
  isRefused(actor: AttemptActor, verdict: Verdict, what: string): boolean {
    if (!('problem' in verdict)) return false;
    const { code, detail } = verdict.problem;
    actor.send({ type: 'REFUSED', code });
    // A run that waited here may have been given to a free runner meanwhile.
    const level = what === 'start' && code === 'stale-attempt' ? 'info' : 'warn';
    this.#options.log[level](`dropped: the coordinator refuses its ${what}: ${detail}`, { ...actor.ref, code });
    return true;
  }
}

function outcomeOf(end: Exclude<AttemptEnd, { type: 'abandoned' }>, ref: AttemptRef): Outcome {
  if (end.type === 'released') return { ...end, ...ref, type: 'release' };
  return end.type === 'lost' ? { ...end, type: 'fail', reason: 'infrastructure', ...ref } : { ...end, ...ref };
}
