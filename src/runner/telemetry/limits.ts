/**
 * Every bound of telemetry, in one place. A simulation may be wrong in any way; none of it may cost the runner more than
 * these. What is beyond a limit is refused and counted, the rest is kept.
 */

/** Distinct variables stored for one job: they become columns, and each column costs in every row group. */
export const MAX_VARIABLES = 1000;

/** Names of variables without a condition that the report of a run mentions. */
export const MAX_SEEN_OTHERS = 32;

/** UTF-8 bytes of one variable's name. */
export const MAX_NAME_BYTES = 256;

/** Values in one sample, whether stored or not. A sample with more is refused whole. */
export const MAX_VALUES_PER_SAMPLE = 4096;

/** Bytes of one message, after decompression. A larger one ends its stream with RESOURCE_EXHAUSTED. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Streams of one job open at once; one more is refused with RESOURCE_EXHAUSTED. */
export const MAX_STREAMS = 64;

/**
 * A row group is closed at this many values or rows, whichever comes first. It bounds memory (two groups of at most
 * 12 bytes a value and 8 a row, and one message more) and the work between two looks at anything else.
 */
export const ROW_GROUP_VALUES = 262_144;
export const ROW_GROUP_ROWS = 65_536;

/** A flush with at least this many values waiting writes a row group, one with fewer writes to the journal. */
export const ROW_GROUP_VALUES_AT_FLUSH = 65_536;

/** Column chunks of one file: each costs about 90 bytes of footer and a kilobyte of memory while the job runs. */
export const MAX_COLUMN_CHUNKS = 100_000;

/** Bytes of one job's telemetry file; storing stops there, the watchdog continues. */
export const MAX_FILE_BYTES = 16 * 1024 ** 3;

/** The shortest time between two flushes, and the one meant by `buffer_flush_interval_seconds` 0. */
export const MIN_FLUSH_INTERVAL_MS = 100;

/** How long the end of a job waits for streams that are still open. */
export const CLOSE_GRACE_MS = 2000;

export interface TelemetryLimits {
  maxVariables: number;
  maxNameBytes: number;
  maxValuesPerSample: number;
  maxMessageBytes: number;
  rowGroupValues: number;
  rowGroupRows: number;
  rowGroupValuesAtFlush: number;
  maxFileBytes: number;
  closeGraceMs: number;
}

export const DEFAULT_LIMITS: Readonly<TelemetryLimits> = {
  maxVariables: MAX_VARIABLES,
  maxNameBytes: MAX_NAME_BYTES,
  maxValuesPerSample: MAX_VALUES_PER_SAMPLE,
  maxMessageBytes: MAX_MESSAGE_BYTES,
  rowGroupValues: ROW_GROUP_VALUES,
  rowGroupRows: ROW_GROUP_ROWS,
  rowGroupValuesAtFlush: ROW_GROUP_VALUES_AT_FLUSH,
  maxFileBytes: MAX_FILE_BYTES,
  closeGraceMs: CLOSE_GRACE_MS,
};
