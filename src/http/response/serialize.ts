/** JSON of answers, exact to the last digit of a seed. */
import { stringifyExact } from '../../base/json/json-writing.ts';

/** Returns a value as JSON text. */
export const toJson = (value: unknown): string => stringifyExact(value);

/** Several values as JSON, with commas between. */
export const itemsToJson = (items: readonly unknown[]): string => items.map(toJson).join(',');
