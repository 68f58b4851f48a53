/** The query parameters of questions about a study. */
import { DIRECTIONS, LOOKS, MISSING_RULES, TABLE_FORMATS, TERMINATED_RULES } from '../enums.ts';
import { LIMITS } from '../limits.ts';
import {
  FAMILY_QUERY,
  PAGE_QUERY,
  choiceQuery,
  integerQuery,
  numberQuery,
  numbersQuery,
  textQuery,
  textValue,
  textsQuery,
} from '../queries.ts';

const share = (description: string) => numberQuery(0, 1, description);

/** Longest `where` expression. */
const WHERE_LENGTH = 8192;

const wait = {
  wait: integerQuery(
    0,
    LIMITS.waitSeconds,
    'Seconds to wait for an answer that is not ready; 30 without it. After them the answer is 202.',
  ),
};
const confidence = { confidence: share('Confidence of intervals and tests, between 0 and 1; 0.95 without it.') };
const missing = {
  missing: choiceQuery(
    MISSING_RULES,
    'How quantiles take the runs without a value. `any`: it may be any, and intervals hold for each. `at_random`: runs that crashed, timed out or were lost are left out; those that a rule ended are not. `any` without it.',
  ),
};
const family = {
  family: choiceQuery(
    ['true', 'false'],
    '`true`: the runs of the batch are pooled with those of its extensions and reruns, of each run the latest that ended. `false` without it.',
  ),
};
const OUTPUT = 'Flat name of an output, or `execution_secs`.';
const output = { output: textQuery(OUTPUT) };
const requiredOutput = { output: textValue(OUTPUT) };
const failing = {
  failing: textQuery(
    'The failing runs: `failed`, a class, the name of a requirement, the id of a failure pattern, or a condition such as `outputs.miss_m > 50`. `failed` without it.',
    WHERE_LENGTH,
  ),
};

export const SUMMARY_QUERY = {
  ...confidence,
  quantiles: numbersQuery(0, 1, 'The quantiles, from 0 to 1.'),
  ...missing,
  ...family,
  ...wait,
};

export const ANSWER_QUERY = { ...family, ...wait };

export const DISTRIBUTIONS_QUERY = {
  bins: integerQuery(
    1,
    200,
    'Bins of each histogram; without it twice the cube root of the number of values, at most 40.',
  ),
  ...family,
  ...wait,
};

export const VERDICTS_QUERY = {
  ...output,
  condition: textQuery('With `output`: the condition under which a run passes.', LIMITS.textLength),
  probability: share('With `output`: the required probability of passing.'),
  ...confidence,
  terminated: choiceQuery(TERMINATED_RULES, 'How a run counts that a rule ended early; `fail` without it.'),
  look: choiceQuery(LOOKS, 'Judged once, or after each run; `once` without it.'),
  ...family,
  ...wait,
};

export const SENSITIVITY_QUERY = {
  ...requiredOutput,
  ...confidence,
  ...family,
  ...wait,
};

export const ATTRIBUTION_QUERY = { ...failing, ...confidence, ...family, ...wait };

export const CONVERGENCE_QUERY = {
  ...output,
  quantity: textQuery(
    '`mean`, a percentile such as `p95` or `p99.9`, or `failure`; without it `mean` of the output, or `failure` without an output.',
    20,
  ),
  half_width: numberQuery(
    0,
    Number.MAX_VALUE,
    'Half-width of the interval for which to estimate the number of runs, in the units of the output.',
  ),
  ...missing,
  ...confidence,
  ...family,
  ...wait,
};

export const WORST_QUERY = {
  ...requiredOutput,
  k: integerQuery(1, 1000, 'How many runs; 10 without it.'),
  direction: choiceQuery(DIRECTIONS, '`largest` without it.'),
  ...family,
  ...wait,
};

export const BAND_QUERY = {
  without: integerQuery(
    0,
    2_147_483_647,
    'The run that is to be compared with the band: it is left out of the sample.',
  ),
  ...wait,
};

export const COMPARE_QUERY = {
  with: textValue('The batch after; the one in the path is before.'),
  ...failing,
  ...confidence,
  ...wait,
};

export const TRANSITIONS_QUERY = { ...wait };

export const TABLE_QUERY = {
  columns: textsQuery(
    'The columns, in this order; `parameters.*` and `outputs.*` mean all of these. All columns without it.',
  ),
  where: textQuery(
    'Only runs for which a condition holds, such as `outputs.miss_m > 50 and class = ok`.',
    WHERE_LENGTH,
  ),
  sort: textsQuery(
    'Columns to sort by; a minus before one: descending. Missing values are last. In run order without it.',
  ),
  format: choiceQuery(TABLE_FORMATS, 'The format; takes precedence over `Accept`. `arrow` is the IPC stream format.'),
  ...FAMILY_QUERY,
  ...PAGE_QUERY,
};
