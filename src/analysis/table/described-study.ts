/** The study that a file of runs describes about itself: what an answer needs and no row holds. */
import type { BatchSubmission, Uuid } from '../../contract/types.ts';

/** The key of the description in the metadata of a Parquet file; the value is a `DescribedStudy` as JSON. */
export const STUDY_KEY = 'simbatch.study';

export interface DescribedStudy {
  batch_id: Uuid;
  /** The runs that the batch holds: a file with fewer rows is a part of it. Absent where the rows are of several batches. */
  total_jobs?: number;
  /** The configuration, with the seed that is used. */
  config: BatchSubmission['config'];
  requirements?: BatchSubmission['requirements'];
  outputs?: BatchSubmission['outputs'];
  /** Outputs of more than one type, or of lists, whose values are text in the file. */
  mixed_outputs?: string[];
  /** Where the policy stops a study that is settled, its requirements are looked at continuously. */
  policy?: BatchSubmission['policy'];
}
