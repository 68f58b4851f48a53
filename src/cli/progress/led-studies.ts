/** The studies that a request about a study reaches too: those that were submitted with it, of the first one of them. */
import type { Batch, Uuid } from '../../contract/types.ts';
import { plural } from '../terminal/format.ts';

export const ledStudies = ({ children = [] }: Batch): Uuid[] =>
  children.flatMap((it) => (it.relation === 'repeat' ? [it.batch_id] : []));

/** ` and 1 study that was submitted with it`; empty for a study that leads none. */
export function withLed(batch: Batch): string {
  const { length } = ledStudies(batch);
  return length === 0 ? '' : ` and ${plural(length, 'study', 'studies')} submitted with it`;
}
