/** The sentence that sums up a comparison. */
import { listed, percent, shareInPercent } from '../wording.ts';
import type { PairedComparison, UnpairedComparison } from './answer.ts';
import type { Pairing } from './pairing.ts';

/** Adjusted p-values below this count as a difference in words. */
const NOTABLE = 0.05;

type Unsaid = 'sentence' | 'configuration_changes' | 'configuration_changes_omitted';

/** `paired: mass differs, 7 of 8 inputs equal; 300 pairs: 12 runs broke, 3 mended (McNemar p = 0.035); 250 of 300 runs identical in all outputs; ...`. */
export function pairedSentence(answer: Omit<PairedComparison, Unsaid>): string {
  return `paired: ${inputsSaid(answer.pairing)}; ${pairsSentence(answer, 'runs')}`;
}

/** The part about pairs. `unit`: a word for both members of a pair, `runs` or `samples`; `failing`: the chosen failing runs, where they are not the failed ones. */
export function pairsSentence(
  { pairs, flips, identical_runs, outputs }: Pick<PairedComparison, 'pairs' | 'flips' | 'identical_runs' | 'outputs'>,
  unit: string,
  failing?: string,
): string {
  const changed = outputs.filter((it) => it.p_holm !== null && it.p_holm < NOTABLE).map((it) => it.name);
  const by = failing === undefined ? '' : `failing: ${failing}; `;
  const flipped = `${flips.broke.length} ${unit} broke, ${flips.mended.length} mended (${by}McNemar p = ${shortP(flips.mcnemar_p)})`;
  const same = `${identical_runs} of ${pairs} ${unit} identical in all outputs`;
  return `${pairs} pairs: ${flipped}; ${same}; ${differing(changed)}`;
}

/** `mass differs, 7 of 8 inputs equal`, or `all 8 inputs equal`. */
function inputsSaid({ inputs, equal, differing: names }: Pairing): string {
  if (names.length === 0) return inputs === 1 ? 'the one input that varies is equal' : `all ${inputs} inputs equal`;
  return `${listed(names)} ${names.length === 1 ? 'differs' : 'differ'}, ${equal} of ${inputs} inputs equal`;
}

/** `unpaired, since the seeds differ: 1 and 2; passing 91 % before, 95 % after (difference 1 to 7 percentage points at 95 % confidence); no output ...`. */
export function unpairedSentence(answer: Omit<UnpairedComparison, Unsaid>, confidence: number): string {
  const { pairing, passing, outputs } = answer;
  const changed = outputs.filter((it) => it.p_holm !== null && it.p_holm < NOTABLE).map((it) => it.name);
  const why = `unpaired, since ${pairing.reason}`;
  if (passing === null) return `${why}; a study has no run that passes or fails; ${differing(changed)}`;
  const [low, high] = passing.newcombe;
  const range = `difference ${points(low)} to ${points(high)} percentage points at ${shareInPercent(confidence)} confidence`;
  return `${why}; passing ${percent(passing.before)} before, ${percent(passing.after)} after (${range}); ${differing(changed)}`;
}

function differing(names: readonly string[]): string {
  return names.length === 0 ? 'no output is shown to differ' : `outputs that differ: ${listed(names)}`;
}

/** A difference of shares, to a tenth of a point. */
const points = (value: number): string => (100 * value).toFixed(1);

const shortP = (p: number): string => String(Number(p.toPrecision(2)));
