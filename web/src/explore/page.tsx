/** Explore a study: distributions, any pairs, all variables together; one selection, kept in the address, for all plots. */
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import type { BatchStatusResponse, BatchSubmission, StudyAttribution } from '../../../src/contract/types.ts';
import type { RunTable } from '../data/run-table.ts';
import { Histories } from '../histories/card.tsx';
import { useAnswer } from '../data/use-answer.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { Empty, Panel } from '../parts/common.tsx';
import { scaleOf, type Scale } from '../plots/canvas.tsx';
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
import { Distributions } from './distributions.tsx';
import { Legend, VariableChoice, VariablesMenu } from './choices.tsx';
import { Parallel } from './parallel.tsx';
import { PairPlot, pointsNote, ScatterMatrix } from './scatter.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { chosen, listOf, usualVariables, type Plots } from './state.ts';
import { RunningMean, Statistics } from './statistics.tsx';

/** Changes of the table (0.4 s apart) between two drawings; more of a large study, whose plots change slowly. */
const CHANGES_PER_DRAWING = 5;
const CHANGES_PER_LARGE_DRAWING = 15;
const LARGE = 50_000;
const MATRIX = 5;
/** Runs that are drawn as points. */
const POINTS = 6_000;
const AXES = 9;

interface PageProps {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  table: RunTable;
  query: URLSearchParams;
}

/** After this time without a change the last ones are drawn, however few they are. */
const QUIET_MS = 1_000;

/** The version of the table that is drawn. */
function useAge(table: RunTable, perDrawing: number): number {
  const version = useTableVersion(table);
  const [age, setAge] = useState(version);
  useEffect(() => {
    const timer = window.setTimeout(() => setAge(version), version - age >= perDrawing ? 0 : QUIET_MS);
    return () => window.clearTimeout(timer);
  }, [version, age, perDrawing]);
  return age;
}

export default function Explore({ progress, submission, table, query }: PageProps) {
  const perDrawing = table.size > LARGE ? CHANGES_PER_LARGE_DRAWING : CHANGES_PER_DRAWING;
  const age = useDeferredValue(useAge(table, perDrawing));
  const text = query.get('select');
  const ranges = useMemo(() => readRanges(text), [text]);
  const variables = useMemo(() => variablesOf(table).filter(varies), [table, age, table.isLoaded, table.parameters]);
  const mask = useDeferredValue(useMemo(() => selectedRuns(table.size, variables, ranges), [table, variables, ranges]));
  const logs = query.get('log') ?? '';
  const colouring = variables.find((it) => it.key === query.get('colour'));
  const status = useMemo(() => table.status.slice(), [table, age, table.isLoaded]);
  const sample = useMemo(() => sampleRuns(status, POINTS), [status]);
  const plots = useMemo((): Plots => {
    const logged = new Set(listOf(logs));
    const scales = new Map<string, Scale>();
    return {
      sample,
      scale: (variable) => {
        const known = scales.get(variable.key) ?? scaleOf(variable, logged.has(variable.key));
        scales.set(variable.key, known);
        return known;
      },
      status,
      mask,
      colouring,
      isLog: (key) => logged.has(key),
      select: (changes) => {
        const next = new Map(readRanges(text));
        for (const [key, range] of changes) {
          if (range === undefined) next.delete(key);
          else next.set(key, range);
        }
        changeQuery({ select: writeRanges(next) });
      },
      showPair: (x, y) => changeQuery({ x, y }),
    };
  }, [status, sample, mask, colouring, logs, text]);
  const brushed = useMemo(
    () => (mask === undefined ? [] : [...mask.keys()].filter((row) => mask[row] === 1).map((row) => table.runAt(row))),
    [mask, table],
  );
  const hasFailed = progress.jobs_by_status.Failed + progress.jobs_by_status.Timeout > 0;
  const causes = useAnswer<StudyAttribution>(progress, hasFailed ? 'attribution' : undefined).data;
  if (variables.length === 0) {
    return (
      <section className="panel">
        <Empty title={table.isLoaded ? 'Nothing varies in this study.' : 'Reading the runs …'}>
          {table.isLoaded && <p>All dispersions are fixed, and no run has an output yet.</p>}
        </Empty>
      </section>
    );
  }
  const inputs = causes?.parameters.map((it) => it.name) ?? [];
  const outputs = variables.filter((it) => it.kind === 'output' && it.categories === undefined).map((it) => it.name);
  return (
    <>
      <SelectionBar batch={progress.batch} plots={plots} query={query} size={table.size} />
      <div className="row options">
        <VariableChoice
          label="Colour by"
          value={colouring?.key ?? ''}
          none="outcome"
          variables={variables}
          onChange={(key) => changeQuery({ colour: key })}
        />
        <label className="row small">
          <input
            type="checkbox"
            checked={query.get('edf') === '1'}
            onChange={(event) => changeQuery({ edf: event.target.checked ? '1' : undefined })}
          />
          cumulative distributions
        </label>
        <Legend plots={plots} />
      </div>
      {(['parameter', 'output'] as const).map((kind) => (
        <Distributions
          key={kind}
          kind={kind}
          variables={variables}
          plots={plots}
          ranges={ranges}
          isCumulative={query.get('edf') === '1'}
        />
      ))}
      <Pairs variables={variables} plots={plots} query={query} inputs={inputs} size={table.size} />
      <Together variables={variables} plots={plots} query={query} inputs={inputs} ranges={ranges} />
      <Histories progress={progress} submission={submission} selected={brushed} />
      <Statistics progress={progress} />
      <RunningMean
        progress={progress}
        outputs={outputs}
        units={table.units.outputs}
        chosen={query.get('mean')}
        isSelected={mask !== undefined}
      />
    </>
  );
}

interface PartProps {
  variables: readonly Variable[];
  plots: Plots;
  query: URLSearchParams;
  inputs: readonly string[];
}

function Pairs({ variables, plots, query, inputs, size }: PartProps & { size: number }) {
  const usual = usualVariables(variables, inputs, MATRIX);
  const shown = chosen(variables, listOf(query.get('vars')), usual);
  const find = (key: string | null): Variable | undefined => variables.find((it) => it.key === key);
  const across = find(query.get('x')) ?? shown[0];
  const up = find(query.get('y')) ?? shown.findLast((it) => it !== across);
  if (across === undefined || up === undefined) return null;
  return (
    <div className="columns pairs-of">
      <Panel
        title="All pairs"
        aside={
          <VariablesMenu
            variables={variables}
            shown={shown}
            most={8}
            onChange={(keys) => changeQuery({ vars: keys.join(',') })}
          />
        }
      >
        {shown.length > 1 && <ScatterMatrix plots={plots} variables={shown} />}
      </Panel>
      <Panel
        title="One pair"
        aside={
          <>
            <VariableChoice
              label="Across"
              value={across.key}
              variables={variables}
              onChange={(x) => changeQuery({ x })}
            />
            <VariableChoice label="Up" value={up.key} variables={variables} onChange={(y) => changeQuery({ y })} />
          </>
        }
      >
        <PairPlot plots={plots} across={across} up={up} />
        <p className="small soft">{pointsNote(size, POINTS)}. Drag a rectangle to select.</p>
      </Panel>
    </div>
  );
}

function Together({ variables, plots, query, inputs, ranges }: PartProps & { ranges: ReturnType<typeof readRanges> }) {
  const axes = chosen(variables, listOf(query.get('axes')), usualVariables(variables, inputs, AXES));
  if (axes.length < 2) return null;
  return (
    <Panel
      title="All together"
      aside={
        <VariablesMenu
          variables={variables}
          shown={axes}
          most={16}
          onChange={(keys) => changeQuery({ axes: keys.join(',') })}
        />
      }
    >
      <Parallel plots={plots} axes={axes} ranges={ranges} onOrder={(keys) => changeQuery({ axes: keys.join(',') })} />
    </Panel>
  );
}
