/** A card of a study's runs: a drag over its plot selects runs, a click opens the run under the pointer. */
import { FigureCard, type FigureProps, type Zoom } from '../../cards/figure.tsx';
import { ENDPOINT } from '../../data/place.ts';
import type { Variable } from '../../plots/variables.ts';
import { go, hrefOf } from '../../router.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { plotAsPython } from '../python.ts';
import type { Bench } from '../state.ts';

interface Props extends Omit<FigureProps, 'python' | 'brush' | 'onSelect' | 'onOpen'> {
  bench: Bench;
  /** The method of the Python package that draws it, with arguments. */
  python?: string | undefined;
  /** The variables along the axes: a drag over the plot selects ranges of them. */
  brush?: { x?: Variable | undefined; y?: Variable | undefined };
}

export function PlotCard({ bench, python, brush, ...rest }: Props) {
  const { id } = bench.progress.batch;
  return (
    <FigureCard
      {...rest}
      python={python === undefined ? undefined : () => plotAsPython(ENDPOINT, id, python)}
      brush={brush === undefined ? undefined : { x: brush.x !== undefined, y: brush.y !== undefined }}
      onSelect={brush === undefined ? undefined : (found) => select(bench, brush, found)}
      onOpen={(row) => {
        if (typeof row === 'number') go(hrefOf(['jobs', jobId(id, bench.table.runAt(row))]));
      }}
    />
  );
}

function select(bench: Bench, brush: NonNullable<Props['brush']>, { x, y }: Zoom): void {
  bench.select([
    ...(brush.x === undefined || x === undefined ? [] : [[brush.x.key, x] as const]),
    ...(brush.y === undefined || y === undefined ? [] : [[brush.y.key, y] as const]),
  ]);
}
