/** A column header of the table of runs: sorts on a click; drag across its histogram to select a range of values. */
import { useRef, useState, type PointerEvent } from 'react';
import type { StudyDistributions } from '../../../src/contract/types.ts';
import { brief } from '../parts/time.tsx';
import { Spark } from '../plots/spark.tsx';
import { writeRanges, type Ranges } from '../plots/variables.ts';
import { changeQuery } from '../router.ts';
import type { Column } from './columns.ts';

type Histogram = StudyDistributions['variables'][number];

interface Props {
  column: Column;
  sort: string;
  distributions: StudyDistributions | undefined;
  ranges: Ranges;
}

export function HeadCell({ column, sort, distributions, ranges }: Props) {
  const { key, title, kind } = column;
  const isSorted = sort.replace(/^-/, '') === key;
  const isDown = isSorted && sort.startsWith('-');
  const next = isSorted ? (isDown ? undefined : `-${key}`) : key;
  const histogram = distributions?.variables.find((it) => key === `${it.kind === 'parameter' ? 'p' : 'o'}.${it.name}`);
  const isNumber = kind === 'number' || kind === 'seconds';
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : 'none'}
      className={isNumber ? 'right' : key === 'run' ? 'pinned' : ''}
    >
      <button
        type="button"
        className="quiet sort"
        title={`Sort by ${title}`}
        onClick={() => changeQuery({ sort: next })}
      >
        <span className="clip">{title}</span>
        {isSorted && <span aria-hidden="true">{isDown ? '▼' : '▲'}</span>}
      </button>
      {histogram !== undefined && <BrushedSpark histogram={histogram} columnKey={key} ranges={ranges} />}
    </div>
  );
}

function BrushedSpark({ histogram, columnKey, ranges }: { histogram: Histogram; columnKey: string; ranges: Ranges }) {
  const box = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<readonly [number, number]>();
  const shareAt = (event: PointerEvent): number => {
    const { left, width } = box.current!.getBoundingClientRect();
    return Math.min(Math.max((event.clientX - left) / width, 0), 1);
  };
  const span = histogram.to - histogram.from;
  const valueAt = (share: number): number => histogram.from + share * span;
  const range = ranges.get(columnKey);
  const shareOf = (value: number): number => Math.min(Math.max((value - histogram.from) / span, 0), 1);
  const shown =
    drag === undefined
      ? range === undefined
        ? undefined
        : [shareOf(range[0]), shareOf(range[1])]
      : [Math.min(...drag), Math.max(...drag)];
  const end = (): void => {
    if (drag === undefined) return;
    const [from, to] = [Math.min(...drag), Math.max(...drag)];
    setDrag(undefined);
    const changed = new Map(ranges);
    // At an edge the range is open: the values beyond the shown ones belong to it.
    if (to - from < 0.02) changed.delete(columnKey);
    else changed.set(columnKey, [from === 0 ? -Infinity : valueAt(from), to === 1 ? Infinity : valueAt(to)]);
    changeQuery({ select: writeRanges(changed) });
  };
  return (
    <div
      ref={box}
      className="brush"
      title={`${brief(histogram.from)} to ${brief(histogram.to)}: drag to select a range`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag([shareAt(event), shareAt(event)]);
      }}
      onPointerMove={(event) => drag !== undefined && setDrag([drag[0], shareAt(event)])}
      onPointerUp={end}
      onPointerCancel={() => setDrag(undefined)}
    >
      <Spark histogram={histogram} height={24} />
      {shown !== undefined && (
        <i style={{ left: `${shown[0]! * 100}%`, width: `${Math.max(1, (shown[1]! - shown[0]!) * 100)}%` }} />
      )}
    </div>
  );
}
