/** Records as lines, the form in which the analysis worker receives them. */
import type { Entry } from './engine.ts';

const encoder = new TextEncoder();

/** The records as lines in UTF-8: key, tab, value, separated by line feeds; keys and values must have none of these. */
export const linesOf = (entries: readonly Entry[]): Uint8Array<ArrayBuffer> =>
  // Not Buffer.from: its memory may be shared with other buffers and then cannot be transferred.
  encoder.encode(entries.map(([key, value]) => `${key}\t${value}`).join('\n'));
