/** Explore a study: its variables by relevance to a target, and cards of plots; one selection, kept in the address, for all of them. */
import { useDeferredValue, useMemo } from 'react';
import type { BatchStatusResponse, BatchSubmission } from '../../../src/contract/types.ts';
import type { RunTable } from '../data/run-table.ts';
import { useAge } from '../data/use-age.ts';
import { useTableLayout } from '../data/use-batch.ts';
import { Empty } from '../parts/common.tsx';
import { histogramOf, type Histogram } from '../plots/bins.ts';
import { scaleOf, type Scale } from '../plots/scale.ts';
import {
  readRanges,
  sampleRuns,
  selectedRuns,
  variablesOf,
  varies,
  writeRanges,
  type Variable,
} from '../plots/variables.ts';
import { changeQuery } from '../router.ts';
import { worstFirst } from '../plots/requirement-plot.ts';
import { Legend, VariableChoice } from './choices.tsx';
import { Cards, Gallery } from './gallery.tsx';
import { Rail } from './rail.tsx';
import { byRelevance, useRelevance } from './relevance.ts';
import { SelectionBar } from './selection-bar.tsx';
import { listOf, type Bench, type Drawn } from './state.ts';
import { targetOf, targetsOf } from './target.ts';
import './explore.css';

/** Runs that are drawn as points. */
const POINTS = 6_000;

interface PageProps {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  table: RunTable;
  query: URLSearchParams;
}

export default function Explore({ progress, submission, table, query }: PageProps) {
  const age = useAge(table);
  const layout = useDeferredValue(useTableLayout(table));
  const text = query.get('select');
  const ranges = useMemo(() => readRanges(text), [text]);
  const varying = useMemo(() => variablesOf(table).filter(varies), [table, age, layout]);
  const status = useMemo(() => table.status.slice(), [table, age, layout]);
  const size = status.length;
  const mask = useDeferredValue(useMemo(() => selectedRuns(size, varying, ranges), [size, varying, ranges]));
  const sample = useMemo(() => sampleRuns(status, POINTS), [status]);
  const hasFailed = progress.jobs_by_status.Failed + progress.jobs_by_status.Timeout > 0;
  const targets = useMemo(
    () => targetsOf(varying, worstFirst(progress.requirements ?? []), hasFailed),
    [varying, progress.requirements, hasFailed],
  );
  // Until a run is read the targets are not known: no question is asked for the first of them.
  const target = varying.length === 0 ? undefined : targetOf(targets, query.get('target'));
  const { relevance, measure, note } = useRelevance({ progress, target, variables: varying, status, sample });
  const logs = query.get('log') ?? '';
  const colour = query.get('colour');
  const colouring = varying.find((it) => it.key === colour);
  // Without the progress and the address: nothing is drawn again when they change.
  const drawn = useMemo((): Drawn => {
    const logged = new Set(listOf(logs));
    const isLog = (key: string): boolean => logged.has(key);
    const scales = new Map<Variable, Scale>();
    const histograms = new Map<Variable, Histogram | undefined>();
    const histogram = (variable: Variable): Histogram | undefined => {
      if (!histograms.has(variable))
        histograms.set(variable, histogramOf(variable.values, status, mask, isLog(variable.key)));
      return histograms.get(variable);
    };
    const scale = (variable: Variable): Scale => {
      const known = scales.get(variable);
      if (known !== undefined) return known;
      // The words of a text have no histogram.
      const bulk = variable.categories === undefined ? histogram(variable) : undefined;
      const made = scaleOf(variable, isLog(variable.key), bulk === undefined ? undefined : [bulk.from, bulk.to]);
      scales.set(variable, made);
      return made;
    };
    return { table, status, mask, colouring, sample, isLog, scale, histogram };
  }, [table, status, mask, colouring, sample, logs]);
  const bench = useMemo((): Bench => {
    const variables = byRelevance(varying, relevance);
    return {
      ...drawn,
      drawn,
      progress,
      submission,
      query,
      variables,
      target,
      relevance,
      measure,
      relevanceNote: note,
      select: (changes) => {
        const next = new Map(readRanges(text));
        for (const [key, range] of changes) {
          if (range === undefined) next.delete(key);
          else next.set(key, range);
        }
        changeQuery({ select: writeRanges(next) });
      },
    };
  }, [drawn, progress, submission, query, varying, target?.key, relevance, note, text]);
  if (varying.length === 0) {
    return (
      <section className="panel">
        <Empty title={table.isLoaded ? 'Nothing varies in this study.' : 'Reading the runs …'}>
          {table.isLoaded && <p>All dispersions are fixed, and no run has an output yet.</p>}
        </Empty>
      </section>
    );
  }
  return (
    <>
      <SelectionBar batch={progress.batch} bench={bench} query={query} size={size} />
      <div className="row options">
        <Gallery bench={bench} />
        <VariableChoice
          label="Colour by"
          value={bench.colouring?.key ?? ''}
          none="outcome"
          variables={bench.variables}
          onChange={(key) => changeQuery({ colour: key })}
        />
        <Legend bench={bench} />
      </div>
      <div className="bench">
        <Rail bench={bench} targets={targets} />
        <Cards bench={bench} />
      </div>
    </>
  );
}
