/** The sentence that sums up a comparison. */
import { listed, percent, shareInPercent } from '../wording.ts';
import type { PairedComparison, UnpairedComparison } from './answer.ts';

/** Adjusted p-values below this count as a difference in words. */
const NOTABLE = 0.05;

type Unsaid = 'sentence' | 'configuration_changes' | 'configuration_changes_omitted';

/** `300 pairs: 12 runs broke, 3 mended (McNemar p = 0.035); 250 runs identical; outputs that differ: miss_m`. */
export function pairedSentence({ pairs, flips, identical_runs, outputs }: Omit<PairedComparison, Unsaid>): string {
  const changed = outputs.filter((it) => it.p_holm !== null && it.p_holm < NOTABLE).map((it) => it.name);
  const runs = `${flips.broke.length} runs broke, ${flips.mended.length} mended (McNemar p = ${shortP(flips.mcnemar_p)})`;
  const same = `${identical_runs} of ${pairs} runs identical in all outputs`;
  return `${pairs} pairs: ${runs}; ${same}; ${differing(changed)}`;
}

/** `unpaired: passing 91 % before, 95 % after (difference 1 to 7 percentage points at 95 % confidence); no output differs`. */
export function unpairedSentence({ passing, outputs }: Omit<UnpairedComparison, Unsaid>, confidence: number): string {
  const changed = outputs.filter((it) => it.p_holm !== null && it.p_holm < NOTABLE).map((it) => it.name);
  if (passing === null) return `unpaired: a batch has no run that passes or fails; ${differing(changed)}`;
  const [low, high] = passing.newcombe;
  const range = `difference ${points(low)} to ${points(high)} percentage points at ${shareInPercent(confidence)} confidence`;
  return `unpaired: passing ${percent(passing.before)} before, ${percent(passing.after)} after (${range}); ${differing(changed)}`;
}

function differing(names: readonly string[]): string {
  return names.length === 0 ? 'no output is shown to differ' : `outputs that differ: ${listed(names)}`;
}

/** A difference of shares, to a tenth of a point. */
const points = (value: number): string => (100 * value).toFixed(1);

const shortP = (p: number): string => String(Number(p.toPrecision(2)));
