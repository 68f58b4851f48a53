/** The share of failing runs in each tenth of a parameter's range of values. */
import { wilsonInterval } from '../groups/proportion.ts';
import { orderedQuantile } from '../numeric/quantile.ts';
import type { DecileRate } from './answer.ts';
import type { GroupedRuns, OrderedColumn } from './best-interval.ts';

const BINS = 10;

/**
 * Ten rows by the deciles (type 7) of both groups together: [from, to), the last one closed. With tied values some rows
 * may hold more runs than others, or none.
 */
export function decileRates(
  { values, order }: OrderedColumn,
  { failing }: GroupedRuns,
  confidence: number,
): DecileRate[] {
  const edges = Array.from({ length: BINS + 1 }, (_, bin) => orderedQuantile(values, order, bin / BINS));
  const rates: DecileRate[] = [];
  let place = 0;
  for (let bin = 0; bin < BINS; bin++) {
    const to = edges[bin + 1]!;
    const start = place;
    let failures = 0;
    for (; place < order.length; place++) {
      const run = order[place]!;
      if (bin < BINS - 1 && values[run]! >= to) break;
      failures += failing[run]!;
    }
    const of = place - start;
    const wilson = of === 0 ? null : wilsonInterval(failures, of, confidence);
    rates.push({ from: edges[bin]!, to, failing: failures, of, wilson });
  }
  return rates;
}
