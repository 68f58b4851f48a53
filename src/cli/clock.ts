/** The command line's clock, timers and randomness: the only file of it that touches them. */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds since the epoch. */
export const nowMs = (): number => Date.now();

/** Waits; an aborted signal ends the waiting at once, without an error. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/** A random seed in [0, 2^53 - 1], as the coordinator draws one for a study without. */
export function drawSeed(): number {
  return Number(randomBytes(8).readBigUInt64BE() >> 11n);
}

/** A random key, to make a repeated submission harmless. */
export const newIdempotencyKey = (): string => randomUUID();
