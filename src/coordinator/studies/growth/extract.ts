/** Extractions: outputs and histories of the files that finished runs have left, as a study of the same run ids. Nothing of the parent changes. */
import type {
  BatchSubmission,
  ExtractionRequest,
  ExtractionResponse,
  JobRecord,
  RunsWithoutFiles,
  RunSelect,
  StoredExtraction,
  StoredResult,
  Uuid,
} from '../../../contract/types.ts';
import { given } from '../../../base/given.ts';
import { batchIdOf } from '../../../domain/ids.ts';
import {
  extractionName,
  extractionNotes,
  extractionOf,
  extractionWarnings,
  filesRead,
  isByProgram,
  studyNameOf,
} from '../../../domain/extraction/submission.ts';
import { appendRun, type RunRange } from '../../../domain/runs/run-ranges.ts';
import { RunSelection } from '../../../domain/runs/run-selection.ts';
import type { BatchState } from '../../kernel/actors/actor-kinds.ts';
import { childrenOf, type ReadRecord } from '../../kernel/records/family.ts';
import { decodeSubmission } from '../../kernel/records/study-cache.ts';
import { keys } from '../../kernel/storage/keys.ts';
import type { StoreView } from '../../kernel/storage/store.ts';
import type { ObjectStorePart } from '../../files/run-place.ts';
import { createDerived, refuse, type DeriveParts, type GrowthOptions } from './derive.ts';
import { selectRuns, terminalRuns } from './select-runs.ts';

export interface ExtractParts extends DeriveParts, ObjectStorePart {}

/**
 * Creates a batch that computes derived outputs and histories of the telemetry of finished runs, or executes a program for each of them.
 * @throws SimbatchError `unknown-batch`; `invalid-request` for a request that cannot be computed, or without runs that have files
 */
export async function extractBatch(
  parts: ExtractParts,
  batchId: Uuid,
  request: ExtractionRequest,
  options: GrowthOptions = {},
): Promise<ExtractionResponse> {
  return createDerived(parts, batchId, options, async ({ view, batch, study, submission: whole }) => {
    const { derived = [], histories = [], with: program, code } = request;
    const asked = { derived, histories, ...given({ with: program, code }) };
    if (program === undefined && isByProgram(asked))
      refuse({
        pointer: '/derived',
        detail: 'is missing, and so are `histories` and `with`; give what is to be computed',
      });
    if (program === undefined && code !== undefined)
      refuse({ pointer: '/code', detail: 'is given without `with`; name its simulation there' });
    const name = nameOf(view, batch, request.name);
    const select = finishedBy(request.select);
    const selected = await selectRuns(parts, view, batch, study, select);
    const found = await placesOf(parts, view, batch, selected, filesRead(asked));
    const { places, withoutFiles, selection } = found;
    if (selection.count === 0)
      refuse({ pointer: '/select', detail: `selects no run with files: ${withoutFiles?.why ?? 'none has ended'}` });
    const submission = submissionOf(whole(), study.selection.count, selection, asked, name);
    const stored: StoredExtraction = { name, places, ...(withoutFiles === undefined ? {} : { withoutFiles }) };
    return {
      submission,
      selection,
      relation: 'extraction',
      extraction: stored,
      warnings: extractionWarnings(extractionNotes(submission, asked)),
      check: (turn) => void nameOf({ get: (key) => turn.read(key) }, batch, request.name ?? name),
      answer: {
        relation: 'extraction',
        name,
        ...(withoutFiles === undefined ? {} : { without_files: withoutFiles }),
      },
    };
  });
}

/** Runs that completed, unless the request says how they ended. */
const finishedBy = (select: RunSelect = {}): RunSelect =>
  select.states === undefined && select.failure_kind === undefined ? { ...select, states: ['Completed'] } : select;

function submissionOf(...asking: Parameters<typeof extractionOf>): BatchSubmission {
  const [whole, held, selection, asked, name] = asking;
  const made = extractionOf(whole, held, selection, asked, studyNameOf(whole.name, name));
  if (!Array.isArray(made)) return made;
  const [first, ...others] = made;
  return refuse(first!, ...others);
}

/** The names of the extractions of a batch, oldest first, with their batches. */
export function extractionsOf(read: ReadRecord, batch: BatchState): { batchId: Uuid; extraction: StoredExtraction }[] {
  return childrenOf(read, batch.context)
    .filter(({ relation }) => relation === 'extraction')
    .flatMap(({ batch_id: batchId }) => {
      const record = read(keys.submission(batchId));
      const extraction = record === undefined ? undefined : decodeSubmission(record).extraction;
      return extraction === undefined ? [] : [{ batchId, extraction }];
    });
}

/** @throws SimbatchError `invalid-request` for a name that another extraction of the batch has */
function nameOf(
  records: { get(key: string): string | undefined },
  batch: BatchState,
  wanted: string | undefined,
): string {
  const others = extractionsOf((key) => records.get(key), batch);
  const same = others.find((it) => it.extraction.name === wanted);
  if (wanted === undefined) return extractionName(others.map((it) => it.extraction.name));
  if (same === undefined) return wanted;
  return refuse({
    pointer: '/name',
    detail: `is ${JSON.stringify(wanted)}, the name of the extraction ${same.batchId} of this study; choose another one, or leave it out`,
  });
}

interface Found extends Pick<StoredExtraction, 'places'> {
  withoutFiles: RunsWithoutFiles | undefined;
  /** The runs that are in a place. */
  selection: RunSelection;
}

/** Where the files of the selected runs are, as their records say. A runner may find later that they are gone. */
async function placesOf(
  parts: ExtractParts,
  view: StoreView,
  batch: BatchState,
  selected: RunSelection,
  read: ReturnType<typeof filesRead>,
): Promise<Found> {
  const byPlace = new Map<string, RunRange[]>();
  const gone: RunRange[] = [];
  const all: RunRange[] = [];
  let why: string | undefined;
  let goneRuns = 0;
  for await (const part of terminalRuns(parts, view, batch, selected)) {
    for (const { jobId, runId, record } of part) {
      const place = placeOf(parts, view, jobId, record, read);
      if ('gone' in place) {
        why ??= place.gone;
        goneRuns += 1;
        appendRun(gone, runId);
        continue;
      }
      const ranges = byPlace.get(place.runner ?? '') ?? [];
      byPlace.set(place.runner ?? '', ranges);
      appendRun(ranges, runId);
      appendRun(all, runId);
    }
  }
  const idsOf = (ranges: readonly RunRange[]): string => RunSelection.ofRanges(ranges).toString();
  const places = [...byPlace].map(([runner, ranges]) => ({
    ...(runner === '' ? {} : { runner }),
    run_ids: idsOf(ranges),
  }));
  const withoutFiles = why === undefined ? undefined : { runs: goneRuns, run_ids: idsOf(gone), why };
  return { places, withoutFiles, selection: RunSelection.ofRanges(all) };
}

/** The runner that has the files of a run; none where every runner reaches them. */
function placeOf(
  { objectStore }: ObjectStorePart,
  view: StoreView,
  jobId: Uuid,
  record: JobRecord,
  read: ReturnType<typeof filesRead>,
): { runner?: string } | { gone: string } {
  const owner = record.reusedFrom ?? jobId;
  if (owner !== jobId && view.get(keys.batch(batchIdOf(owner))) === undefined)
    return { gone: `its result is that of run ${owner}, whose study was deleted` };
  const text = view.get(keys.result(owner));
  if (text === undefined) return { gone: 'it has no result' };
  // A run that has sent no sample has no file of telemetry.
  const buckets = read(JSON.parse(text) as StoredResult).map((it) => /^s3:[/][/]([^/]+)[/]/.exec(it)?.[1]);
  const foreign = buckets.find((it) => it !== undefined && objectStore?.serves(it) !== true);
  if (foreign !== undefined)
    return {
      gone: `its files are in the bucket ${JSON.stringify(foreign)}, which this coordinator does not use; see --s3-bucket`,
    };
  if (!buckets.includes(undefined)) return {};
  const ran = owner === jobId ? record : (JSON.parse(view.get(keys.job(owner)) ?? '{"attempts":[]}') as JobRecord);
  const runner = ran.attempts.at(-1)?.runner;
  return runner === undefined ? { gone: 'the runner that executed it is not known' } : { runner };
}
