/** Outputs of a run (its free-form metadata) as named values, for tables and CSV. */
import type { JobResult } from '../../contract/types.ts';
import { flatOutputs } from '../../domain/outputs.ts';

export type OutputValue = string | number | boolean | null;

/** Returns every output by its flat name; lists and deep objects as JSON text. */
export function outputsOf(result: JobResult): Map<string, OutputValue> {
  const outputs = new Map<string, OutputValue>();
  for (const [name, value] of flatOutputs(result.metadata)) {
    const isPlain = value === null || ['string', 'number', 'boolean'].includes(typeof value);
    outputs.set(name, isPlain ? (value as OutputValue) : JSON.stringify(value));
  }
  return outputs;
}
