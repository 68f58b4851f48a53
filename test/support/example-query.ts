/** A query with the required parameters of a route, for the fake coordinator's study or another one. */
import { IsOptional } from 'typebox';
import type { Route } from '../../src/http/route.ts';
import { BATCH_ID } from './fake-api.ts';

/** `?output=apogee_m`, or nothing. */
export function exampleQuery({ query = {} }: Route, batchId = BATCH_ID): string {
  const examples: Readonly<Record<string, string>> = { output: 'apogee_m', history: 'altitude', with: batchId };
  const required = Object.keys(query).filter((name) => !IsOptional(query[name]!));
  return required.length === 0 ? '' : `?${required.map((name) => `${name}=${examples[name]}`).join('&')}`;
}
