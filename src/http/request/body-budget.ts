/**
 * The bytes of long bodies that are received and handled at once: bounded for all clients together, so that bodies cannot fill the memory, and
 * for each client, so that no client keeps the others from sending. A body waits its turn unread; short ones are not counted.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { SimbatchError } from '../../domain/errors.ts';

export interface BodyBudgetOptions {
  /** Bytes of all long bodies together. A longer body is read when no other one is. */
  bytes: number;
  /** A body that has waited this long is refused, in milliseconds. */
  waitMs: number;
  clock: Pick<Clock, 'after'>;
}

/** A body that is to be read. */
export interface WantedBody {
  /** The token or the address of its sender. */
  client: string;
  /** As declared, or the most that it may have. */
  bytes: number;
  response: Pick<ServerResponse, 'once' | 'off' | 'destroyed'>;
}

interface Waiting {
  body: WantedBody;
  grant: (release: () => void) => void;
}

/** The most that one client has of the budget, as a share; a client that has nothing may send one body of any length. */
const MOST_SHARE = 0.5;

export class BodyBudget {
  readonly #options: BodyBudgetOptions;
  readonly #waiting: Waiting[] = [];
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(options: BodyBudgetOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the body may be read, to a function that returns its bytes; a second call of it does nothing. They return with the end of the
   * answer or of its connection too.
   * @throws SimbatchError `unavailable` when it has waited for too long, or its client has gone
   */
  take(body: WantedBody): Promise<() => void> {
    const { clock, waitMs, bytes } = this.#options;
    return new Promise((resolve, reject) => {
      const refuse = (): void => {
        const limit = `bodies of ${bytes} bytes are handled at once, and this one has waited ${waitMs / 1000} s for others`;
        reject(new SimbatchError('unavailable', `the body was not read: ${limit}; repeat the request`));
      };
      if (body.response.destroyed) return refuse();
      if (this.#waiting.length === 0 && this.#isFree(body)) return resolve(this.#hold(body));
      const end = (): void => {
        cancel();
        body.response.off('close', leave);
      };
      const leave = (): void => {
        end();
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        refuse();
        this.#serve();
      };
      const grant = (release: () => void): void => {
        end();
        resolve(release);
      };
      const waiting: Waiting = { body, grant };
      const cancel = clock.after(waitMs, leave);
      body.response.once('close', leave);
      this.#waiting.push(waiting);
      this.#serve();
    });
  }

  /** Lets bodies be read in their order. A body whose client has its share lets others pass, a body that is too long for the rest does not. */
  #serve(): void {
    for (let at = 0; at < this.#waiting.length;) {
      const { body, grant } = this.#waiting[at]!;
      if (!this.#isWithinShare(body)) at += 1;
      else if (this.#isFree(body)) {
        this.#waiting.splice(at, 1);
        grant(this.#hold(body));
      } else return;
    }
  }

  #isFree(body: WantedBody): boolean {
    return this.#isWithinShare(body) && (this.#total === 0 || this.#total + body.bytes <= this.#options.bytes);
  }

  #isWithinShare({ client, bytes }: WantedBody): boolean {
    const held = this.#held.get(client) ?? 0;
    return held === 0 || held + bytes <= this.#options.bytes * MOST_SHARE;
  }

  #hold({ client, bytes, response }: WantedBody): () => void {
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      response.off('close', release);
      this.#add(client, -bytes);
      this.#serve();
    };
    this.#add(client, bytes);
    response.once('close', release);
    return release;
  }

  #add(client: string, bytes: number): void {
    this.#total += bytes;
    const held = (this.#held.get(client) ?? 0) + bytes;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }
}
