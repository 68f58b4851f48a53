/** A file that is being read, and the wish for it: the same for files on runners and in the object store. */
import type { ByteRange } from '../../domain/runs/byte-range.ts';

export interface FileWish {
  path: string;
  attempt: number | undefined;
  range: ByteRange | undefined;
  /** Its size and version alone. */
  isHead: boolean;
}

/** A file that is being read. */
export interface FileReading {
  size: number;
  /** The bytes that follow; undefined: all. */
  part: { start: number; end: number } | undefined;
  /** Another one for each content. */
  version: string;
  /** Undefined: unknown. */
  modifiedMs: number | undefined;
  content: AsyncIterable<Uint8Array>;
  /** Ends the reading, for a caller that does not iterate `content`. */
  close: () => void;
}
