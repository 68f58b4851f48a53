/** The band of the curves of runs: statistics at each point, the tolerance band of whole curves, and the curves that leave it most. */
import { CurveColumns } from './columns.ts';
import { CurveBlocks, type Curves, ValuedRows } from './curves.ts';
import type { NoBand } from './no-band.ts';
import { type PointsRequest, PointStatistics } from './points.ts';
import {
  CurveCentre,
  CurveScores,
  type OutlyingRun,
  type ToleranceBand,
  type ToleranceRequest,
  toleranceBand,
} from './tolerance.ts';

export type BandRequest = PointsRequest & ToleranceRequest;

export interface CurveBand {
  points: PointStatistics;
  /** 1 for each row that has a value at any point. */
  valued: Uint8Array;
  tolerance: ToleranceBand | NoBand;
  /** The completed runs farthest from the centre of the tolerance band, the farthest first; empty without a centre. */
  outlying: OutlyingRun[];
}

/** Curves that are named as outlying. */
const OUTLYING = 5;

/**
 * The band of a matrix. It is gone through twice, since scores need the widths of all points; a matrix of up to `most` values is read once.
 * Memory: `most` doubles, some a run and some tens a point.
 */
export async function bandOf(curves: Curves, request: BandRequest, most?: number): Promise<CurveBand> {
  const { runs } = curves;
  const blocks = new CurveBlocks(curves, most);
  const points = new PointStatistics(runs, curves.points, request);
  const centre = new CurveCentre(runs, curves.points);
  const valued = new ValuedRows(runs);
  const columns = new CurveColumns(runs);
  for await (const block of blocks) {
    for (const column of columns.of(block)) {
      points.take(column);
      centre.take(column);
    }
    valued.take(block);
  }
  const scores = new CurveScores(runs, valued, centre);
  if (centre.isGiven) for await (const block of blocks) scores.take(block);
  return {
    points,
    valued: valued.flags,
    tolerance: toleranceBand(runs, centre, scores, request),
    outlying: centre.isGiven ? scores.outlying(OUTLYING) : [],
  };
}
