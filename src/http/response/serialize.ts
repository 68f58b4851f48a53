/** JSON of answers: exact to the last digit of a seed, and by code made from the schema where there are many of a kind. */
import { registry } from '../../contract/build.ts';
import { jsonWriterOf } from '../../contract/codegen/json-writer.ts';
import { Job } from '../../contract/resources/jobs.ts';
import { ReportsResponse } from '../../contract/resources/reports.ts';
import { ClaimResponse } from '../../contract/resources/runners.ts';
import type { NamedSchema } from '../../contract/build.ts';
import { stringifyExact } from '../../base/json/json-writing.ts';

/** Returns a value as JSON text. */
export const toJson = (value: unknown): string => stringifyExact(value);

const options = { resolve: (id: string) => registry.get(id)!, asTheyAre: ['RunMetadata', 'BatchConfig', 'Problem'] };
const jobToJson = jsonWriterOf(Job, options);
const WRITERS = new Map<NamedSchema, (value: never) => string>([
  [Job, jobToJson],
  [ClaimResponse, jsonWriterOf(ClaimResponse, options)],
  [ReportsResponse, jsonWriterOf(ReportsResponse, options)],
]);

/** The writer of answers of this schema. */
export const writerFor = (schema: NamedSchema | undefined): ((value: unknown) => string) =>
  ((schema && WRITERS.get(schema)) ?? toJson) as (value: unknown) => string;

/** Several values as JSON, with commas between. */
export function itemsToJson(items: readonly unknown[]): string {
  return items.map((item) => (isJob(item) ? jobToJson(item) : toJson(item))).join(',');
}

function isJob(item: unknown): item is Job {
  return (item as Partial<Job>).run_config !== undefined;
}
