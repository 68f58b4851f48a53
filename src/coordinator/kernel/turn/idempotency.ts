/** The memory of idempotency keys: a repeated request gets the answer of the first one and changes nothing. */
import { SimbatchError } from '../../../domain/errors.ts';
import type { Core } from '../../core.ts';
import { allOf, keys } from '../storage/keys.ts';
import type { Turn } from './turn.ts';

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
export function once<T extends object>(core: Core, turn: Turn, idempotency: Idempotency, act: () => T): T {
  const remembered = recall(core, idempotency, turn.now);
  if (remembered !== undefined) return remembered as T;
  const response = act();
  const { idempotencyKey, bodyDigest = '' } = idempotency;
  if (idempotencyKey !== undefined) {
    const record: IdempotencyRecord = { bodyDigest, response, atMs: turn.now };
    turn.put(keys.idempotency(idempotencyKey), JSON.stringify(record));
  }
  return response;
}

/**
 * Returns the remembered answer to a repeated request, or undefined.
 * @throws SimbatchError `idempotency-key-reused`: the key belongs to another request
 */
export function recall(
  core: Core,
  { idempotencyKey, bodyDigest }: Idempotency,
  now = core.clock.now(),
): object | undefined {
  if (idempotencyKey === undefined) return undefined;
  const text = core.groupCommit.read(keys.idempotency(idempotencyKey));
  if (text === undefined) return undefined;
  const record = JSON.parse(text) as IdempotencyRecord;
  if (now - record.atMs > core.options.idempotencyMs) return undefined;
  if (record.bodyDigest === bodyDigest) return record.response;
  throw new SimbatchError(
    'idempotency-key-reused',
    `the Idempotency-Key "${idempotencyKey}" was used with another request; use a new key for a new request`,
  );
}

/** Records of one step of a sweep. */
const SWEEP_CHUNK = 500;

/** Deletes the keys that have expired. */
export async function forgetOldKeys(core: Core): Promise<void> {
  const snapshot = core.store.snapshot();
  try {
    for await (const chunk of core.share.paced(snapshot.entries(allOf('idempotency'), { chunkSize: SWEEP_CHUNK }))) {
      const isOld = (text: string): boolean =>
        core.clock.now() - (JSON.parse(text) as IdempotencyRecord).atMs > core.options.idempotencyMs;
      const old = chunk.filter(([, text]) => isOld(text));
      if (old.length === 0) continue;
      await core.turns.run('forget-keys', (turn) => {
        // A key that was used again since the view was opened has not expired.
        for (const [key, text] of old) if (core.groupCommit.read(key) === text) turn.put(key, null);
      });
    }
  } finally {
    await snapshot.close();
  }
}
