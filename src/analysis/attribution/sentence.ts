/** The sentences of an attribution: intervals in words with counts, and the causes found. */
import { percent } from '../wording.ts';
import type { AttributedParameter, BestPair } from './answer.ts';
import type { GroupedRuns } from './best-interval.ts';

const MOST_NAMES = 3;

/** A condition with its counts: `gust_speed >= 23.1: 61 of 64 failures, in 7 % of the runs`. */
export function countSentence(
  condition: string,
  inside: { runs: number; failures: number },
  { failing, failures }: GroupedRuns,
): string {
  const share = percent(inside.runs / failing.length);
  return `${condition}: ${inside.failures} of ${failures} failures, in ${share} of the runs`;
}

/** One sentence without a final period; parameters come in the order of the answer. */
export function attributionSentence(
  parameters: readonly AttributedParameter[],
  pair: BestPair | null,
  failing: number,
  passing: number,
): string {
  const groups = `${failing} failing and ${passing} passing runs`;
  const apart = parameters.filter((it) => it.told_apart);
  if (apart.length === 0) return `no parameter of ${parameters.length} is told apart between the ${groups}`;
  const shown = apart.slice(0, MOST_NAMES).map((it) => it.best_interval.sentence);
  const more = apart.length > MOST_NAMES ? [`${apart.length - MOST_NAMES} more parameters differ`] : [];
  const isPairBetter = pair !== null && apart.length > 1 && pair.wracc > apart[0]!.best_interval.wracc;
  const both = isPairBetter ? [`together, ${pair.sentence}`] : [];
  return `of ${groups}: ${[...shown, ...more, ...both].join('; ')}`;
}
