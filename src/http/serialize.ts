/** Writing JSON: exact to the last digit of a seed, and quickly where there are many of a kind. */
import { stringifyExact } from '../domain/json.ts';
import type { Job } from '../domain/types.ts';

/** A value as JSON text. */
export const toJson = (value: unknown): string => stringifyExact(value);

/**
 * Several values as JSON, with commas between. A job with a seed above 2^53 - 1 is put together by hand: the general way
 * costs three passes, and a list may hold a million of them.
 */
export function itemsToJson(items: readonly unknown[]): string {
  return items.map((item) => (hasLongSeed(item) ? jobToJson(item) : toJson(item))).join(',');
}

function hasLongSeed(item: unknown): item is Job {
  return typeof (item as Partial<Job>).run_config?.metadata.seed === 'bigint';
}

function jobToJson(job: Job): string {
  const { run_config: runConfig, ...rest } = job;
  const { metadata, ...head } = runConfig;
  const { seed, ...facts } = metadata;
  // Each text ends in the brace that closes its object; what follows is put before that brace.
  const metadataJson = `${JSON.stringify(facts).slice(0, -1)},"seed":${String(seed)}}`;
  const runConfigJson = `${JSON.stringify(head).slice(0, -1)},"metadata":${metadataJson}}`;
  return `${JSON.stringify(rest).slice(0, -1)},"run_config":${runConfigJson}}`;
}
