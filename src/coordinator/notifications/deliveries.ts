/**
 * Delivers notifications: sends those that are due, a few at a time for each receiver. Every request is on disk before it is
 * sent, so that a restart repeats it; its outcome is a transition of its machine.
 */
import type { Fact } from '../../../machines/protocol.ts';
import type { Clock } from '../../base/clock.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { NotificationState } from '../kernel/actors/actor-kinds.ts';
import { stateOf, type Activation, type Directory } from '../kernel/actors/directory.ts';
import type { GroupCommit } from '../kernel/turn/group-commit.ts';
import type { Turns } from '../kernel/turn/turn.ts';
import type { NotificationMessage, NotificationOutcome, NotificationReceiver } from './receivers.ts';

/** Requests to one receiver at a time. */
const MOST_AT_ONCE = 4;

/** A receiver has settled before; shorter than the time after which the machine counts a request as failed. */
const LONGEST_REQUEST_MS = 25_000;

interface Parts {
  clock: Clock;
  turns: Turns;
  groupCommit: GroupCommit;
  directory: Pick<Directory, 'notifications'>;
  receivers: readonly NotificationReceiver[];
  /** The message of a notification; undefined while it is not complete yet. */
  messageOf(context: NotificationState['context']): string | undefined;
  failed(error: unknown): void;
}

const WAKES: ReadonlySet<Fact['type']> = new Set(['batch.ended', 'batch.judged', 'batch.blocked']);

export class Deliveries {
  readonly #parts: Parts;
  readonly #receivers: ReadonlyMap<string, NotificationReceiver>;
  readonly #inFlight = new Map<string, Promise<void>>();
  /** Requests in flight by receiver. */
  readonly #busy = new Map<string, number>();
  readonly #stop = new AbortController();
  /** Ends the waiting for each request in flight. */
  readonly #leaving = new Set<() => void>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#receivers = new Map(parts.receivers.map((it) => [it.id, it]));
  }

  /** Takes the facts of a group that is on disk: a new notification is sent at once. */
  committed(facts: readonly Fact[]): void {
    if (this.#parts.directory.notifications.size > 0 && facts.some((it) => WAKES.has(it.type))) this.sendDue();
  }

  /** Sends what is due, as far as its receiver is free. */
  sendDue(): void {
    const { directory, groupCommit, clock } = this.#parts;
    for (const activation of directory.notifications.values()) {
      if (this.#stop.signal.aborted) return;
      const { value, context } = stateOf(activation);
      // A notification that is not on disk yet may still be lost, and must not be known to anyone.
      if (value !== 'Waiting' || groupCommit.holds(activation) || this.#inFlight.has(activation.id)) continue;
      if (context.retryAtMs > clock.now()) continue;
      if ((this.#busy.get(context.receiver) ?? 0) >= MOST_AT_ONCE) continue;
      this.#track(activation, this.#deliver(activation));
    }
  }

  /** Ends all requests; the next start repeats those that were in flight. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const leave of this.#leaving) leave();
    await Promise.all(this.#inFlight.values());
  }

  #track(activation: Activation<'notification'>, work: Promise<void>): void {
    const { id } = activation;
    const { receiver } = stateOf(activation).context;
    this.#busy.set(receiver, (this.#busy.get(receiver) ?? 0) + 1);
    const ended = work
      .catch((error: unknown) => {
        // A stopping coordinator refuses the turn; the next start repeats the request.
        if (!(error instanceof SimbatchError && error.code === 'unavailable')) this.#parts.failed(error);
      })
      .finally(() => {
        this.#inFlight.delete(id);
        this.#busy.set(receiver, (this.#busy.get(receiver) ?? 1) - 1);
      });
    this.#inFlight.set(id, ended);
  }

  async #deliver(activation: Activation<'notification'>): Promise<void> {
    const { turns } = this.#parts;
    const { id } = activation;
    const { context } = stateOf(activation);
    const receiver = this.#receivers.get(context.receiver);
    if (receiver === undefined) {
      const reason = 'its address is not among those of --notify-url any more';
      await turns.run('notify', (turn) =>
        turn.trySend('notification', id, { type: 'WITHDRAW', reason, now: turn.now }),
      );
      return;
    }
    const body = context.body ?? this.#parts.messageOf(context);
    if (body === undefined) return;
    const sent = await turns.run('notify', (turn) =>
      turn.trySend('notification', id, { type: 'SEND', body, now: turn.now }),
    );
    if (sent?.value !== 'Delivering' || this.#stop.signal.aborted) return;
    const outcome = await this.#send(receiver, { eventId: context.eventId, body: sent.context.body ?? body });
    // The outcome of a request that the stop has ended is not known.
    if (this.#stop.signal.aborted && !outcome.accepted) return;
    await turns.run('notify', (turn) => {
      const { now } = turn;
      const event = outcome.accepted
        ? ({ type: 'ACCEPTED', now } as const)
        : ({ type: 'REJECTED', reason: outcome.reason, now } as const);
      turn.trySend('notification', id, event);
    });
    if (outcome.accepted) this.sendDue();
  }

  /** Sends one request. A receiver that does not settle neither keeps its place for ever nor delays the stop. */
  #send(receiver: NotificationReceiver, message: NotificationMessage): Promise<NotificationOutcome> {
    return new Promise((resolve, reject) => {
      const leave = (reason: string): void => resolve({ accepted: false, reason });
      const onStop = (): void => leave('the coordinator stops');
      const cancel = this.#parts.clock.after(LONGEST_REQUEST_MS, () => leave('it did not answer'));
      this.#leaving.add(onStop);
      void receiver
        .send(message, this.#stop.signal)
        .then(resolve, reject)
        .finally(() => {
          cancel();
          this.#leaving.delete(onStop);
        });
    });
  }
}
