/** Cards that are not one plot: the histories of the runs that are selected, and the statistics of the outputs. */
import { useMemo } from 'react';
import { Histories } from '../../histories/card.tsx';
import { Statistics } from '../statistics.tsx';
import { CardFrame } from '../../cards/frame.tsx';
import type { CardKind, CardProps } from './kind.ts';

function HistoryCards({ bench: { progress, submission, mask, table } }: CardProps) {
  const selected = useMemo(
    () => (mask === undefined ? [] : [...mask.keys()].filter((row) => mask[row] === 1).map((row) => table.runAt(row))),
    [mask, table],
  );
  return (
    <div className="card-wide">
      <Histories progress={progress} submission={submission} selected={selected} />
    </div>
  );
}

export const histories: CardKind = {
  name: 'histories',
  title: 'Histories',
  fits: ({ submission }) => (submission.config.histories ?? []).length > 0,
  View: HistoryCards,
};

export const statistics: CardKind = {
  name: 'statistics',
  title: 'Statistics of the outputs',
  fits: () => true,
  View: ({ bench: { progress }, onRemove }: CardProps) => (
    <CardFrame title="Statistics" isWide onRemove={onRemove}>
      {() => <Statistics progress={progress} />}
    </CardFrame>
  ),
};
