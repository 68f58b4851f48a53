/** Sends heartbeats at a fixed interval, and passes on what the coordinator answers. Ends before the sign-off. */
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { UnreachableError } from '../../client/client.ts';
import type { AttemptRef } from '../../client/client.ts';
import type { Log } from '../log.ts';
import { oneLine } from '../system-error.ts';
import { isForgotten, slotsLostMember, Stopped } from './coordinator-connection.ts';
import type { CoordinatorConnection } from './coordinator-connection.ts';
import type { MachineGauge } from './machine-gauge.ts';

/** The least time a heartbeat may take. */
const SHORTEST_MS = 2000;

export interface HeartbeatOptions {
  clock: Clock;
  log: Log;
  connection: CoordinatorConnection;
  runnerId: string;
  instance: string;
  held: () => AttemptRef[];
  slotsLost: () => number;
  gauge: MachineGauge;
  /** Why the runner takes no more runs; undefined while it does. */
  leaving: () => string | undefined;
  /** An attempt must end without an outcome, for this reason; `isOver` when its run has ended. */
  onDrop: (ref: AttemptRef, why: string, isOver: boolean) => void;
  /** Aborted when the runner ends at once. */
  stop: AbortSignal;
}

export class Heartbeats {
  readonly #options: HeartbeatOptions;
  readonly #ending = new AbortController();
  #sending: Promise<void> = Promise.resolve();

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  start(intervalSecs: number): void {
    this.#sending = this.#send(intervalSecs * 1000);
  }

  /** Resolves when no heartbeat and no registration is in flight, and none follows. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#sending;
    await this.#options.connection.registrationEnded();
  }

  async #send(intervalMs: number): Promise<void> {
    const { clock, connection, runnerId, instance, held, slotsLost, gauge, leaving, onDrop, stop } = this.#options;
    const end = AbortSignal.any([stop, this.#ending.signal]);
    const { client } = connection;
    for (;;) {
      await sleep(clock, intervalMs, end);
      if (end.aborted) return;
      // A heartbeat without an answer must not delay the next one.
      const hanging = new AbortController();
      const cancel = clock.after(Math.max(SHORTEST_MS, intervalMs), () => {
        hanging.abort(new UnreachableError(client.endpoint, 'no answer to a heartbeat within its interval'));
      });
      try {
        const signal = AbortSignal.any([stop, hanging.signal]);
        const why = leaving();
        const request = {
          instance,
          holding: held(),
          ...slotsLostMember(slotsLost()),
          machine: gauge.state(),
          ...(why === undefined ? {} : { leaving: why }),
        };
        const sentMs = clock.monotonicMs();
        const answer = await client.heartbeat(runnerId, request, { signal });
        gauge.answered(sentMs);
        connection.wentWell();
        for (const notice of answer.cancel) onDrop(notice, `cancelled: ${notice.reason}`, true);
        for (const ref of answer.lost) onDrop(ref, 'the coordinator has given it to another runner', false);
      } catch (error) {
        if (end.aborted) return;
        if (isForgotten(error)) this.#registerAgain(end);
        else connection.wentWrong(error);
      } finally {
        cancel();
      }
    }
  }

  /** Registers again in the background, while heartbeats continue. */
  #registerAgain(end: AbortSignal): void {
    this.#options.connection.register(end).catch((error: unknown) => {
      if (!(error instanceof Stopped)) this.#options.log.error(oneLine(error));
    });
  }
}
