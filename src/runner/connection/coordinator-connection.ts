/**
 * The runner's standing with the coordinator: registers, registers again when it was forgotten, and repeats what did not
 * get through, with growing and scattered pauses, for as long as it takes. What is asked is the caller's affair.
 */
import type { Identity } from './identity.ts';
import { ApiError, UnreachableError } from '../../client/client.ts';
import type { AttemptRef, Client, RegisterResponse } from '../../client/client.ts';
import type { RunnerEngine } from '../../contract/types.ts';
import type { Log } from '../log.ts';
import { randomFraction, sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const ID_IN_USE_PAUSE_MS = 5_000;

/** Thrown by pending operations when the runner stops. */
export class Stopped extends Error {}

export interface ConnectionOptions {
  client: Client;
  clock: Clock;
  log: Log;
  /** The registration of this runner; `holding` and `slots_lost` are added each time. */
  identity: Identity;
  /** Former processes under this id on this machine, known to be dead; the coordinator may know any of them. */
  replaces: readonly string[];
  held: () => AttemptRef[];
  /** Looks at the code of the engines. Never rejects. */
  engines: () => Promise<RunnerEngine[]>;
  slotsLost: () => number;
  /** Attempts that turned out not to be ours any more. */
  onLost: (lost: readonly AttemptRef[]) => void;
}

export class CoordinatorConnection {
  readonly client: Client;
  readonly #options: ConnectionOptions;
  #registering: Promise<RegisterResponse> | undefined;
  #everRegistered = false;
  /** When the trouble began, while there is any. */
  #troubleSinceMs: number | undefined;
  /** Ends all pauses at the first sign that the coordinator is back. */
  #back = new AbortController();

  constructor(options: ConnectionOptions) {
    this.client = options.client;
    this.#options = options;
  }

  /** Resolves when no registration is in flight. */
  async registrationEnded(): Promise<void> {
    await this.#registering?.catch(() => {});
  }

  /** Registers, however long it takes. @throws ApiError when the coordinator refuses for good; Stopped. */
  register(stop: AbortSignal): Promise<RegisterResponse> {
    this.#registering ??= this.#register(stop).finally(() => {
      this.#registering = undefined;
    });
    return this.#registering;
  }

  /** Repeats `exchange` until it is answered. @throws ApiError when the answer is a definite no; Stopped. */
  async ask<T>(exchange: () => Promise<T>, stop: AbortSignal): Promise<T> {
    for (let failures = 0; ; failures++) {
      if (stop.aborted) throw new Stopped();
      try {
        if (this.#registering !== undefined) await this.#registering;
        const answer = await exchange();
        this.wentWell();
        return answer;
      } catch (error) {
        if (stop.aborted) throw new Stopped();
        // Another caller's registration was cancelled, not this exchange.
        if (error instanceof Stopped) continue;
        if (isForgotten(error)) {
          await this.register(stop);
          if (failures > 0) await this.#pause(failures, error, stop);
        } else if (isPassing(error) || isMisled(error)) {
          this.wentWrong(error);
          await this.#pause(failures, error, stop);
        } else throw error;
      }
    }
  }

  /** Logged once per outage, not once per failure. */
  wentWrong(error: unknown): void {
    if (this.#troubleSinceMs !== undefined) return;
    this.#troubleSinceMs = this.#options.clock.monotonicMs();
    // The coordinator's message is a sentence; this one continues it.
    const why = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
    this.#options.log.warn(`${why}; running simulations continue, reports wait, retrying`);
  }

  wentWell(): void {
    if (this.#troubleSinceMs === undefined) return;
    const seconds = Math.round((this.#options.clock.monotonicMs() - this.#troubleSinceMs) / 1000);
    this.#troubleSinceMs = undefined;
    this.#options.log.info(`the coordinator answers again after ${String(seconds)} s`);
    this.#back.abort();
    this.#back = new AbortController();
  }

  async #register(stop: AbortSignal): Promise<RegisterResponse> {
    const { clock, log, identity, replaces, held, engines, slotsLost, onLost } = this.#options;
    let refusals = 0;
    for (let failures = 0; ; failures++) {
      if (stop.aborted) throw new Stopped();
      const former = replaces[refusals % Math.max(1, replaces.length)];
      try {
        const stated = await engines();
        const answer = await this.client.register({
          ...identity,
          engines: stated,
          holding: held(),
          ...slotsLostMember(slotsLost()),
          ...(former === undefined ? {} : { replaces: former }),
        });
        this.wentWell();
        log.info(
          `${this.#everRegistered ? 'registered again' : 'registered'} as ${identity.id} at ${this.client.endpoint}`,
        );
        this.#everRegistered = true;
        onLost(answer.lost);
        return answer;
      } catch (refusal) {
        if (stop.aborted) throw new Stopped();
        const error = ofOlderCoordinator(refusal, this.client.endpoint) ?? refusal;
        if (error instanceof ApiError && error.code === 'runner-id-in-use') {
          refusals += 1;
          if (refusals % Math.max(1, replaces.length) !== 0) continue;
          log.warn(
            `another live runner uses the id ${identity.id}; waiting for it to go (or choose another --runner-id)`,
          );
          await sleep(clock, ID_IN_USE_PAUSE_MS * (0.75 + randomFraction(clock) / 2), stop);
        } else if (isPassing(error) || this.#everRegistered) {
          this.wentWrong(error);
          await this.#pause(failures, error, stop);
        } else throw error;
      }
    }
  }

  async #pause(failures: number, error: unknown, stop: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const askedMs = error instanceof ApiError ? (error.retryAfterSecs ?? 0) * 1000 : 0;
    const grownMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 20));
    // The wait is random, so that a pool does not come back in one wave.
    const ms = askedMs + grownMs * (0.5 + randomFraction(clock) / 2);
    await sleep(clock, ms, askedMs > 0 ? stop : AbortSignal.any([stop, this.#back.signal]));
  }
}

/** The refusal of a coordinator that does not know a member of the registration, with its remedy; undefined for another error. */
function ofOlderCoordinator(error: unknown, endpoint: string): ApiError | undefined {
  if (!(error instanceof ApiError) || error.status !== 422) return undefined;
  if (!error.faults.some(({ pointer }) => pointer === '/engines')) return undefined;
  const why = `the coordinator at ${endpoint} is older than this runner: it does not take the code of engines`;
  return new ApiError(
    error.status,
    error.code,
    `${why}; update the coordinator, or start a runner of the coordinator's version`,
  );
}

/** The member of a registration or a heartbeat; without it these requests report no lost slot. */
export const slotsLostMember = (count: number): { slots_lost?: number } => (count > 0 ? { slots_lost: count } : {});

/** The coordinator does not know this process (any more). */
export function isForgotten(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'unknown-runner' || error.code === 'wrong-instance');
}

/** True for a refusal after which the credential or the address has to be corrected: the connection worked before, so the runner keeps trying. */
function isMisled(error: unknown): boolean {
  return (
    error instanceof ApiError && (error.status === 401 || error.status === 403 || error.code === 'unexpected-answer')
  );
}

/** True for an error after which the same request may well succeed later. */
export function isPassing(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof ApiError && error.transient);
}
