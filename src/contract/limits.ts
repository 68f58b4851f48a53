/** The limits on what clients and runners send. Imports no package, so that web pages may import it. */

/** The most of each that one request may hold: more than a person needs, and finite. */
export const LIMITS = {
  nameLength: 200,
  textLength: 10_000,
  /** The reason of a cancellation or of a drain. */
  reasonLength: 1_000,
  /** The note about where a distribution comes from. */
  sourceLength: 1_000,
  dispersions: 10_000,
  /** Axes of scenarios, and the cells of all axes. */
  axes: 6,
  cells: 10_000,
  /** Cells of all epistemic inputs together. */
  epistemicCells: 256,
  /** Names that a run asked for and that its study does not have, and characters of each. */
  askedNames: 16,
  askedNameLength: 256,
  correlations: 5_000,
  /** Longest `run_ids`, in characters. */
  selectionLength: 2_000_000,
  /** Most rows of one round, and most bytes of their numbers. */
  roundRows: 10_000,
  roundBytes: 8_388_608,
  /** Most runs of a study among which points are looked up. */
  points: 2_000_000,
  /** Most rounds of one study. */
  rounds: 100_000,
  /** Longest key and label of a round, in characters. */
  roundNameLength: 200,
  /** Most labels of a study, whose record holds them. */
  labels: 32,
  labelKeyLength: 63,
  labelValueLength: 128,
  /** Studies that came of one study, directly or not. */
  family: 2_000,
  /** Bytes of the code of a function, before base64. */
  codeBytes: 1_048_576,
  /** Batches of a family that one answer merges: they are read side by side. */
  mergedBatches: 100,
  conditions: 1_000,
  /** Histories of a study, and times of each. */
  histories: 32,
  historyPoints: 2_048,
  derived: 64,
  /** Longest event, condition on telemetry or expression, in characters. */
  expressionLength: 1_000,
  /** Longest reason why a derived output has no value, in characters. */
  missingReasonLength: 500,
  /** Features that a runner states. */
  features: 64,
  requirements: 100,
  precisions: 20,
  /** Most replicates in one study: a quantile is looked at on the runs of all of them. */
  replicates: 10_000,
  variables: 10_000,
  variableNameLength: 256,
  /** Every condition's variable, and 32 others. */
  seenVariables: 1_032,
  mapEntries: 10_000,
  /** Counted resources of a run or a runner, and the most of each. */
  resources: 32,
  resourceAmount: 10_000,
  tags: 1_000,
  outputFiles: 100_000,
  /** Longest error message, in characters. */
  errorMessageLength: 65_536,
  holding: 100_000,
  reports: 10_000,
  maxJobs: 10_000,
  waitSeconds: 30,
  pageSize: 10_000,
  /** Longest path of a file, in characters. */
  pathLength: 4_096,
  /** Files of an attempt in a list that is read from its runner. */
  filesListed: 5_000,
  /** Bytes of a file in one answer of its runner. */
  filePartBytes: 1_048_576,
  /** Bytes of a file in an object store in one answer of the coordinator. */
  relayedFileBytes: 33_554_432,
  /** Requests for files that one runner works on or has yet to get. */
  fileRequests: 64,
  /** Variables of a live view of telemetry, and points of each. */
  liveVariables: 32,
  livePoints: 514,
  /** Files in one request about uploads. */
  uploadFiles: 100,
  /** Parts that are signed in one request. */
  uploadParts: 10_000,
  /** Parts of one file: as many as stores take by default. */
  fileParts: 1_000,
  /** Bytes of each part but the last, where `fileParts` of them are enough for the file. */
  uploadPartBytes: 8_388_608,
  /** Bytes of a file that is uploaded: a thousand parts of 128 MiB. */
  uploadBytes: 134_217_728_000,
  /** Named views of a study, and characters of each. */
  views: 50,
  viewQueryLength: 4_000,
  /** Files of a checkpoint of a run. */
  checkpointFiles: 1_000,
  freeFormDepth: 32,
  freeFormValues: 100_000,
} as const;

export const INT32_MAX = 2_147_483_647;
