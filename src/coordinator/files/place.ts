/** One interface for the places that have files of runs: the runner that executed an attempt, and the object store. */
import type { Abandoned } from '../../base/abandonment.ts';
import type { RunFile } from '../../contract/types.ts';
import type { ByteRange } from '../../domain/files/byte-range.ts';

export interface FileWish {
  path: string;
  attempt: number | undefined;
  range: ByteRange | undefined;
  /** True where only the size and the version of the file are read. */
  isHead: boolean;
}

/** A file that is being read. */
export interface FileReading {
  size: number;
  /** The bytes that follow; undefined: all. */
  part: { start: number; end: number } | undefined;
  /** Version of the content: a changed file has another one. */
  version: string;
  /** Undefined: unknown. */
  modifiedMs: number | undefined;
  content: AsyncIterable<Uint8Array>;
  /** Ends the reading, for a caller that does not iterate `content`. */
  close: () => void;
}

/** A file that a reader gets from its place, at an address that is valid for a while. */
export interface FileRedirect {
  url: string;
  /** End of the validity, as an instant. */
  expiresAtMs: number;
}

/** The files of an attempt that are in a place. */
export interface PlaceFiles {
  files: RunFile[];
  /** Notes for people, as sentences. */
  notes: string[];
  /** False: the place does not send files now, or has none; a note says why. */
  isServed: boolean;
}

/** A place with files of one attempt. */
export interface Place {
  /** Lists the files of the attempt. A place that does not answer is a note, not an error. */
  list(stop: Abandoned): Promise<PlaceFiles>;
  /**
   * Begins to read a file. The caller iterates `content` to its end, calls `close`, or aborts `stop`.
   * @throws SimbatchError `unknown-file`, `artifact-not-uploaded`, `range-not-satisfiable`, `too-many-requests`, `file-too-large`,
   * `object-store-failed`; while `content` is iterated, an error for a file that changes or a place that leaves
   */
  read(wish: FileWish, stop: Abandoned): Promise<FileReading>;
  /** Signs the address of a file; only of a place that readers reach themselves. */
  addressOf?(path: string): Promise<FileRedirect>;
}
