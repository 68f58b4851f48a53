/** A query with the required parameters of a route, for the fake coordinator's study. */
import type { Route } from '../../src/http/routes/route.ts';
import { BATCH_ID } from './fake-api.ts';

const EXAMPLES: Readonly<Record<string, string>> = { output: 'apogee_m', with: BATCH_ID };

/** `?output=apogee_m`, or nothing. */
export function exampleQuery({ query = {} }: Route): string {
  const required = Object.keys(query).filter((name) => query[name]?.required === true);
  return required.length === 0 ? '' : `?${required.map((name) => `${name}=${EXAMPLES[name]}`).join('&')}`;
}
