/** Preview of a design: the samples that the runs will get, as distributions and pairs. */
import { useDeferredValue, useMemo } from 'react';
import { selectedRuns } from '../../../src/domain/runs/run-selection.ts';
import { studySampler } from '../../../src/domain/sampling/sampler.ts';
import type { BatchConfig } from '../../../src/contract/types.ts';
import { Panel } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';
import { HistogramPlot } from '../plots/histogram.tsx';
import { STATUS_CODE } from '../data/run-columns.ts';
import { histogramOf } from '../plots/bins.ts';
import { isAdaptive } from './study.ts';

const CHOSEN_LATER = 'Chosen parameters get their values from the rows of each round.';

const MAX_RUNS = 5_000;
const PAIRS = 5;
const PAIR_POINTS = 400;

interface Design {
  names: string[];
  columns: Float64Array[];
  runs: number;
  /** How many runs the batch would hold. */
  selected: number;
}

/** The inputs of an adaptive study that no row chooses: they are drawn as in a Monte Carlo study. */
function drawnPart({ monte_carlo: plan, dispersions, ...config }: BatchConfig): BatchConfig {
  const drawn = Object.entries(dispersions).filter(([, it]) => it.distribution.type !== 'chosen');
  return {
    ...config,
    monte_carlo: { ...plan, sampling_method: 'monte_carlo' },
    dispersions: Object.fromEntries(drawn),
  };
}

/** Most runs in the preview, so that it can be drawn while the user types. */
function designOf(submitted: BatchConfig): Design | undefined {
  const config = isAdaptive({ config: submitted }) ? drawnPart(submitted) : submitted;
  const plan = config.monte_carlo;
  if (!Number.isInteger(plan.runs) || plan.runs <= 0) return undefined;
  try {
    const selection = selectedRuns(config);
    const shown = selection.take(MAX_RUNS);
    const runs = shown.count;
    const sampler = studySampler(config, plan.seed ?? 1);
    const columns = sampler.names.map(() => new Float64Array(runs));
    const values = new Float64Array(columns.length);
    for (let row = 0; row < runs; row += 1) {
      sampler.sampleInto(shown.nth(row), values);
      columns.forEach((it, at) => (it[row] = values[at]!));
    }
    return { names: [...sampler.names], columns, runs, selected: selection.count };
  } catch {
    // The fault is shown at its field.
    return undefined;
  }
}

export function Preview({ config, hasFaults }: { config: BatchConfig; hasFaults: boolean }) {
  // The value of before may have faults that the newest has not, such as a billion levels.
  const deferred = useDeferredValue(hasFaults ? undefined : config);
  const design = useMemo(() => (deferred === undefined ? undefined : designOf(deferred)), [deferred]);
  const varying = useMemo(() => (design === undefined ? [] : varyingOf(design)), [design]);
  if (design === undefined || varying.length === 0) {
    return (
      <Panel title="Preview">
        <p className="soft">
          {hasFaults
            ? 'The preview appears when the faults are corrected.'
            : isAdaptive({ config })
              ? CHOSEN_LATER
              : 'Add a parameter to see its samples.'}
        </p>
      </Panel>
    );
  }
  const seedless = config.monte_carlo.seed === null || config.monte_carlo.seed === undefined;
  const cut =
    design.runs < design.selected ? `The first ${count(design.runs)} of ${count(design.selected)} runs. ` : '';
  return (
    <Panel title="Preview of the design">
      <p className="small soft">
        {cut}
        {seedless
          ? 'Drawn here with seed 1; the real seed is drawn on submission.'
          : 'These are the values the runs will get.'}
        {isAdaptive({ config }) && ` ${CHOSEN_LATER}`}
        {(config.scenarios ?? config.epistemic) !== undefined && ' Those of all cells together.'}
      </p>
      <div className="histograms small-ones">
        {varying.map(({ name, values }) => {
          const histogram = histogramOf(values, new Uint8Array(values.length).fill(STATUS_CODE.Completed), undefined);
          return histogram === undefined ? null : (
            <HistogramPlot
              key={name}
              name={name}
              note={config.dispersions[name]?.units ?? ''}
              histogram={histogram}
              range={undefined}
            />
          );
        })}
      </div>
      {varying.length > 1 && <Pairs columns={varying.slice(0, PAIRS)} />}
    </Panel>
  );
}

const varyingOf = ({ names, columns }: Design): { name: string; values: Float64Array }[] =>
  names
    .map((name, at) => ({ name, values: columns[at]! }))
    .filter(({ values }) => {
      // A cell without the parameter has no number.
      const first = values.find((it) => !Number.isNaN(it));
      return values.some((it) => !Number.isNaN(it) && it !== first);
    });

/** Draws every pair below the diagonal. */
function Pairs({ columns }: { columns: { name: string; values: Float64Array }[] }) {
  return (
    <div className="pairs-grid" style={{ gridTemplateColumns: `repeat(${columns.length - 1}, minmax(0, 1fr))` }}>
      {columns
        .slice(1)
        .flatMap((up, row) =>
          columns
            .slice(0, -1)
            .map((across, column) =>
              column > row ? (
                <span key={`${row}.${column}`} />
              ) : (
                <Pair key={`${row}.${column}`} across={across} up={up} />
              ),
            ),
        )}
    </div>
  );
}

type Column = { name: string; values: Float64Array };

function Pair({ across, up }: { across: Column; up: Column }) {
  const path = useMemo(() => {
    const [x, y] = [scaleOf(across.values), scaleOf(up.values)];
    const points = Math.min(across.values.length, PAIR_POINTS);
    let d = '';
    for (let at = 0; at < points; at += 1)
      if (!Number.isNaN(across.values[at]! + up.values[at]!))
        d += `M${x(across.values[at]!).toFixed(1)} ${(100 - y(up.values[at]!)).toFixed(1)}h0`;
    return d;
  }, [across, up]);
  return (
    <figure className="pair-plot">
      <svg viewBox="-3 -3 106 106" role="img" aria-label={`${up.name} against ${across.name}`}>
        <path d={path} />
      </svg>
      <figcaption className="small soft clip" title={`${up.name} against ${across.name}`}>
        {up.name}
        <br />
        over {across.name}
      </figcaption>
    </figure>
  );
}

function scaleOf(values: Float64Array): (value: number) => number {
  const known = values.filter((it) => !Number.isNaN(it));
  const [low, high] = known.reduce(([a, b], it) => [Math.min(a, it), Math.max(b, it)], [Infinity, -Infinity]);
  return (value) => ((value - low) / (high - low)) * 100;
}
