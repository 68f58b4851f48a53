/**
 * The studies: what was submitted, and the sampler that gives any run of it its parameters. Read from the store when asked
 * for and kept while in use.
 */
import type { BatchContext } from '../../../machines/batch.ts';
import { createSampler, type Sampler } from '../../domain/sampling/sampler.ts';
import { seedFromDecimal, seedToDecimal } from '../../domain/seed.ts';
import type { BatchSubmission, RunMetadata, Seed, Timestamp, Uuid } from '../../contract/types.ts';
import { keys } from '../storage/keys.ts';
import type { RecordSource } from '../actors/directory.ts';

export interface Study {
  /** As submitted, but with the seed that is used. */
  submission: BatchSubmission;
  seed: Seed;
  sampler: Sampler;
  /** What all runs have in common, made once. */
  metadata: RunMetadata;
  createdAt: Timestamp;
}

/** How many studies are kept ready. Making one anew costs a read and up to some milliseconds. */
const KEPT = 200;

/** The record of a submission. The seed stands beside it as text: JSON's numbers are not wide enough for it. */
export function encodeSubmission(submission: BatchSubmission, seed: Seed): string {
  const monteCarlo = { ...submission.config.monte_carlo, seed: null };
  const config = { ...submission.config, monte_carlo: monteCarlo };
  return JSON.stringify({ seed: seedToDecimal(seed), submission: { ...submission, config } });
}

export function decodeSubmission(record: string): { submission: BatchSubmission; seed: Seed } {
  const { seed: digits, submission } = JSON.parse(record) as { seed: string; submission: BatchSubmission };
  const seed = seedFromDecimal(digits);
  submission.config.monte_carlo.seed = seed;
  return { submission, seed };
}

export class StudyCache {
  readonly #source: RecordSource;
  readonly #kept = new Map<Uuid, Study>();
  /** The last one asked for: the jobs of one claim ask for the same, one after another. */
  #latest: Study | undefined;

  constructor(source: RecordSource) {
    this.#source = source;
  }

  /** The study of a batch that exists, or does so where `source` reads. */
  of(batch: BatchContext, source: RecordSource = this.#source): Study {
    const { batchId } = batch;
    let study = this.#kept.get(batchId);
    if (study === undefined) study = this.#read(batch, source);
    else if (study === this.#latest) return study;
    else this.#kept.delete(batchId);
    this.#latest = study;
    // The order of a Map is the order of insertion: the first one is the one least recently used.
    this.#kept.set(batchId, study);
    if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value as Uuid);
    return study;
  }

  /** A batch that is no more. */
  forget(batchId: Uuid): void {
    this.#kept.delete(batchId);
  }

  #read({ batchId, samplingScheme, createdAtMs }: BatchContext, source: RecordSource): Study {
    const record = source.read(keys.submission(batchId));
    if (record === undefined) throw new Error(`the submission of batch ${batchId} is missing in the store`);
    const { submission, seed } = decodeSubmission(record);
    const { dispersions, monte_carlo, simulation } = submission.config;
    const createdAt = new Date(createdAtMs).toISOString();
    const metadata: RunMetadata = {
      simulation_name: simulation.name,
      simulation_version: simulation.version,
      duration_minutes: simulation.duration_minutes,
      sampling_method: monte_carlo.sampling_method,
      generated_at: createdAt,
      seed,
    };
    const sampler = createSampler(dispersions, { ...monte_carlo, seed }, samplingScheme);
    return { submission, seed, sampler, metadata: Object.freeze(metadata), createdAt };
  }
}
