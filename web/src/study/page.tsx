/** The page of one study: a short head with its progress, and tabs. */
import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import type { Batch, BatchStatusResponse, Finding, StudyAnswer } from '../../../src/contract/types.ts';
import { Compare } from '../compare/page.tsx';
import type { Need, RunTable } from '../data/run-table.ts';
import { useBatch, useTableVersion, type BatchView } from '../data/use-batch.ts';
import { Dialog, Failure, Waiting } from '../parts/common.tsx';
import { StatusLegend } from '../parts/status.tsx';
import { changeQuery, hrefOf } from '../router.ts';
import { Rounds } from '../rounds/page.tsx';
import { StudyRuns } from '../runs/page.tsx';
import { announce } from '../title.ts';
import { useStudyAnswer } from './answer.tsx';
import { FindingsBanner, useFindings } from './findings.tsx';
import { StudyHead } from './head.tsx';
import { Overview } from './overview.tsx';
import { shareOf } from '../parts/progress.ts';
import { Submission } from './submission.tsx';

const Explore = lazy(() => import('../explore/page.tsx'));

const TABS = [
  ['overview', 'Overview'],
  ['runs', 'Runs'],
  ['rounds', 'Rounds'],
  ['explore', 'Explore'],
  ['compare', 'Compare'],
] as const;

/** Addresses of earlier editions. */
const OLD_TABS: Readonly<Record<string, string>> = { plots: 'explore', study: 'overview' };

const NEEDS: Readonly<Record<string, Need>> = { overview: 'states', explore: 'values', compare: 'values' };

/** A comparison needs the runs once the other study is chosen. */
const needOf = (tab: string, query: URLSearchParams): Need =>
  tab === 'compare' && !query.has('with') ? 'changes' : (NEEDS[tab] ?? 'changes');

interface Props {
  batchId: string;
  tab: string;
  query: URLSearchParams;
}

export function StudyPage({ batchId, tab: asked, query }: Props) {
  const tab = OLD_TABS[asked] ?? asked;
  const isOldFile = asked === 'study';
  useEffect(() => {
    if (isOldFile) changeQuery({ file: 'open' });
  }, [isOldFile]);
  const view = useBatch(batchId, needOf(tab, query));
  const { progress, error } = view;
  const answer = useStudyAnswer(progress);
  useEffect(() => {
    if (progress === undefined) return;
    const { name, status } = progress.batch;
    announce({ id: batchId, name, status, share: shareOf(progress), answer });
  }, [batchId, progress, answer]);
  if (error !== undefined) return <Failure what="The study could not be read." detail={error} />;
  if (progress === undefined) return <Waiting what="Reading the study" />;
  return (
    <>
      <Study view={view} progress={progress} answer={answer} tab={tab} query={query} />
      {query.has('file') && <StudyFile batchId={batchId} />}
    </>
  );
}

const StudyFile = ({ batchId }: { batchId: string }) => (
  <Dialog title="The study as submitted" shape="drawer" onClose={() => changeQuery({ file: undefined })}>
    <Submission batchId={batchId} />
  </Dialog>
);

interface StudyProps {
  view: BatchView;
  progress: BatchStatusResponse;
  answer: StudyAnswer | undefined;
  tab: string;
  query: URLSearchParams;
}

function Study({ view, progress, answer, tab, query }: StudyProps) {
  const { findings, again } = useFindings(progress);
  const { batch, jobs_by_status: counts } = progress;
  return (
    <>
      <StudyHead progress={progress} answer={answer} table={view.table} />
      <FindingsBanner progress={progress} findings={findings} again={again} />
      <nav className="tabs" aria-label="Parts of the study">
        {TABS.filter(([name]) => isTabOf(name, tab, batch)).map(([name, title]) => (
          <a
            key={name}
            href={hrefOf(['batches', batch.id, name], { select: query.get('select') ?? '' })}
            aria-current={tab === name ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
        {tab === 'overview' && (
          <StatusLegend batchId={batch.id} counts={counts} current="" isOk={answer?.level === 'ok'} />
        )}
      </nav>
      {view.table !== undefined && <TableFailure table={view.table} />}
      {tabContent(tab, view, query, findings)}
    </>
  );
}

/** Two studies are compared from the list of studies and from their relations: here the tab is that of the open page. */
const isTabOf = (name: string, tab: string, { budget }: Batch): boolean =>
  name === 'compare' ? tab === 'compare' : name !== 'rounds' || budget !== undefined;

function TableFailure({ table }: { table: RunTable }) {
  useTableVersion(table);
  return <Failure what="Not all runs could be read." detail={table.failure} />;
}

function tabContent(
  tab: string,
  { progress, table, submission }: BatchView,
  query: URLSearchParams,
  findings: readonly Finding[],
): ReactNode {
  if (progress === undefined || submission === undefined) return <Waiting what="Reading the study" />;
  if (table === undefined) return <Waiting what="Reading the study" />;
  if (tab === 'compare') return <Compare progress={progress} submission={submission} table={table} query={query} />;
  if (tab === 'runs') return <StudyRuns progress={progress} submission={submission} table={table} query={query} />;
  if (tab === 'rounds') return <Rounds progress={progress} table={table} query={query} />;
  if (tab === 'explore')
    return (
      <Suspense fallback={<Waiting />}>
        <Explore progress={progress} submission={submission} table={table} query={query} />
      </Suspense>
    );
  return <Overview progress={progress} submission={submission} table={table} findings={findings} />;
}
