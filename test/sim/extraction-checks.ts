/**
 * The checks of extractions in simulated worlds: each run is computed of its own files by a runner that reaches them, nothing of the finished
 * runs changes, and names are unique. Where the files are follows from the records of the finished runs alone.
 */
import type { JobRecord, StoredResult, Uuid } from '../../src/contract/types.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { RunSelection } from '../../src/domain/runs/run-selection.ts';
import { batchIdOf, jobId, runIdOf } from '../../src/domain/ids.ts';
import { decodeBatch, decodeSubmission, recordsOf, type Disk } from './decoded.ts';
import { insist } from './acknowledged.ts';

/** The number that is the content of a file: another one in each attempt of each run. */
export const valueOf = (id: Uuid, attempt: number, name: string): number =>
  1000 * (1 + runIdOf(id)) + 10 * attempt + name.length / 100;

export function isExtraction(disk: Disk, batchId: Uuid): boolean {
  const record = disk.get(keys.batch(batchId));
  return record !== undefined && decodeBatch(record).context.parent?.relation === 'extraction';
}

interface FinishedRun {
  batch: Uuid;
  id: Uuid;
  record: JobRecord | undefined;
  result: StoredResult | undefined;
}

/** The finished run that a run of an extraction is about. */
export function parentRun(disk: Disk, batchId: Uuid, run: number): FinishedRun {
  const batch = decodeBatch(disk.get(keys.batch(batchId))!).context.parent!.batchId;
  const id = jobId(batch, run);
  const [record, result] = [disk.get(keys.job(id)), disk.get(keys.result(id))];
  return {
    batch,
    id,
    record: record === undefined ? undefined : (JSON.parse(record) as JobRecord),
    result: result === undefined ? undefined : (JSON.parse(result) as StoredResult),
  };
}

/** The runs that any of these texts name. */
function idsOf(texts: readonly string[]): RunSelection {
  const ids = texts.flatMap((it) => [...(RunSelection.parse(it) as RunSelection).runIds()]);
  return RunSelection.of(ids.toSorted((a, b) => a - b));
}

export class ExtractionChecks {
  readonly #disk: Disk;
  /** The records of finished runs as they were when an extraction of them was first there. */
  readonly #before = new Map<string, string>();
  readonly #seen = new Set<Uuid>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** The files that an extraction reads, as their addresses. */
  #read(id: Uuid, { result }: Pick<FinishedRun, 'result'>): string[] {
    const { submission } = decodeSubmission(this.#disk.get(keys.submission(batchIdOf(id)))!);
    const { derived, histories } = submission.config;
    const { telemetry_data: telemetry, output_files: files = [] } = result ?? {};
    const isByProgram = (derived?.length ?? 0) + (histories?.length ?? 0) === 0;
    const isOfOutputs = derived?.some(({ expression }) => expression !== undefined) === true;
    return isOfOutputs ? [] : [...(telemetry == null ? [] : [telemetry]), ...(isByProgram ? files : [])];
  }

  /** The place and the address of a file of the run that this one is about. */
  placeOf(id: Uuid, path: string): string {
    const run = parentRun(this.#disk, batchIdOf(id), runIdOf(id));
    const address = this.#read(id, run).find((it) => it.endsWith(`/${path}`)) ?? '';
    const bucket = /^s3:[/][/]([^/]+)[/]/.exec(address)?.[1];
    return `${bucket ?? run.record?.attempts.at(-1)?.runner} ${address}`;
  }

  /** A run was given to a runner: its files are there, or every runner reaches them. */
  claimed(runner: string, id: Uuid): void {
    if (!isExtraction(this.#disk, batchIdOf(id))) return;
    const run = parentRun(this.#disk, batchIdOf(id), runIdOf(id));
    const isLocal = this.#read(id, run).some((it) => !it.startsWith('s3://'));
    const owner = run.record?.attempts.at(-1)?.runner;
    insist(!isLocal || owner === runner, () => `run ${id} was given to ${runner}, and ${owner} has its files`);
  }

  check(): void {
    const names = new Map<string, string>();
    for (const [batchId] of recordsOf(this.#disk, 'batch')) {
      if (!isExtraction(this.#disk, batchId)) continue;
      const { extraction } = decodeSubmission(this.#disk.get(keys.submission(batchId))!);
      const name = `${parentRun(this.#disk, batchId, 0).batch} ${extraction?.name}`;
      insist(!names.has(name), () => `the extractions ${names.get(name)} and ${batchId} have one name`);
      names.set(name, batchId);
      if (!this.#seen.has(batchId)) this.#begin(batchId);
      this.#checkResults(batchId);
    }
    for (const [key, before] of this.#before)
      insist(this.#disk.get(key) === before, () => `${key} of a finished run has changed`);
  }

  #runsOf(batchId: Uuid): RunSelection {
    const { extraction } = decodeSubmission(this.#disk.get(keys.submission(batchId))!);
    return idsOf((extraction?.places ?? []).map(({ run_ids: it }) => it));
  }

  #begin(batchId: Uuid): void {
    this.#seen.add(batchId);
    for (const run of this.#runsOf(batchId).runIds()) {
      const { id } = parentRun(this.#disk, batchId, run);
      for (const key of [keys.job(id), keys.result(id)]) {
        const record = this.#disk.get(key);
        insist(record !== undefined, () => `run ${id} has no ${key}, and an extraction is about it`);
        this.#before.set(key, record);
      }
    }
  }

  /** Every computed value is that of the files of the last attempt at its run. */
  #checkResults(batchId: Uuid): void {
    for (const run of this.#runsOf(batchId).runIds()) {
      const text = this.#disk.get(keys.result(jobId(batchId, run)));
      const { success, metadata } =
        text === undefined ? {} : (JSON.parse(text) as Partial<StoredResult & { success: boolean }>);
      if (metadata?.['peak'] === undefined || success === false) continue;
      const parent = parentRun(this.#disk, batchId, run);
      const attempt = parent.record?.attempts.at(-1)?.n ?? 0;
      let expected = Number(parent.result?.metadata?.['miss'] ?? 0);
      for (const it of this.#read(jobId(batchId, run), parent))
        expected += valueOf(parent.id, attempt, it.slice(it.lastIndexOf('/') + 1));
      const found = metadata['peak'];
      insist(
        found === expected,
        () => `run ${run} of ${batchId} has ${JSON.stringify(found)}, its files have ${expected}`,
      );
    }
  }

  /** The runs of an extraction whose files were gone, by its records. */
  goneRuns(batchId: Uuid): RunSelection {
    const { extraction } = decodeSubmission(this.#disk.get(keys.submission(batchId))!);
    const runs: number[] = [];
    for (const run of this.#runsOf(batchId).runIds()) {
      const text = this.#disk.get(keys.job(jobId(batchId, run)));
      const { value, attempts = [] } = text === undefined ? {} : (JSON.parse(text) as Partial<JobRecord>);
      if (value === 'Failed' && attempts.at(-1)?.reason === 'files-gone') runs.push(run);
    }
    const known = extraction?.withoutFiles?.run_ids;
    return idsOf([...(known === undefined ? [] : [known]), ...runs.map(String)]);
  }
}
