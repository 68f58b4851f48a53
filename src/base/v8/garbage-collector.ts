/** The settings of V8's garbage collector that runners and coordinators change. */
import { setFlagsFromString } from 'node:v8';

/**
 * Call it before the program is warm.
 *
 * Disables pretenuring, so that every object starts in the young generation. By default V8 allocates objects of sites whose
 * objects live long in the old generation. A coordinator that starts among a thousand runners trains V8 with their first
 * requests, which all wait at the same time; from then on the objects of every request wait for a full collection.
 *
 * Scavenges run on the main thread alone. Less than 1 MB survives one, which takes 1 ms to copy; waking the helper threads costs as
 * much, and where other programs use the cores, as simulations do those of a runner, the main thread waits for a helper that has none.
 */
export function setGarbageCollector(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  setFlagsFromString('--no-parallel-scavenge');
}

/**
 * Of a coordinator: from now on the old generation is collected when it has grown by half since its last collection; V8's own limit is a factor of up to
 * four. Each heartbeat replaces the state of a runner and each long poll a response, so that ten thousand runners make 6 MB of garbage
 * a second there. Call it after the records have been read: a heap that grows to its size is collected in vain.
 */
export function limitGarbage(): void {
  setFlagsFromString('--heap-growing-percent=50');
}
