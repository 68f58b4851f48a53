/** The environment or the run configuration does not say what a run needs. */
export class RunConfigError extends Error {}

/** When a sample was taken, from whatever zero the simulation counts. Without either: now, since the Unix epoch. */
export interface SampleTime {
  /** Time of the sample in seconds. */
  t?: number;
  /** Nanoseconds: a bigint, or a safe integer. Goes before `t`. */
  timestampNs?: bigint | number;
}

/** One run. Made by `run()`. */
export interface Run {
  /** Index of the run within its study, from 0. */
  readonly runId: number;
  /**
   * Sampled parameters by name. Reading a name that is missing throws RunConfigError. The names that are read are noted, for the finding
   * `parameter-never-read`; listing or copying the parameters counts as reading all, printing them as reading none.
   */
  readonly parameters: Readonly<Record<string, number>>;
  /** Metadata of the study. A seed above 2^53 - 1 is a bigint: none of its digits is lost. */
  readonly metadata: Readonly<Record<string, unknown>> & { readonly seed?: number | bigint | null };
  /** Absolute path of the directory for artifacts. It exists. */
  readonly outputDir: string;
  /**
   * For the simulation's own random numbers, below 2^48: the same for every attempt at this run, another for every other
   * run. The Python client gives the same number.
   */
  readonly randomSeed: number;
  /** Telemetry samples lost so far. The runner keeps the number on the run's result. */
  readonly droppedSamples: number;
  /**
   * Sends the values of some variables at one time to the runner. Waits only while 4 MiB of samples wait for the runner, and
   * at most 10 s for a runner that takes none. Never throws.
   */
  telemetry(values: Readonly<Record<string, number>>, time?: SampleTime): void;
  /**
   * Adds outputs of the run to `metadata.json` in the output directory, replacing the file as a whole. NaN and infinities
   * become null. Throws TypeError for what JSON cannot hold, the system's error when the file cannot be written.
   */
  result(outputs: Readonly<Record<string, unknown>>): void;
  /**
   * Gives a history of the run itself, instead of the runner that makes it of telemetry. `name`: of a history that the study
   * declares; `values`: a number for each of its times, null or NaN where there is none. A runner fails the run if the study declares
   * another number of times; a history that it does not declare is left out, with a note. Throws TypeError for values that
   * are not numbers, RangeError for infinite ones, the system's error when metadata.json cannot be written.
   */
  history(name: string, values: readonly (number | null)[] | Float64Array | Float32Array): void;
  /**
   * Sends the telemetry that waits. Happens by itself when the program exits. Ends after 5 s in which the runner takes
   * nothing, and after 30 s in any case.
   */
  close(): void;
}

export interface RunOptions {
  /**
   * All parameters the simulation knows, with values. They fill in what the study does not disperse, serve alone when the
   * program is started by hand, and a parameter that is not among them is an error.
   */
  defaults?: Readonly<Record<string, number>>;
}

/** The run this program was started for; a second call answers the same one. Throws RunConfigError when there is none. */
export function run(options?: RunOptions): Run;
