/** The sentence that sums up a sensitivity analysis. */
import { percent } from '../wording.ts';
import type { ParameterSensitivity } from './answer.ts';

const MOST_NAMES = 3;

/** One sentence without a final period; parameters come in the order of the answer. */
export function sensitivitySentence(
  output: string,
  parameters: readonly ParameterSensitivity[],
  srrcR2: number | null,
): string {
  const apart = parameters.filter((it) => it.told_apart === true);
  const judged = parameters.filter((it) => it.told_apart !== null);
  if (judged.length === 0) return `too few runs to judge which parameters drive ${output}`;
  if (apart.length === 0)
    return `no parameter of ${judged.length} is told apart from none in ${output}${floorOf(parameters)}`;
  const shown = apart.slice(0, MOST_NAMES).map(inWords).join(', then ');
  const more = apart.length > MOST_NAMES ? ` and ${apart.length - MOST_NAMES} more` : '';
  const none = judged.length - apart.length;
  const rest = none === 0 ? '' : `; ${none} of ${judged.length} parameters not told apart from none`;
  const fit = srrcR2 === null ? '' : `; a monotone additive model explains ${percent(srrcR2)} of the ranks' variance`;
  return `${output} depends most on ${shown}${more}${rest}${fit}`;
}

function inWords({ name, sobol_cosine, prcc }: ParameterSensitivity): string {
  const figures: string[] = [];
  if (sobol_cosine !== null) figures.push(`first-order index ${sobol_cosine.toFixed(2)}`);
  if (prcc !== null) figures.push(`PRCC ${prcc.toFixed(2)}`);
  return `${name} (${figures.join(', ')})`;
}

function floorOf(parameters: readonly ParameterSensitivity[]): string {
  const judged = parameters.flatMap(({ name, sobol_cosine: index, noise_floor: floor }) =>
    index === null || floor === null ? [] : [{ name, index, floor }],
  );
  if (judged.length === 0) return '';
  const { name, index, floor } = judged.reduce((most, it) => (it.index > most.index ? it : most));
  const place = index > floor ? 'hardly' : 'not';
  return `: the largest first-order index, ${index.toPrecision(2)} (${name}), is ${place} above the noise floor ${floor.toPrecision(2)}`;
}
