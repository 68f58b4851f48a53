/** The distribution of a variable: a histogram for numbers, bars for texts and booleans. */
import { PlotCaption } from '../plots/caption.tsx';
import { useMemo } from 'react';
import { count, figure } from '../parts/time.tsx';
import { HistogramPlot } from '../plots/histogram.tsx';
import { isEnded, isFailure, readRanges, type Variable } from '../plots/variables.ts';
import { changeQuery } from '../router.ts';
import type { Bench } from './state.ts';

interface Props {
  bench: Bench;
  variable: Variable;
}

/** The distribution of one variable, brushed to select runs. */
export function OneDistribution({ bench, variable }: Props) {
  const range = useMemo(() => readRanges(bench.query.get('select')), [bench.query]).get(variable.key);
  return variable.categories === undefined ? (
    <OfNumbers bench={bench} variable={variable} range={range} />
  ) : (
    <OfWords bench={bench} variable={variable} range={range} />
  );
}

type OneProps = Props & { range: readonly [number, number] | undefined };

function OfNumbers({ variable, bench, range }: OneProps) {
  const { values, key, label } = variable;
  const { drawn, select } = bench;
  const histogram = useMemo(() => drawn.histogram(variable), [drawn, variable]);
  const canLog = useMemo(() => values.every((it) => !(it <= 0)), [values]);
  if (histogram === undefined) return null;
  return (
    <HistogramPlot
      name={label}
      note={`n = ${count(histogram.count)}`}
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
  bench: { status, mask, select },
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
