/** Sobol' indices of one output of a study whose design was made for them, as one answer. */
import type { BatchConfig, StudyIndices } from '../../contract/types.ts';
import { plural } from '../../domain/plural.ts';
import { type SaltelliDesign, saltelliDesign } from '../../domain/sampling/designs/saltelli.ts';
import { completedOutput } from '../numeric/table-columns.ts';
import { requireShare } from '../request-checks.ts';
import { permutationKey } from '../sensitivity/permutations.ts';
import { normalQuantile } from '../special/normal.ts';
import { answerHeader } from '../table/header.ts';
import type { RunTable } from '../table/run-table.ts';
import type { Warning } from '../warning.ts';
import { type Blocks, blocksOf, momentsOf } from './blocks.ts';
import { type Bounds, indexBounds } from './bounds.ts';
import { type EstimatedIndices, estimateIndices, pairsOf } from './indices.ts';

type Inputs = StudyIndices['inputs'];
type Index = Inputs[number]['first'];

/** Fewer blocks give no useful error estimate. */
const LEAST_BLOCKS = 8;
const MOST_NAMES = 3;
const NO_INDICES = { inputs: [], pairs: [], interactions: null, variance: null, resamples: 0 };

/**
 * Sobol' indices of an output over the complete blocks of the design; none of a study with another design.
 * @throws RangeError when the study has no such output, or the confidence is not between 0 and 1
 */
export function studyIndices(
  table: RunTable,
  config: BatchConfig | undefined,
  output: string,
  confidence = 0.95,
): StudyIndices {
  requireShare('confidence', confidence);
  const column = completedOutput(table, output);
  const method = config?.monte_carlo.sampling_method;
  if (config === undefined || method !== 'saltelli') {
    const why =
      method === undefined ? 'the design of the study is not known here' : `the design of the study is ${method}`;
    const reason = `${why}, and indices need the design saltelli; sensitivity is for any design`;
    const blocks = { used: 0, missing: 0, rows: 0 };
    return {
      ...answerHeader(table),
      ...NO_INDICES,
      output,
      blocks,
      confidence,
      reason,
      sentence: `${output}: ${reason}`,
    };
  }
  const design = saltelliDesign(config);
  const blocks = blocksOf(table, column.values, design, config.monte_carlo.runs);
  const used = blocks.a.length;
  const header = answerHeader(table, { used: used * design.rows });
  const common = { ...header, output, blocks: { used, missing: blocks.missing, rows: design.rows }, confidence };
  if (used < LEAST_BLOCKS) {
    const reason = `${plural(used, 'complete block')} of ${used + blocks.missing}: indices need at least ${LEAST_BLOCKS}`;
    return { ...common, ...NO_INDICES, reason, sentence: `${output}: ${reason}` };
  }
  const found = estimateIndices(blocks, permutationKey(table.batchId, output));
  const inputs = inputsOf(design, found, indexBounds(blocks), confidence);
  const { count, squares } = momentsOf([blocks.a, blocks.b]);
  const interactions = 1 - found.first.reduce((sum, it) => sum + it, 0);
  return {
    ...common,
    inputs: inputs.toSorted((one, other) => other.total.value - one.total.value),
    pairs: secondOrder(design, found, confidence),
    interactions,
    variance: squares / count,
    resamples: found.resamples,
    reason: null,
    warnings: [...header.warnings, ...missingWarning(blocks, design), ...ownRandomness(inputs)],
    sentence: sentenceOf(output, inputs, interactions, used),
  };
}

const around = (value: number, half: number): [number, number] => [value - half, value + half];

/** The distance from 0, in standard errors, that `of` figures together exceed by chance with a probability of 1 - confidence at most. */
const distance = (confidence: number, of: number): number => normalQuantile(1 - (1 - confidence) / of);

function inputsOf(
  { inputs }: SaltelliDesign,
  found: EstimatedIndices,
  bounds: ReturnType<typeof indexBounds>,
  confidence: number,
): Inputs {
  const z = normalQuantile((1 + confidence) / 2);
  const apart = distance(confidence, inputs.length);
  const index = (value: number, error: number, bound: Bounds | undefined): Index => ({
    value,
    interval: around(value, z * error),
    bounds: bound === undefined ? null : [...bound],
    told_apart: value > apart * error,
  });
  return inputs.map((name, at) => ({
    name,
    first: index(found.first[at]!, found.errors.first[at]!, bounds?.first[at]),
    total: index(found.total[at]!, found.errors.total[at]!, bounds?.total[at]),
  }));
}

function secondOrder({ inputs }: SaltelliDesign, found: EstimatedIndices, confidence: number): StudyIndices['pairs'] {
  const z = normalQuantile((1 + confidence) / 2);
  const apart = distance(confidence, found.second.length);
  const pairs = found.second.length === 0 ? [] : pairsOf(inputs.length);
  return pairs
    .map(([one, other], at) => {
      const value = found.second[at]!;
      const error = found.errors.second[at]!;
      return {
        names: [inputs[one]!, inputs[other]!],
        value,
        interval: around(value, z * error),
        told_apart: value > apart * error,
      };
    })
    .toSorted((one, other) => other.value - one.value);
}

function missingWarning({ a, missing }: Blocks, { rows }: SaltelliDesign): Warning[] {
  if (missing === 0) return [];
  const of = plural(a.length + missing, 'block');
  const message = `${missing} of ${of} are not complete: a run without a value takes out the ${rows} runs of its block, and what is left is a sample only if the cause has nothing to do with the output; bounds say what the missing blocks could change, and a rerun of the failed runs completes the design`;
  return [{ code: 'blocks-missing', message }];
}

/** A simulation's own randomness differs between two runs of a block, so that it is a part of every total index. */
function ownRandomness(inputs: Inputs): Warning[] {
  if (!inputs.every((it) => it.total.told_apart)) return [];
  const least = Math.min(...inputs.map((it) => it.total.value));
  const message = `every total index is ${share(least)} or more: either each input matters, or the simulation uses random numbers of its own, whose share of the variance is in every total index; first indices do not have it`;
  return [{ code: 'own-randomness', message }];
}

const share = (value: number): string => value.toFixed(2);

function sentenceOf(output: string, inputs: Inputs, interactions: number, used: number): string {
  const apart = inputs.filter((it) => it.total.told_apart).sort((one, other) => other.total.value - one.total.value);
  const base = `from ${plural(used, 'block')}`;
  if (apart.length === 0) return `no input of ${inputs.length} is told apart from none in ${output}, ${base}`;
  const named = apart
    .slice(0, MOST_NAMES)
    .map(({ name, first, total }) => `${name} (${share(total.value)}, by itself ${share(first.value)})`);
  const more = apart.length > MOST_NAMES ? ` and ${apart.length - MOST_NAMES} more` : '';
  const none = inputs.length - apart.length;
  const rest = none === 0 ? '' : `; ${none} of ${inputs.length} inputs not told apart from none`;
  const together = interactions > 0.05 ? `; ${share(interactions)} is explained only by inputs together` : '';
  return `share of the variance of ${output} by input: ${named.join(', ')}${more}${rest}${together}; ${base}`;
}
