/** The one setting of V8's garbage collector that the coordinator changes. */
import { setFlagsFromString } from 'node:v8';

/**
 * Disables pretenuring, so that every object starts in the young generation. By default V8 allocates objects of sites whose
 * objects live long in the old generation. A coordinator that starts among a thousand runners trains V8 with their first
 * requests, which all wait at the same time; from then on the objects of every request wait for a full collection. Call it
 * before the program is warm.
 */
export function keepObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
