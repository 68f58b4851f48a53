/** The members that rounds and evaluations have in common. */
import { Type } from 'typebox';
import { listOf, mapOf, text } from '../build.ts';
import { LIMITS } from '../limits.ts';
import { double, int32 } from '../scalars.ts';

const row = mapOf(double('The number.'), { description: 'The number of each chosen parameter.' });
export const rows = listOf(row, 'One row for each run.', LIMITS.roundRows);
export const columns = mapOf(listOf(double('The number of a run.'), 'One number for each run.', LIMITS.roundRows), {
  description: 'The same by column: the numbers of each chosen parameter.',
});
export const label = text('A text for people, such as the name of a generation.', {
  maxLength: LIMITS.roundNameLength,
});
export const note = text('A longer text, such as the state of an algorithm.', { maxLength: LIMITS.textLength });
export const counts = mapOf(int32('Runs.'), {
  description:
    'Runs by class: `ok`, `terminated`, `crashed`, `timeout`, `lost`, `cancelled`, and `open` for those that have not ended. Absent: none.',
});

export const outputs = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'The outputs that it reported; empty for none.',
});
