/**
 * Decides which streams of telemetry a run takes: those with its token and, without any token, those of its own processes. A
 * loopback port is open to every process of the machine, and a wrong sample could end a run or hide that it should end.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';

/** Checks of peers that may wait at once; a stream beyond that is refused. */
const MAX_PENDING_CHECKS = 16;
const TOKEN_BYTES = 24;
const TOKENS_DRAWN = 64;
const BEARER = /^Bearer (\S+)$/i;

/** Says whether the process at the other end of a connection belongs to the run; undefined where that is unknown. */
export type PeerCheck = (peerPort: number, ownPort: number) => Promise<boolean | undefined>;

/** Random bytes that no token has used, and where they begin. */
const unused = new WeakMap<object, { bytes: Uint8Array; at: number }>();

/** A new secret for one run: 192 random bits in base64url. The bits of many are drawn at once, which costs as much as for one. */
export function newTelemetryToken(clock: Pick<Clock, 'random'>): string {
  let drawn = unused.get(clock);
  if (drawn === undefined || drawn.at === drawn.bytes.length) {
    drawn = { bytes: clock.random(TOKEN_BYTES * TOKENS_DRAWN), at: 0 };
    unused.set(clock, drawn);
  }
  const { at } = drawn;
  drawn.at += TOKEN_BYTES;
  return Buffer.from(drawn.bytes.subarray(at, drawn.at)).toString('base64url');
}

export class TelemetryAccess {
  readonly #token: Buffer;
  readonly #isOwn: PeerCheck;
  /** Checks run one after the other: each looks through the machine's processes. */
  #checks: Promise<unknown> = Promise.resolve();
  #pending = 0;

  constructor(token: string, isOwn: PeerCheck) {
    this.#token = Buffer.from(token);
    this.#isOwn = isOwn;
  }

  /** Why a call with this `authorization` is refused; undefined when its token is right, null when it has none. */
  byToken([given]: readonly (string | Buffer)[]): string | null | undefined {
    if (given === undefined) return null;
    const token = Buffer.from(BEARER.exec(String(given))?.[1] ?? '');
    const right = token.length === this.#token.length && timingSafeEqual(token, this.#token);
    return right ? undefined : 'the authorization is not the SVC_TELEMETRY_TOKEN of this run';
  }

  /** Why a peer without a token is refused; undefined when it belongs to the run, or when that cannot be known here. */
  async byPeer(peer: string, ownPort: number): Promise<string | undefined> {
    if (this.#pending >= MAX_PENDING_CHECKS) return `${MAX_PENDING_CHECKS} streams without SVC_TELEMETRY_TOKEN wait`;
    this.#pending += 1;
    const check = this.#checks.then(() => this.#isOwn(Number(peer.slice(peer.lastIndexOf(':') + 1)), ownPort));
    this.#checks = check.catch(() => undefined);
    try {
      // A failed check refuses: only undefined means that this system cannot check.
      const own = await check.catch(() => false);
      return own === false ? 'a process that is not of this run needs SVC_TELEMETRY_TOKEN' : undefined;
    } finally {
      this.#pending -= 1;
    }
  }
}
