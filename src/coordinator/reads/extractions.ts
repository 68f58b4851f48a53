/** The extractions of a batch: their names, how far they are, and the runs whose files were gone. Records are read in slices of the event loop. */
import type { BatchSubmission, ExtractionList, RunsWithoutFiles, Uuid } from '../../contract/types.ts';
import type { ExtractedBatch } from '../../analysis/table/extracted.ts';
import { plural } from '../../domain/plural.ts';
import { appendRun, type RunRange } from '../../domain/runs/run-ranges.ts';
import { RunSelection } from '../../domain/runs/run-selection.ts';
import { extractionNotes } from '../../domain/extraction/submission.ts';
import type { AwaitedLack, Situation } from '../../domain/findings/finding.ts';
import { supports } from '../../domain/scheduling.ts';
import { decodeRunner, type BatchState, type RunnerState } from '../kernel/actors/actor-kinds.ts';
import { keys } from '../kernel/storage/keys.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import type { StoreView } from '../kernel/storage/store.ts';
import { extractionsOf } from '../studies/growth/extract.ts';
import { terminalRuns } from '../studies/growth/select-runs.ts';
import type { ListingParts } from './listings.ts';

/** Characters of run ids that a sentence shows. */
const MOST_SHOWN = 200;

/** @throws SimbatchError `unknown-batch` */
export async function extractions(parts: ListingParts, batchId: Uuid): Promise<ExtractionList> {
  const view = parts.store.snapshot();
  try {
    const parent = readBatch(view, batchId);
    const list: ExtractionList['extractions'] = [];
    for (const { batchId: id, extraction } of extractionsOf((key) => view.get(key), parent)) {
      const batch = readBatch(view, id);
      const { submission } = parts.studyCache.of(batch.context, { read: (key) => view.get(key) });
      const without = await withoutFiles(parts, view, batch);
      list.push({
        batch_id: id,
        name: extraction.name,
        status: batch.value,
        runs: batch.context.totalJobs,
        completed: batch.context.completed,
        ...(without === undefined ? {} : { without_files: without }),
        notes: notesOf(submission),
      });
    }
    return { extractions: list };
  } finally {
    await view.close();
  }
}

/** The extractions of a batch for its table, with the limits of their values. */
async function extractedBeside(parts: ListingParts, batchId: Uuid): Promise<ExtractedBatch[]> {
  const { extractions: list } = await extractions(parts, batchId);
  return list.map(({ batch_id: id, name, notes, without_files: without }) => ({
    of: batchId,
    batchId: id,
    name,
    notes: [...goneNotes(without), ...notes],
  }));
}

/** The same for questions, without a look at its runs: `notes` has those that were known to have no files when it was submitted. */
function extractedColumns(parts: Pick<ListingParts, 'store' | 'studyCache'>, batchId: Uuid): ExtractedBatch[] {
  const read = (key: string): string | undefined => parts.store.get(key);
  return extractionsOf(read, readBatch(parts.store, batchId)).map(({ batchId: id, extraction }) => {
    const { submission } = parts.studyCache.of(readBatch(parts.store, id).context, { read });
    const notes = [...goneNotes(extraction.withoutFiles), ...notesOf(submission)];
    return { of: batchId, batchId: id, name: extraction.name, notes };
  });
}

/** The hooks of answers for the extractions of a batch: of its table, and of questions about it. */
export const extractionHooks = (parts: () => ListingParts) => ({
  extractionsOf: (batchId: Uuid): Promise<ExtractedBatch[]> => extractedBeside(parts(), batchId),
  extractedOf: (batchId: Uuid): ExtractedBatch[] => extractedColumns(parts(), batchId),
});

const goneNotes = (without: RunsWithoutFiles | undefined): string[] =>
  without === undefined
    ? []
    : [`nothing of ${plural(without.runs, 'run')} (${without.run_ids.slice(0, MOST_SHOWN)}): ${without.why}`];

const notesOf = (submission: Pick<BatchSubmission, 'config'>): string[] => {
  const { derived, histories } = submission.config;
  return extractionNotes(submission, { derived: derived ?? [], histories: histories ?? [] });
};

/** The runs without files: those that are known since the submission, and those of which a runner has found none. */
export async function withoutFiles(
  parts: Pick<ListingParts, 'share' | 'studyCache'>,
  view: StoreView,
  batch: BatchState,
): Promise<RunsWithoutFiles | undefined> {
  const { selection, extraction } = parts.studyCache.of(batch.context, { read: (key) => view.get(key) });
  const before = extraction?.withoutFiles;
  if (batch.context.failed === 0) return before;
  const found: number[] = [];
  let why = before?.why;
  for await (const part of terminalRuns(parts, view, batch, selection)) {
    for (const { runId, reason, record } of part) {
      if (reason !== 'files-gone') continue;
      found.push(runId);
      why ??= record.error ?? '';
    }
  }
  if (found.length === 0) return before;
  const known = before === undefined ? [] : [...(RunSelection.parse(before.run_ids) as RunSelection).runIds()];
  const ranges: RunRange[] = [];
  for (const runId of [...known, ...found].sort((a, b) => a - b)) appendRun(ranges, runId);
  const ids = RunSelection.ofRanges(ranges);
  return { runs: ids.count, run_ids: ids.toString(), why: why ?? '' };
}

/** The runners that have files of Pending runs and execute none: they are not connected, do not take the program or are drained; undefined: none. */
export async function awaitedRunners(
  parts: Pick<ListingParts, 'share' | 'studyCache'>,
  view: StoreView,
  batch: BatchState,
): Promise<Situation['awaited']> {
  const { extraction } = parts.studyCache.of(batch.context, { read: (key) => view.get(key) });
  const { simulationName } = batch.context;
  const awaited: { runner: string; lack: AwaitedLack }[] = [];
  let runs = 0;
  for (const { runner, run_ids: ids } of extraction?.places ?? []) {
    if (runner === undefined) continue;
    const lack = lackOf(connected(view, runner), simulationName);
    if (lack === undefined) continue;
    const place = RunSelection.parse(ids) as RunSelection;
    let pending = place.count;
    for await (const part of terminalRuns(parts, view, batch, place))
      pending -= part.filter(({ status }) => status !== 'Pending').length;
    if (pending === 0) continue;
    awaited.push({ runner, lack });
    runs += pending;
  }
  const order = (lack: AwaitedLack): number => (lack === 'offline' ? 0 : lack === 'program' ? 1 : 2);
  const [first, ...others] = awaited.toSorted((a, b) => order(a.lack) - order(b.lack));
  if (first === undefined) return undefined;
  return { runners: [first, ...others].map(({ runner }) => runner), runs, lack: first.lack };
}

function lackOf(runner: RunnerState | undefined, simulation: string): AwaitedLack | undefined {
  if (runner === undefined) return 'offline';
  const { capabilities, drained, drainReason = '' } = runner.context;
  if (!supports(capabilities, simulation)) return 'program';
  return drained ? { drained: drainReason } : undefined;
}

function connected(view: StoreView, runnerId: string): RunnerState | undefined {
  const record = view.get(keys.runner(runnerId));
  const state = record === undefined ? undefined : decodeRunner(record);
  return state?.value === 'Offline' ? undefined : state;
}
