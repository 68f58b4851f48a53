/** The telemetry of a drawn sample of the runs of a study, as its files have it. */

export interface DrawOptions {
  /** The id of a run that is compared with the others. */
  without?: number | undefined;
  /** 1 for each row that may be drawn; absent: all. */
  selected?: Uint8Array;
}

export interface BandSample {
  /** The rows of the drawn runs, ascending. */
  rows: number[];
  /** The runs that it is drawn from: those of the complete prefix that ended by themselves and may be drawn. */
  drawnFrom: number;
}

/** The samples of one variable of one run, in ascending order of time. */
export interface Samples {
  /** Seconds since the zero of `telemetryZero`. */
  secs: Float64Array;
  /** Values of the variable, all finite. */
  values: Float64Array;
}

export interface RunSamples {
  /** The times of its first and last sample of any variable. */
  startSecs: number;
  endSecs: number;
  variables: ReadonlyMap<string, Samples>;
}

/** The telemetry of drawn runs: of each row of the sample its samples, or why there are none. */
export interface DrawnTelemetry extends BandSample {
  runs: (RunSamples | { why: string })[];
}
