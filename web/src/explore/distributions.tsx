/** The distribution of each variable: a histogram or a cumulative line for numbers, bars for texts and booleans. */
import { PlotCaption } from '../plots/caption.tsx';
import { useMemo } from 'react';
import { Panel } from '../parts/common.tsx';
import { count, figure } from '../parts/time.tsx';
import { edfOf, histogramOf } from '../plots/bins.ts';
import { EdfPlot } from '../plots/edf.tsx';
import { HistogramPlot } from '../plots/histogram.tsx';
import { isEnded, isFailure, type Ranges, type Variable } from '../plots/variables.ts';
import { changeQuery } from '../router.ts';
import type { Plots } from './state.ts';

interface Props {
  kind: Variable['kind'];
  variables: readonly Variable[];
  plots: Plots;
  ranges: Ranges;
  isCumulative: boolean;
}

export function Distributions({ kind, variables, plots, ranges, isCumulative }: Props) {
  const some = variables.filter((it) => it.kind === kind);
  if (some.length === 0) return null;
  return (
    <Panel title={kind === 'parameter' ? 'Parameters' : 'Outputs'}>
      <div className="histograms">
        {some.map((it) =>
          it.categories === undefined ? (
            <OfNumbers
              key={it.key}
              variable={it}
              plots={plots}
              range={ranges.get(it.key)}
              isCumulative={isCumulative}
            />
          ) : (
            <OfWords key={it.key} variable={it} plots={plots} range={ranges.get(it.key)} />
          ),
        )}
      </div>
    </Panel>
  );
}

interface OneProps {
  variable: Variable;
  plots: Plots;
  range: readonly [number, number] | undefined;
}

function OfNumbers({ variable, plots, range, isCumulative }: OneProps & { isCumulative: boolean }) {
  const { values, key, label } = variable;
  const { status, mask, select } = plots;
  const isLog = plots.isLog(key);
  const histogram = useMemo(() => histogramOf(values, status, mask, isLog), [values, status, mask, isLog]);
  const lines = useMemo(() => {
    if (!isCumulative) return undefined;
    const isChosen = (run: number): boolean => (mask === undefined || mask[run] === 1) && isEnded(status[run]!);
    return {
      selected: edfOf(values, isChosen),
      failed: edfOf(values, (run) => isChosen(run) && isFailure(status[run]!)),
      all: mask === undefined ? undefined : edfOf(values, () => true),
    };
  }, [isCumulative, values, status, mask]);
  const canLog = useMemo(() => values.every((it) => !(it <= 0)), [values]);
  if (histogram === undefined) return null;
  const note = `n = ${count(histogram.count)}`;
  if (lines !== undefined) return <EdfPlot name={label} note={note} lines={lines} histogram={histogram} />;
  return (
    <HistogramPlot
      name={label}
      note={note}
      histogram={histogram}
      range={range}
      onRange={(next) => select([[key, next]])}
      onLog={canLog ? (next) => changeLog(key, next) : undefined}
    />
  );
}

function changeLog(key: string, isLog: boolean): void {
  const before = new URLSearchParams(window.location.hash.split('?')[1] ?? '').get('log') ?? '';
  const rest = before.split(',').filter((it) => it !== '' && it !== key);
  changeQuery({ log: [...rest, ...(isLog ? [key] : [])].join(',') });
}

/** Most bars; rarer words are one. */
const BARS = 6;

function OfWords({
  variable: { key, label, values, categories = [] },
  plots: { status, mask, select },
  range,
}: OneProps) {
  const bars = useMemo(() => {
    const found = categories.map((word, code) => ({ word, code, all: 0, selected: 0, failed: 0 }));
    for (let run = 0; run < values.length; run += 1) {
      const bar = found[values[run]!];
      if (bar === undefined) continue;
      bar.all += 1;
      if ((mask !== undefined && mask[run] === 0) || !isEnded(status[run]!)) continue;
      bar.selected += 1;
      if (isFailure(status[run]!)) bar.failed += 1;
    }
    return found.filter((it) => it.all > 0).sort((a, b) => b.all - a.all);
  }, [categories, values, status, mask]);
  const most = Math.max(1, ...bars.map((it) => it.all));
  const rest = bars.slice(BARS).reduce((sum, it) => sum + it.all, 0);
  return (
    <figure className="histogram bars">
      <PlotCaption name={label} note={`${count(bars.length)} values`} />
      {bars.slice(0, BARS).map((it) => {
        const isChosen = range !== undefined && range[0] <= it.code && it.code <= range[1];
        return (
          <button
            key={it.code}
            type="button"
            className="bar-row"
            aria-pressed={isChosen}
            title={`${it.word}: ${count(it.all)} runs, ${count(it.selected)} selected`}
            onClick={() => select([[key, isChosen ? undefined : [it.code, it.code]]])}
          >
            <span className="clip">{it.word}</span>
            <span className="bar-track" aria-hidden="true">
              <i className="k-all" style={{ width: `${(100 * it.all) / most}%` }} />
              <i className="k-selected" style={{ width: `${(100 * it.selected) / most}%` }} />
              <i className="k-failed" style={{ width: `${(100 * it.failed) / most}%` }} />
            </span>
            <span className="right soft">{figure(it.selected)}</span>
          </button>
        );
      })}
      {rest > 0 && <span className="small soft">and {count(rest)} runs with other values</span>}
    </figure>
  );
}
