/**
 * A cache of studies: the submission, and the sampler that computes the parameters of any run. Read from the store on
 * demand; least recently used entries are dropped.
 */
import { RecentMap } from '../../../base/recent-map.ts';
import type { BatchContext } from '../../../../machines/batch.ts';
import { runMetadata } from '../../../domain/runs/run-metadata.ts';
import { RunSelection, runsHeld } from '../../../domain/runs/run-selection.ts';
import { studySampler } from '../../../domain/sampling/sampler.ts';
import type { Sampler } from '../../../domain/sampling/run-values.ts';
import { seedFromDecimal, seedToDecimal } from '../../../domain/seed.ts';
import { isDamage, SimbatchError } from '../../../domain/errors.ts';
import type {
  BatchSubmission,
  ComputeConfig,
  RunMetadata,
  Seed,
  StoredExtraction,
  Timestamp,
  Uuid,
} from '../../../contract/types.ts';
import { keys } from '../storage/keys.ts';
import type { RecordSource } from '../actors/directory.ts';
import { amended, submittable, type JudgedSubmission } from '../../../domain/identity/judgement.ts';
import { missingRecord } from '../actors/actor-kinds.ts';
import { rowDesign, type RowDesign } from '../../../domain/adaptive/given-rows.ts';
import { RowBlocks } from './stored-rounds.ts';

export interface Study {
  /** The submission, with the seed that is used and the judgement in force, and without the code of a function. */
  submission: JudgedSubmission;
  /** The revision of the judgement; undefined for that of the submission. */
  revision: number | undefined;
  seed: Seed;
  sampler: Sampler;
  /** The runs that the batch holds, as many as it has jobs. */
  selection: RunSelection;
  /** The metadata that all runs share. */
  metadata: RunMetadata;
  createdAt: Timestamp;
  /** Of an extraction: where the files of its runs are. */
  extraction?: StoredExtraction;
  /** Of an adaptive study: what its rows must give. */
  rows?: RowDesign;
}

/** The capacity of the cache. A miss costs a read and up to some milliseconds. */
const MAX_STUDIES = 200;
/** The capacity for the resources of studies, which are small. */
const MAX_COMPUTES = 10_000;

/** Encodes a submission. The seed is stored separately as text: a JSON number cannot hold all its digits. */
export function encodeSubmission(submission: BatchSubmission, seed: Seed, extraction?: StoredExtraction): string {
  const monteCarlo = { ...submission.config.monte_carlo, seed: null };
  const config = { ...submission.config, monte_carlo: monteCarlo };
  return JSON.stringify({ seed: seedToDecimal(seed), submission: { ...submission, config }, extraction });
}

/** A submission record as it is read. `extraction`: of a batch that is one. */
export interface DecodedSubmission {
  submission: BatchSubmission;
  seed: Seed;
  extraction?: StoredExtraction | undefined;
}

export function decodeSubmission(record: string): DecodedSubmission {
  const {
    seed: digits,
    submission,
    extraction,
  } = JSON.parse(record) as Omit<DecodedSubmission, 'seed'> & {
    seed: string;
  };
  const seed = seedFromDecimal(digits);
  submission.config.monte_carlo.seed = seed;
  return { submission, seed, extraction };
}

function submissionRecord(source: RecordSource, batchId: Uuid): string {
  const record = source.read(keys.submission(batchId));
  if (record !== undefined) return record;
  // A reader of a batch that was deleted meanwhile.
  if (source.read(keys.batch(batchId)) === undefined)
    throw new SimbatchError('unknown-batch', `there is no study ${batchId}`);
  throw missingRecord(`the submission of study ${batchId}`);
}

/** Returns a submission as it was accepted, with the judgement that it came with. */
export const submittedStudy = (source: RecordSource, batchId: Uuid): BatchSubmission =>
  decodeSubmission(submissionRecord(source, batchId)).submission;

/** Returns the runs that a batch holds, of its record and that of its submission, which only a batch that selects runs needs. */
export function selectionOf({ selectsRuns, totalJobs }: BatchContext, submission: string): RunSelection {
  if (selectsRuns !== true) return RunSelection.between(0, totalJobs);
  return runsHeld(decodeSubmission(submission).submission.config, totalJobs);
}

export class StudyCache {
  readonly #source: RecordSource;
  readonly #studies = new RecentMap<Uuid, Study>(MAX_STUDIES);
  readonly #computes = new Map<Uuid, ComputeConfig>();
  /** Studies whose submission is missing or damaged, with the error: it stays so until the coordinator has stopped. */
  readonly #damaged = new Map<Uuid, SimbatchError>();
  readonly #blocks: RowBlocks;
  /** The latest result of `of`: the jobs of one claim are mostly of one study. */
  #latest: Study | undefined;

  constructor(source: RecordSource) {
    this.#source = source;
    this.#blocks = new RowBlocks(source);
  }

  /** Returns the study of a batch that exists in the store, or in `source`. @throws SimbatchError `store-damaged` */
  of(batch: BatchContext, source: RecordSource = this.#source): Study {
    const { batchId } = batch;
    let study = this.#studies.peek(batchId);
    if (study !== undefined && study.revision !== batch.judgement?.revision) study = this.#read(batch, source);
    // The runs of an adaptive study grow; a reader of the shorter study keeps it.
    if (study?.rows !== undefined && study.selection.count !== batch.totalJobs) {
      study = { ...study, selection: runsHeld(study.submission.config, batch.totalJobs) };
    } else if (study === undefined) study = this.#read(batch, source);
    else if (study === this.#latest) return study;
    this.#latest = study;
    this.#studies.set(batchId, study);
    return study;
  }

  /** The index of a run among the runs of its batch; undefined when the batch does not hold it. */
  readonly indexOf = (batch: BatchContext, runId: number): number | undefined => {
    if (batch.selectsRuns !== true) return runId < batch.totalJobs ? runId : undefined;
    return this.of(batch).selection.indexOf(runId);
  };

  /** The run id at an index among the runs of a batch. */
  readonly runAt = (batch: BatchContext, index: number): number =>
    batch.selectsRuns === true ? this.of(batch).selection.nth(index) : index;

  /** The resources that the study of a batch requests; cheaper than the study. @throws SimbatchError `store-damaged` */
  computeOf(batchId: Uuid): ComputeConfig {
    const known = this.#studies.peek(batchId)?.submission.config.compute ?? this.#computes.get(batchId);
    if (known !== undefined && !this.#damaged.has(batchId)) return known;
    const { compute } = this.#submission(batchId, this.#source).submission.config;
    if (this.#computes.size >= MAX_COMPUTES) this.#computes.clear();
    this.#computes.set(batchId, compute);
    return compute;
  }

  /** Returns the submission of a batch with its judgement and the code of a function, which the cache does not keep. */
  wholeSubmission(batch: BatchContext, source: RecordSource = this.#source): BatchSubmission {
    return submittable(amended(this.#submission(batch.batchId, source).submission, batch));
  }

  /** Drops a deleted batch. */
  forget(batchId: Uuid): void {
    this.#studies.delete(batchId);
    this.#computes.delete(batchId);
    this.#damaged.delete(batchId);
  }

  #read(batch: BatchContext, source: RecordSource): Study {
    const { batchId, samplingScheme, createdAtMs, totalJobs } = batch;
    const { submission, seed, extraction } = this.#submission(batchId, source);
    // The code of a function is read from the store when it is needed: 200 of them would take too much memory.
    delete submission.code;
    const { config } = submission;
    const createdAt = new Date(createdAtMs).toISOString();
    const metadata = runMetadata(config, seed, createdAt);
    const selection = runsHeld(config, totalJobs);
    const revision = batch.judgement?.revision;
    const judged = { submission: amended(submission, batch), revision };
    const own = extraction === undefined ? {} : { extraction };
    const study = { ...judged, ...own, seed, selection, metadata: Object.freeze(metadata), createdAt };
    if (config.adaptive === undefined) return { ...study, sampler: studySampler(config, seed, samplingScheme) };
    const rows = rowDesign(config);
    // Of the store, whatever the source: rounds never change, and the sampler outlives a view.
    const rowOf = this.#blocks.rowsOf(batchId, rows.names.length);
    return { ...study, rows, sampler: studySampler(config, seed, samplingScheme, rowOf) };
  }

  #submission(batchId: Uuid, source: RecordSource): ReturnType<typeof decodeSubmission> {
    const damage = this.#damaged.get(batchId);
    if (damage !== undefined) throw damage;
    try {
      return decodeSubmission(submissionRecord(source, batchId));
    } catch (error) {
      if (isDamage(error)) this.#damaged.set(batchId, error);
      throw error;
    }
  }
}
