/** All runs of a study in a table: filter, order, columns and brushed ranges are in the address. */
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { describedOutputs } from '../../../src/domain/runs/described-outputs.ts';
import { normalizeMessage } from '../../../src/domain/runs/failure-groups.ts';
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import type {
  BatchStatusResponse,
  BatchSubmission,
  StudyAttribution,
  StudyDistributions,
  StudySummary,
} from '../../../src/contract/types.ts';
import type { RunTable } from '../data/run-table.ts';
import { useAnswer } from '../data/use-answer.ts';
import { useStudyVersion } from '../data/use-refresh.ts';
import { Empty, Waiting } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';
import { worstFirst } from '../plots/requirement-plot.ts';
import { readRanges } from '../plots/variables.ts';
import { changeQuery } from '../router.ts';
import { ColumnChooser } from './chooser.tsx';
import { chosenColumns, columnsOf, defaultKeys } from './columns.ts';
import { FilterBar } from './filter-bar.tsx';
import { whereOf } from './filter.ts';
import { Grid } from './grid.tsx';
import { SelectionBar } from './selection.tsx';
import { useRows } from './use-rows.ts';

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  table: RunTable;
  query: URLSearchParams;
}

const listOf = (text: string | null): string[] => (text === null || text === '' ? [] : text.split(','));

export function StudyRuns({ progress, submission, table, query }: Props) {
  const { batch, jobs_by_status: counts } = progress;
  const failed = counts.Failed + counts.Timeout;
  const distributions = useAnswer<StudyDistributions>(progress, 'distributions?bins=24').data;
  const summary = useAnswer<StudySummary>(progress, 'summary?quantiles=0.05,0.5,0.95').data;
  const attribution = useAnswer<StudyAttribution>(progress, failed === 0 ? undefined : 'attribution').data;
  const outputs = useMemo(
    () => summary?.outputs.map((it) => it.name) ?? Object.keys(describedOutputs(submission)),
    [summary, submission],
  );
  const all = useMemo(() => columnsOf(submission, distributions, outputs), [submission, distributions, outputs]);
  const usual = defaultKeys(all, {
    distributions,
    attribution,
    required: worstFirst(progress.requirements ?? []).flatMap(({ output }) => output ?? []),
    hasFailures: failed > 0,
  });
  const shown = chosenColumns(all, query.get('columns'), usual);
  const asked = useWhere(query);
  const sort = query.get('sort') ?? 'run';
  const sortName = all.find((it) => it.key === sort.replace(/^-/, ''))?.name;
  const message = query.get('message');
  const needed = new Set([
    ...shown.map((it) => it.name),
    'run_id',
    'status',
    ...(message === null ? [] : ['error_message']),
  ]);
  const version = useStudyVersion(batch);
  const found = useRows(
    {
      batchId: batch.id,
      columns: [...needed],
      where: asked.where,
      sort: sortName === undefined || sort === 'run' ? undefined : `${sort.startsWith('-') ? '-' : ''}${sortName}`,
    },
    version,
  );
  // A pattern that keeps what its messages have in common has their own pattern.
  const pattern = message === null ? null : normalizeMessage(message);
  const rows = useMemo(
    () =>
      message === null
        ? found.rows
        : found.rows.filter((it) => normalizeMessage((it['error_message'] as string | null) ?? '') === pattern),
    [found.rows, message, pattern],
  );
  // A message is compared here: all runs that the other filters select are read.
  const isWhole = message === null || found.isDone;
  const { more } = found;
  useEffect(() => {
    if (!isWhole) more();
  }, [isWhole, more, found.rows]);
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set());
  const deferred = useDeferredValue(rows);
  const matched = message === null ? found.matched : rows.length;
  const total = batch.total_jobs;
  return (
    <section className="panel runs" aria-label="Runs">
      <FilterBar
        query={query}
        counts={counts}
        error={asked.error ?? found.error}
        statuses={listOf(query.get('status')).filter((it) => (JOB_STATUSES as readonly string[]).includes(it))}
      />
      <header>
        <span className="grow" role="status">
          {matched === undefined || matched === total
            ? `${count(total)} runs`
            : `${count(matched)}${isWhole ? '' : ' or more'} of ${count(total)} runs`}
        </span>
        <SelectionBar
          batch={batch}
          picked={picked}
          where={asked.where}
          columns={all}
          onClear={() => setPicked(new Set())}
        />
        <ColumnChooser columns={all} shown={shown} />
      </header>
      {found.matched === undefined && found.error === undefined && asked.error === undefined && (
        <Waiting what="Reading the runs" />
      )}
      {found.matched !== undefined && rows.length === 0 && found.isDone && (
        <Empty title="No run matches.">
          <p>Choose other states, or clear the filters.</p>
          <button type="button" onClick={clearFilters}>
            Clear all filters
          </button>
        </Empty>
      )}
      {deferred.length > 0 && (
        <Grid
          table={table}
          rows={deferred}
          matched={matched ?? deferred.length}
          columns={shown}
          sort={sort}
          distributions={distributions}
          ranges={readRanges(query.get('select'))}
          picked={picked}
          onPick={setPicked}
          onMore={found.more}
        />
      )}
    </section>
  );
}

const FILTERS = ['status', 'runner', 'message', 'select', 'where'];

function clearFilters(): void {
  changeQuery(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
}

/** The condition of all filters of the address, or why it cannot be read. */
function useWhere(query: URLSearchParams): { where: string | undefined; error: string | undefined } {
  const filters = {
    statuses: listOf(query.get('status')),
    runner: query.get('runner'),
    ranges: readRanges(query.get('select')),
    text: query.get('where') ?? '',
  };
  try {
    return { where: whereOf(filters), error: undefined };
  } catch (error) {
    return { where: whereOf({ ...filters, text: '' }), error: (error as Error).message };
  }
}
