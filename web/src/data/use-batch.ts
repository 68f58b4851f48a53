/** State of the page of one study: its live progress, and the table of its runs. */
import { useEffect, useState } from 'react';
import type { BatchStatusResponse, BatchSubmission } from '../../../src/contract/types.ts';
import { runsHeld } from '../../../src/domain/runs/run-selection.ts';
import { useTopicListener } from './live.ts';
import { useRequest } from './api.ts';
import { RunTable, type Need } from './run-table.ts';
import { unitsOf } from './units.ts';
import { useStore } from './use-store.ts';

export interface BatchView {
  progress: BatchStatusResponse | undefined;
  submission: BatchSubmission | undefined;
  table: RunTable | undefined;
  error: string | undefined;
}

/** `need`: how much of the table the shown page needs. */
export function useBatch(batchId: string, need: Need): BatchView {
  const initial = useRequest<BatchStatusResponse>(`/batches/${encodeURIComponent(batchId)}`);
  const [progress, setProgress] = useState<BatchStatusResponse>();
  const [table, setTable] = useState<RunTable>();
  const submission = useRequest<BatchSubmission>(`/batches/${encodeURIComponent(batchId)}/submission`);
  const size = initial.data?.batch.total_jobs;
  const study = submission.data;
  useEffect(() => {
    if (size === undefined || study === undefined) return undefined;
    const made = new RunTable(batchId, runsHeld(study.config, size), unitsOf(study));
    setTable(made);
    return () => made.close();
  }, [batchId, size, study]);
  // The rounds of an adaptive study are drawn from the states of their runs on each of its pages.
  const least = need === 'changes' && initial.data?.batch.budget !== undefined ? 'states' : need;
  useEffect(() => table?.require(least), [table, least]);
  const [gone, setGone] = useState<string>();
  useTopicListener(size === undefined ? undefined : `batch/${batchId}`, (message) => {
    if (message.type === 'error') setGone(message.detail);
    else setGone(undefined);
    if (message.type === 'snapshot' || message.type === 'delta') {
      const { data } = message;
      setProgress(data.progress);
      const { budget, total_jobs: runs } = data.progress.batch;
      if (budget !== undefined) table?.grow(runs);
      table?.apply(data.runs ?? []);
      // Changes were missed: after a lost connection, or because of too many at once.
      if (data.reload === true || (message.type === 'snapshot' && table?.isLoaded === true)) table?.load();
    }
  });
  const error = gone ?? initial.error?.message ?? submission.error?.message;
  return { progress: progress ?? initial.data, submission: study, table, error };
}

/** Renders again when the table changes; returns its version. */
export const useTableVersion = (table: RunTable): number => useStore(table.store, (it) => it.version);

/** Renders again when the table has a new column, or was read; returns the version of its layout. */
export const useTableLayout = (table: RunTable): number => useStore(table.store, (it) => it.layout);
