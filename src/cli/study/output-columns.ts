/** Outputs of a run (its free-form metadata) as named values, for tables, CSV and statistics. */
import type { JobResult } from '../../contract/types.ts';

/** Nested objects are flattened to this depth; deeper ones, and lists, stay JSON text. */
const MAX_DEPTH = 4;

export type OutputValue = string | number | boolean | null;

/** Returns every member, nested ones as `outer.inner`, in the order of the object. */
export function outputsOf(result: JobResult): Map<string, OutputValue> {
  const outputs = new Map<string, OutputValue>();
  const collect = (value: unknown, name: string, depth: number): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < MAX_DEPTH) {
      for (const [member, inner] of Object.entries(value))
        collect(inner, name === '' ? member : `${name}.${member}`, depth + 1);
    } else if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) {
      outputs.set(name, value as OutputValue);
    } else {
      outputs.set(name, JSON.stringify(value));
    }
  };
  collect(result.metadata, '', 0);
  outputs.delete('');
  return outputs;
}

/** Returns a value as a number for statistics: true is 1 and false 0, so that the mean is a share; text is undefined. */
export function asNumber(value: OutputValue): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'boolean' ? Number(value) : undefined;
}

/**
 * Returns a field of a CSV record (RFC 4180). Text that a spreadsheet would evaluate as a formula gets an apostrophe, which
 * spreadsheets read as "text follows" (OWASP, CSV injection); numbers are left as they are.
 */
export function csvField(value: OutputValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
