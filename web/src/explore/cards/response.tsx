/** The response of one variable to another: the runs as points, with their running median. */
import { line } from '@observablehq/plot';
import { useCallback, useMemo } from 'react';
import { count } from '../../parts/time.tsx';
import { findVariable, focused, isNumber, targetVariable, type Bench } from '../state.ts';
import type { CardKind, CardProps } from './kind.ts';
import { axisOf, STYLE } from '../../cards/style.ts';
import { colourScale, pointerMark, pointMarks } from './marks.ts';
import { PairChoice } from './pair.tsx';
import type { Size, Zoom } from '../../cards/figure.tsx';
import { PlotCard } from './plot.tsx';
import { medianCourse } from './running-median.ts';
import { pairRows, pointsNote, pointsOf } from './points.ts';

function Response({ bench, onRemove }: CardProps) {
  const across = focused(bench)!;
  const up = upOf(bench, across.key)!;
  const { drawn } = bench;
  const rows = useMemo(() => pointsOf(drawn), [drawn]);
  const course = useMemo(
    () => (isNumber(across) && isNumber(up) ? medianCourse(across.values, up.values, bench.mask) : []),
    [across, up, bench.mask],
  );
  const draw = useCallback(
    (_: Size, zoom: Zoom) => ({
      ...STYLE,
      ...colourScale(drawn),
      x: axisOf(drawn, across, zoom.x),
      y: axisOf(drawn, up, zoom.y, 5),
      marks: [
        ...pointMarks(drawn, across, up, rows),
        line(course, { x: '0', y: '1', stroke: 'var(--text)', strokeWidth: 2, clip: true }),
        pointerMark(drawn, across, up, rows),
      ],
    }),
    [drawn, across, up, rows, course],
  );
  return (
    <PlotCard
      bench={bench}
      title={`${up.name} against ${across.name}`}
      heading="Response"
      aside={<PairChoice bench={bench} across={across} up={up} />}
      note={`${pointsNote(rows, bench)}${course.length > 0 ? ` Line: running median of ${count(course[0]![2])} neighbours.` : ''}`}
      draw={draw}
      rows={() => pairRows(bench, across, up, rows)}
      python={`response(${JSON.stringify(across.name)}, ${JSON.stringify(up.name)})`}
      brush={{ x: across, y: up }}
      onRemove={onRemove}
    />
  );
}

function upOf(bench: Bench, across: string) {
  const found = findVariable(bench, bench.query.get('y')) ?? targetVariable(bench);
  return found !== undefined && found.key !== across ? found : bench.variables.find((it) => it.key !== across);
}

export const response: CardKind = {
  name: 'response',
  title: 'Response: one variable against another',
  fits: (bench) => bench.variables.length > 1,
  View: Response,
};
