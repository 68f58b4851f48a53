/** The box of two parameters that holds most failures for its share of the runs, by alternation. */
import {
  type GroupedRuns,
  type OrderedColumn,
  type PlacedInterval,
  bestInterval,
  describeInterval,
  runsInside,
} from './best-interval.ts';
import type { BestPair } from './answer.ts';
import { countSentence } from './sentence.ts';

const MOST_ROUNDS = 20;

interface Box {
  places: [PlacedInterval, PlacedInterval];
  /** The runs and failures in both at once. */
  found: PlacedInterval;
}

/**
 * The best box: starts with the best interval of one parameter and improves the intervals in turn, each among the runs inside the
 * other, until none improves or 20 rounds have passed; then the same from the other parameter. Of the two results the better one,
 * of equal ones the one with fewer runs, then the first. A local optimum: no better box differs from it in one side only.
 */
export function bestPair(first: OrderedColumn, second: OrderedColumn, runs: GroupedRuns): BestPair {
  const one = alternate(first, second, runs);
  const other = alternate(second, first, runs);
  const isOtherBetter =
    other.found.gain > one.found.gain || (other.found.gain === one.found.gain && other.found.runs < one.found.runs);
  const { places, found }: Box = isOtherBetter ? { ...other, places: [other.places[1], other.places[0]] } : one;
  const counted = { gain: found.gain, runs: found.runs, failures: found.failures };
  // Bounds are removed one at a time: two of them may have an effect together, though neither has one beside the other.
  const firstSide = openedUp(first, { ...places[0], ...counted }, runsInside(second.order, places[1]));
  const secondSide = openedUp(second, { ...places[1], ...counted }, runsInside(first.order, firstSide));
  const sides = [
    describeInterval(first, firstSide, runsInside(second.order, secondSide)),
    describeInterval(second, secondSide, runsInside(first.order, firstSide)),
  ] as const;
  const { wracc, n_in, failures_in } = sides[0];
  const parameters = [first, second].map(({ name }, i) => ({ name, first: sides[i]!.first, last: sides[i]!.last }));
  const sentence = countSentence(sides.map((it) => it.condition).join(' and '), found, runs);
  return { parameters, wracc, n_in, failures_in, sentence };
}

/** The side without the bounds beyond which no run inside the other side lies: the box holds the same runs. */
function openedUp({ order }: OrderedColumn, side: PlacedInterval, inside: Uint8Array): PlacedInterval {
  const isFree = (from: number, to: number): boolean => order.subarray(from, to).every((run) => inside[run] === 0);
  return {
    ...side,
    start: isFree(0, side.start) ? 0 : side.start,
    end: isFree(side.end, order.length) ? order.length : side.end,
  };
}

function alternate(first: OrderedColumn, second: OrderedColumn, runs: GroupedRuns): Box {
  const columns = [first, second] as const;
  let found = bestInterval(first, runs);
  const places: Box['places'] = [found, { ...found, start: 0, end: second.order.length }];
  let unimproved = 0;
  for (let round = 0; round < MOST_ROUNDS && unimproved < 2; round++) {
    const side = round % 2 === 0 ? 1 : 0;
    const other = 1 - side;
    const inside = runsInside(columns[other]!.order, places[other]!);
    const improved = bestInterval(columns[side], runs, inside);
    if (improved.gain > found.gain) {
      places[side] = improved;
      found = improved;
      unimproved = 0;
    } else unimproved++;
  }
  return { places, found };
}
