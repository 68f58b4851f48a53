/** The memory of idempotency keys: a repeated request gets the answer of the first one and changes nothing. */
import { SimbatchError } from '../../../domain/errors.ts';
import { allOf, keys } from '../storage/keys.ts';
import type { EventLoopShare } from '../../../base/event-loop-share.ts';
import type { Store } from '../storage/store.ts';
import type { Turn, Turns } from './turn.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Clock } from '../../../base/clock.ts';

export interface IdempotencyParts {
  clock: Clock;
  groupCommit: GroupCommit;
  /** How long a key is kept, in ms. */
  idempotencyMs: number;
}

interface IdempotencyRecord {
  bodyDigest: string;
  response: object;
  atMs: number;
}

export interface Idempotency {
  /** The request's `Idempotency-Key`. */
  idempotencyKey?: string;
  /** A digest of the request, which distinguishes a repeat from another request under the same key. Required with a key. */
  bodyDigest?: string;
}

/**
 * Returns the remembered answer to a repeated request; otherwise the answer of `act`, which this turn remembers.
 * @throws SimbatchError `idempotency-key-reused`: the key belongs to another request
 */
export function once<T extends object>(parts: IdempotencyParts, turn: Turn, idempotency: Idempotency, act: () => T): T {
  const remembered = recall(parts, idempotency, turn.actor, turn.now);
  if (remembered !== undefined) return remembered as T;
  const response = act();
  const { idempotencyKey, bodyDigest = '' } = idempotency;
  if (idempotencyKey !== undefined) {
    const record: IdempotencyRecord = { bodyDigest, response, atMs: turn.now };
    turn.put(keyOf(idempotencyKey, turn.actor), JSON.stringify(record));
  }
  return response;
}

/** Each client has keys of its own. A key has no space, and so is never that of a client. */
const keyOf = (key: string, actor: string | undefined): string =>
  keys.idempotency(actor === undefined ? key : `${key} ${Buffer.from(actor).toString('base64url')}`);

/**
 * Returns the remembered answer to a repeated request, or undefined.
 * @throws SimbatchError `idempotency-key-reused`: the key belongs to another request
 */
export function recall(
  parts: IdempotencyParts,
  { idempotencyKey, bodyDigest }: Idempotency,
  actor: string | undefined,
  now = parts.clock.now(),
): object | undefined {
  if (idempotencyKey === undefined) return undefined;
  // A key of an older version, or of a request without a credential, is that of every client.
  const text =
    parts.groupCommit.read(keyOf(idempotencyKey, actor)) ?? parts.groupCommit.read(keys.idempotency(idempotencyKey));
  if (text === undefined) return undefined;
  const record = JSON.parse(text) as IdempotencyRecord;
  if (now - record.atMs > parts.idempotencyMs) return undefined;
  if (record.bodyDigest === bodyDigest) return record.response;
  throw new SimbatchError(
    'idempotency-key-reused',
    `the Idempotency-Key "${idempotencyKey}" was used with another request; use a new key for a new request`,
  );
}

interface ForgetParts extends IdempotencyParts {
  share: EventLoopShare;
  store: Store;
  turns: Turns;
}

/** Records of one step of a sweep. */
const SWEEP_CHUNK = 500;

/** Deletes the keys that have expired. */
export async function forgetOldKeys(parts: ForgetParts): Promise<void> {
  const snapshot = parts.store.snapshot();
  try {
    for await (const chunk of parts.share.paced(snapshot.entries(allOf('idempotency'), { chunkSize: SWEEP_CHUNK }))) {
      const isOld = (text: string): boolean =>
        parts.clock.now() - (JSON.parse(text) as IdempotencyRecord).atMs > parts.idempotencyMs;
      const old = chunk.filter(([, text]) => isOld(text));
      if (old.length === 0) continue;
      await parts.turns.run('forget-keys', (turn) => {
        // A key that was used again since the view was opened has not expired.
        for (const [key, text] of old) if (parts.groupCommit.read(key) === text) turn.put(key, null);
      });
    }
  } finally {
    await snapshot.close();
  }
}
