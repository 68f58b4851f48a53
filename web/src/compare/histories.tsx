/** A card for each history of two studies: both bands over the same axes. */
import { useMemo } from 'react';
import type { BatchStatusResponse, HistoryBand } from '../../../src/contract/types.ts';
import { useAnswer } from '../data/use-answer.ts';
import { comparedSeries } from '../histories/series.ts';
import { Empty, Failure, Panel, Waiting, sentenceOf } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';
import { TimeSeries } from '../plots/time-series.tsx';
import { labelOf } from '../plots/variables.ts';

type Side = Pick<BatchStatusResponse, 'batch'>;

export function ComparedHistories({ names, before, after }: { names: readonly string[]; before: Side; after: Side }) {
  if (names.length === 0) return null;
  return (
    <div className="histories">
      {names.map((name) => (
        <ComparedCard key={name} name={name} before={before} after={after} />
      ))}
    </div>
  );
}

function ComparedCard({ name, before, after }: { name: string; before: Side; after: Side }) {
  const question = `band?history=${encodeURIComponent(name)}`;
  const first = useAnswer<HistoryBand>(before, question);
  const second = useAnswer<HistoryBand>(after, question);
  const error = first.error ?? second.error;
  const units = first.data?.units ?? second.data?.units ?? undefined;
  const bands =
    first.data !== undefined && second.data !== undefined ? ([first.data, second.data] as const) : undefined;
  const none = bands?.find((it) => it.reason !== null);
  return (
    <Panel title={`History ${labelOf(name, units)}, before and after`}>
      <Failure what="The bands could not be computed." detail={error?.message} />
      {bands === undefined && error === undefined && <Waiting what="Computing the bands" />}
      {none !== undefined && (
        <Empty title={sentenceOf(`${none === bands?.[0] ? 'before' : 'after'}: ${none.reason}.`)} />
      )}
      {bands !== undefined && none === undefined && <TwoBands before={bands[0]} after={bands[1]} />}
    </Panel>
  );
}

function TwoBands({ before, after }: { before: HistoryBand; after: HistoryBand }) {
  const { times, series } = useMemo(() => comparedSeries(before, after), [before, after]);
  const sides = [
    { side: 'Before', band: before },
    { side: 'After', band: after },
  ];
  const label = sides.map(({ side, band }) => `${side.toLowerCase()}: ${band.sentence}`).join('; ');
  return (
    <div className="stack tight">
      <TimeSeries
        label={`${labelOf(after.history, after.units ?? undefined)} of two studies over the time of the run, in seconds; ${label}`}
        times={times}
        across="seconds"
        height={220}
        series={series}
      />
      {sides.map(({ side, band }) => (
        <p key={side} className="small soft">
          {side}: {count(band.n_used)} of {count(band.of)} runs
          {band.unknown > 0 && `, ${count(band.unknown)} failed or cancelled`}
          {band.tolerance === null
            ? `; no tolerance band: ${band.tolerance_reason ?? ''}`
            : '; dashed: its tolerance band of whole curves'}
          .
        </p>
      ))}
      {before.units !== after.units && (
        <p className="small">
          The units differ: {before.units ?? 'none'} before, {after.units ?? 'none'} after.
        </p>
      )}
    </div>
  );
}
