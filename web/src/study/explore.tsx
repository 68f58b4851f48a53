/** Distributions of a study: each parameter and output, any pair, parallel coordinates; one selection for all plots. */
import { useDeferredValue, useMemo, useRef } from 'react';
import type { BatchStatusResponse } from '../../../src/contract/types.ts';
import type { RunTable } from '../data/run-table.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { Empty, Panel } from '../parts/common.tsx';
import { count, figure } from '../parts/time.tsx';
import { Chart } from '../plots/chart.tsx';
import { HistogramPlot } from '../plots/histogram.tsx';
import {
  histogramOf,
  isFailure,
  readRanges,
  sampleRuns,
  selectedRuns,
  variablesOf,
  writeRanges,
  type Ranges,
  type Variable,
} from '../plots/variables.ts';
import { changeQuery } from '../router.ts';
import { colour, useShownTheme } from '../theme.ts';
import { RunningMean, Statistics } from './statistics.tsx';

const CHANGES_PER_DRAWING = 5;
const SCATTER_POINTS = 4_000;
const LINES = 400;
const AXES = 9;

interface PageProps {
  progress: BatchStatusResponse;
  table: RunTable;
  query: URLSearchParams;
}

export default function Explore({ progress, table, query }: PageProps) {
  // Plots of many runs are redrawn every two seconds, not with each change.
  const age = useDeferredValue(Math.floor(useTableVersion(table) / CHANGES_PER_DRAWING));
  const text = query.get('select');
  const ranges = useMemo(() => readRanges(text), [text]);
  const variables = useMemo(() => variablesOf(table).filter(varies), [table, age, table.isLoaded, table.parameters]);
  const mask = useMemo(() => selectedRuns(table.size, variables, ranges), [table, variables, ranges]);
  const setRange = (key: string, range: readonly [number, number] | undefined): void => {
    const next = new Map(ranges);
    if (range === undefined) next.delete(key);
    else next.set(key, range);
    changeQuery({ select: writeRanges(next) });
  };
  if (variables.length === 0) {
    return (
      <section className="panel">
        <Empty title={table.isLoaded ? 'Nothing varies in this study.' : 'Reading the runs …'}>
          {table.isLoaded && <p>All dispersions are fixed, and no run has a numeric output yet.</p>}
        </Empty>
      </section>
    );
  }
  const outputs = variables.filter((it) => it.kind === 'output').map((it) => it.name);
  const chosen = mask === undefined ? table.size : mask.reduce((sum, it) => sum + it, 0);
  return (
    <>
      <div className="row selection" role="status">
        <span>
          {mask === undefined
            ? `All ${count(table.size)} runs. Drag across a distribution to select some.`
            : `${count(chosen)} of ${count(table.size)} runs selected`}
        </span>
        {mask !== undefined && (
          <button type="button" onClick={() => changeQuery({ select: undefined })}>
            Clear the selection
          </button>
        )}
        <Keys />
      </div>
      {(['parameter', 'output'] as const).map((kind) => (
        <Histograms
          key={kind}
          kind={kind}
          table={table}
          variables={variables}
          mask={mask}
          ranges={ranges}
          onRange={setRange}
        />
      ))}
      <Statistics progress={progress} />
      <div className="columns">
        <Scatter table={table} variables={variables} mask={mask} query={query} />
        <RunningMean progress={progress} outputs={outputs} units={table.units.outputs} chosen={query.get('mean')} />
      </div>
      <Parallel table={table} variables={variables} mask={mask} onRange={setRange} />
    </>
  );
}

/** A fixed parameter has no distribution. */
function varies({ values }: Variable): boolean {
  let first = Number.NaN;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    if (Number.isNaN(first)) first = value;
    else if (value !== first) return true;
  }
  return false;
}

function Keys() {
  return (
    <span className="keys">
      <span>
        <i className="k-selected" aria-hidden="true" /> selected
      </span>
      <span>
        <i className="k-failed" aria-hidden="true" /> failed
      </span>
      <span>
        <i className="k-all" aria-hidden="true" /> not selected
      </span>
    </span>
  );
}

interface PlotProps {
  table: RunTable;
  variables: Variable[];
  mask: Uint8Array | undefined;
}

interface HistogramsProps extends PlotProps {
  kind: Variable['kind'];
  ranges: Ranges;
  onRange: (key: string, range: readonly [number, number] | undefined) => void;
}

function Histograms({ kind, table, variables, mask, ranges, onRange }: HistogramsProps) {
  const plots = useMemo(
    () =>
      variables
        .filter((it) => it.kind === kind)
        .map((variable) => ({ variable, histogram: histogramOf(variable.values, table.status, mask) })),
    [kind, table, variables, mask],
  );
  if (plots.length === 0) return null;
  return (
    <Panel title={kind === 'parameter' ? 'Parameters' : 'Outputs'}>
      <div className="histograms">
        {plots.map(({ variable, histogram }) =>
          histogram === undefined ? null : (
            <HistogramPlot
              key={variable.key}
              name={variable.label}
              note={`n = ${count(histogram.count)}`}
              histogram={histogram}
              range={ranges.get(variable.key)}
              onRange={(range) => onRange(variable.key, range)}
            />
          ),
        )}
      </div>
    </Panel>
  );
}

function Choice({
  label,
  value,
  variables,
  onChange,
}: {
  label: string;
  value: string;
  variables: Variable[];
  onChange: (key: string) => void;
}) {
  return (
    <label className="row small">
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {variables.map((it) => (
          <option key={it.key} value={it.key}>
            {it.label}
          </option>
        ))}
      </select>
    </label>
  );
}

const find = (variables: Variable[], key: string | null, otherwise: number): Variable =>
  variables.find((it) => it.key === key) ?? variables[Math.min(Math.max(otherwise, 0), variables.length - 1)]!;

function Scatter({ table, variables, mask, query }: PlotProps & { query: URLSearchParams }) {
  const theme = useShownTheme();
  const outputs = variables.findIndex((it) => it.kind === 'output' && it.name !== 'execution_secs');
  const x = find(variables, query.get('x'), 0);
  const y = find(variables, query.get('y'), outputs === -1 ? 1 : outputs);
  const { option, shown } = useMemo(() => {
    const runs = sampleRuns(table.size, [x.values, y.values], SCATTER_POINTS);
    const groups: [number, number][][] = [[], [], []];
    for (const run of runs) {
      const group = mask !== undefined && mask[run] === 0 ? 0 : isFailure(table.status[run]!) ? 2 : 1;
      groups[group]!.push([x.values[run]!, y.values[run]!]);
    }
    return { option: scatterOption(x.label, y.label, groups), shown: runs.length };
  }, [table, x, y, mask, theme]);
  const size = table.size;
  return (
    <Panel
      title="Any pair"
      aside={
        <>
          <Choice label="Across" value={x.key} variables={variables} onChange={(key) => changeQuery({ x: key })} />
          <Choice label="Up" value={y.key} variables={variables} onChange={(key) => changeQuery({ y: key })} />
        </>
      }
    >
      <Chart label={`${y.name} against ${x.name}, ${shown} runs`} height={300} option={option} />
      {shown === SCATTER_POINTS && shown < size && (
        <p className="small soft">Every {Math.round(size / shown)}th run is drawn.</p>
      )}
    </Panel>
  );
}

const axisStyle = () => ({
  axisLabel: { color: colour('soft'), fontSize: 11, formatter: (value: number) => figure(value) },
  axisLine: { lineStyle: { color: colour('line-strong') } },
  splitLine: { lineStyle: { color: colour('line') } },
  nameTextStyle: { color: colour('text'), fontSize: 12 },
});

function scatterOption(x: string, y: string, groups: [number, number][][]): Record<string, unknown> {
  const [unselected, selected, failed] = groups;
  const series = (data: unknown, colourName: string, symbol: string, size: number, opacity: number) => ({
    type: 'scatter',
    data,
    symbol,
    symbolSize: size,
    itemStyle: { color: colour(colourName), opacity },
    silent: true,
  });
  return {
    animation: false,
    grid: { left: 62, right: 14, top: 26, bottom: 40 },
    xAxis: { type: 'value', scale: true, name: x, nameLocation: 'middle', nameGap: 26, ...axisStyle() },
    yAxis: {
      type: 'value',
      scale: true,
      name: y,
      nameGap: 10,
      ...axisStyle(),
      nameTextStyle: { color: colour('text'), fontSize: 12, align: 'left' },
    },
    series: [
      series(unselected, 'pending', 'circle', 3, 0.4),
      series(selected, 'running', 'circle', 4, 0.55),
      series(failed, 'failed', 'triangle', 8, 0.9),
    ],
  };
}

function Parallel({ table, variables, mask, onRange }: Omit<HistogramsProps, 'kind' | 'ranges'>) {
  const theme = useShownTheme();
  const axes = useMemo(() => chooseAxes(variables), [variables]);
  const handler = useRef(onRange);
  handler.current = onRange;
  const { option, shown } = useMemo(() => {
    const parameters = axes.filter((it) => it.kind === 'parameter').map((it) => it.values);
    const runs = sampleRuns(table.size, parameters, LINES);
    return { option: parallelOption(axes, runs, table.status, mask), shown: runs.length };
  }, [table, axes, mask, theme]);
  if (axes.length < 2) return null;
  return (
    <Panel
      title="All together"
      aside={<span className="small soft">{count(shown)} runs drawn. Drag along an axis to select.</span>}
    >
      <Chart
        label={`Parallel coordinates of ${axes.map((it) => it.name).join(', ')}`}
        height={320}
        option={option}
        onReady={(chart) =>
          chart.on('axisareaselected', (event) => {
            const { parallelAxisId, intervals } = event as { parallelAxisId?: string; intervals?: [number, number][] };
            if (parallelAxisId !== undefined) handler.current(parallelAxisId, intervals?.[0]);
          })
        }
      />
    </Panel>
  );
}

/** Returns as many axes as are readable, outputs first. */
function chooseAxes(variables: Variable[]): Variable[] {
  const outputs = variables.filter((it) => it.kind === 'output').slice(0, 4);
  return [...variables.filter((it) => it.kind === 'parameter').slice(0, AXES - outputs.length), ...outputs];
}

function parallelOption(
  axes: Variable[],
  runs: number[],
  status: Uint8Array,
  mask: Uint8Array | undefined,
): Record<string, unknown> {
  const groups: number[][][] = [[], [], []];
  for (const run of runs) {
    const group = mask !== undefined && mask[run] === 0 ? 0 : isFailure(status[run]!) ? 2 : 1;
    groups[group]!.push(axes.map((it) => it.values[run]!));
  }
  const line = (data: unknown, colourName: string, opacity: number, width: number) => ({
    type: 'parallel',
    data,
    lineStyle: { color: colour(colourName), opacity, width },
    inactiveOpacity: 0.03,
    activeOpacity: opacity,
    silent: true,
    progressive: 200,
  });
  return {
    animation: false,
    parallel: {
      left: 46,
      right: 70,
      top: 34,
      bottom: 22,
      parallelAxisDefault: {
        type: 'value',
        scale: true,
        ...axisStyle(),
        splitLine: { show: false },
      },
    },
    parallelAxis: axes.map((it, dim) => ({
      dim,
      id: it.key,
      name: it.label,
      areaSelectStyle: {
        color: colour('accent'),
        borderColor: colour('accent'),
        borderWidth: 1,
        opacity: 0.3,
        width: 16,
      },
    })),
    series: [
      line(groups[0], 'pending', 0.12, 1),
      line(groups[1], 'running', 0.22, 1),
      line(groups[2], 'failed', 0.8, 1.5),
    ],
  };
}
