/**
 * Requests for files that wait for their runner, which fetches and answers them. In memory alone: a reader repeats a request.
 */
import type { Abandoned } from '../../../base/abandonment.ts';
import { randomUuid, type Clock } from '../../../base/clock.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import type { FileFault, FileRequest } from '../../../contract/types.ts';
import { ReadingLimit } from '../reading-limit.ts';

/** A request without the name that it gets here. */
export type FileQuestion = FileRequest extends infer R
  ? R extends FileRequest
    ? Omit<R, 'request_id'>
    : never
  : never;

/** The answer of a runner. */
export type FileAnswer =
  | {
      type: 'content';
      /** Bytes of the part, or the JSON text of a list. */
      bytes: Uint8Array;
      /** Size of the whole file, in bytes. */
      size: number;
      /** Changes whenever the file changes. */
      version: string;
      modifiedMs: number;
      /** Offset at which the part begins. */
      offset: number;
    }
  | { type: 'refused'; fault: FileFault; detail: string };

interface OpenRequest {
  request: FileRequest;
  /** True when the request was sent to the runner. */
  isSent: boolean;
  settle: (answer: FileAnswer) => void;
  /** The runner has left. */
  fail: () => void;
}

interface Served {
  requests: Map<string, OpenRequest>;
  /** Answers the waiting poll. */
  poll: ((requests: FileRequest[]) => void) | undefined;
  /** When the runner asked or answered last, monotonic. */
  contactMs: number;
}

/** A runner that has neither asked nor answered for this long does not serve files. */
export const CONTACT_MS = 10_000;
/** A runner whose connection has ended is back within this time, or its readers get no answer. */
const RETURN_MS = 2_000;
/** The longest wait for an answer of a runner. */
export const ANSWER_MS = 20_000;

/** The most readings at once: each has two parts of a file in memory. */
export const MAX_READINGS = 64;

/** No answer came; the reader's operation says why. */
export class NoAnswer extends Error {}

export class FileRequests {
  readonly #clock: Clock;
  readonly #runners = new Map<string, Served>();
  readonly #readings = new ReadingLimit(MAX_READINGS, 'files');
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the runner asks for requests. */
  isServing(runnerId: string): boolean {
    const served = this.#runners.get(runnerId);
    if (served === undefined) return false;
    const isFresh = served.poll !== undefined || this.#clock.monotonicMs() - served.contactMs < CONTACT_MS;
    if (!isFresh && served.requests.size === 0) this.#runners.delete(runnerId);
    return isFresh;
  }

  /** Counts a reading until the returned function is called. @throws SimbatchError `too-many-requests` */
  beginReading(): () => void {
    return this.#readings.begin();
  }

  /**
   * Sends a request to a runner and waits for its answer.
   * @throws NoAnswer when the runner does not serve files or does not answer in time; SimbatchError `too-many-requests`; the
   * reason of `stop`.
   */
  async ask(runnerId: string, question: FileQuestion, stop: Abandoned): Promise<FileAnswer> {
    if (stop.aborted) throw stop.reason instanceof Error ? stop.reason : new NoAnswer();
    const served = this.#runners.get(runnerId);
    if (served === undefined || this.#isClosed || !this.isServing(runnerId)) throw new NoAnswer();
    if (served.requests.size >= LIMITS.fileRequests) {
      throw new SimbatchError(
        'too-many-requests',
        `runner "${runnerId}" has ${String(LIMITS.fileRequests)} requests for files, the limit; try again later`,
      );
    }
    const request: FileRequest = { request_id: randomUuid(this.#clock), ...question };
    const name = request.request_id;
    return await new Promise<FileAnswer>((resolve, reject) => {
      const end = (): void => {
        cancel();
        stop.removeEventListener('abort', left);
        served.requests.delete(name);
      };
      const left = (): void => {
        end();
        reject(stop.reason instanceof Error ? stop.reason : new NoAnswer());
      };
      const fail = (): void => {
        end();
        reject(new NoAnswer());
      };
      const cancel = this.#clock.after(ANSWER_MS, fail);
      stop.addEventListener('abort', left, { once: true });
      const settle = (answer: FileAnswer): void => {
        end();
        resolve(answer);
      };
      served.requests.set(name, { request, isSent: false, settle, fail });
      this.#send(served);
    });
  }

  /**
   * Waits for requests to a runner. An earlier poll of it is answered without any.
   * @param holding requests that the runner works on: others that were sent to it are sent again, since their reply was lost.
   */
  poll(runnerId: string, holding: readonly string[], waitMs: number, stop?: Abandoned): Promise<FileRequest[]> {
    const served = this.#served(runnerId);
    served.poll?.([]);
    const held = new Set(holding);
    for (const [name, open] of served.requests) open.isSent = held.has(name);
    return new Promise((resolve) => {
      const end = (requests: FileRequest[]): void => {
        if (served.poll === end) served.poll = undefined;
        cancel();
        stop?.removeEventListener('abort', left);
        served.contactMs = this.#clock.monotonicMs();
        resolve(requests);
      };
      const left = (): void => {
        end([]);
        // The connection of the runner has ended: it serves again when it asks again.
        served.contactMs = -Infinity;
        this.#clock.after(RETURN_MS, () => {
          if (served.contactMs > -Infinity || served.poll !== undefined) return;
          for (const open of served.requests.values()) open.fail();
        });
      };
      const cancel = this.#clock.after(waitMs, () => end([]));
      stop?.addEventListener('abort', left, { once: true });
      served.poll = end;
      if (this.#isClosed) end([]);
      else if (stop?.aborted === true) left();
      else this.#send(served);
    });
  }

  /** Passes an answer on to its reader. Returns false when no reader waits for it. */
  answer(runnerId: string, requestId: string, answer: FileAnswer): boolean {
    const served = this.#served(runnerId);
    served.contactMs = this.#clock.monotonicMs();
    const open = served.requests.get(requestId);
    open?.settle(answer);
    return open !== undefined;
  }

  /** The request of this name, where its reader still waits. */
  request(runnerId: string, requestId: string): FileRequest | undefined {
    return this.#runners.get(runnerId)?.requests.get(requestId)?.request;
  }

  /** Answers all polls, and from now on every new one at once. */
  close(): void {
    this.#isClosed = true;
    for (const served of this.#runners.values()) served.poll?.([]);
  }

  #served(runnerId: string): Served {
    let served = this.#runners.get(runnerId);
    if (served === undefined) {
      served = { requests: new Map(), poll: undefined, contactMs: this.#clock.monotonicMs() };
      this.#runners.set(runnerId, served);
    }
    return served;
  }

  #send({ requests, poll }: Served): void {
    if (poll === undefined) return;
    const unsent = [...requests.values()].filter((it) => !it.isSent);
    if (unsent.length === 0) return;
    for (const it of unsent) it.isSent = true;
    poll(unsent.map((it) => it.request));
  }
}
