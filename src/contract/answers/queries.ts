/** The query parameters that questions about a study share, and those of its table of runs. */
import { MISSING_RULES, TABLE_FORMATS } from '../enums.ts';
import { LIMITS } from '../limits.ts';
import {
  FAMILY_QUERY,
  PAGE_QUERY,
  choiceQuery,
  integerQuery,
  numberQuery,
  textQuery,
  textValue,
  textsQuery,
} from '../queries.ts';

export const share = (description: string) => numberQuery(0, 1, description);

/** Longest `where` expression. */
const WHERE_LENGTH = 8192;

export const WAIT = {
  wait: integerQuery(
    0,
    LIMITS.waitSeconds,
    'Seconds to wait for an answer that is not ready; 30 without it. After them the answer is 202.',
  ),
};
export const FAMILY = {
  family: choiceQuery(
    ['true', 'false'],
    '`true`: the runs of the batch are pooled with those of its extensions and reruns, of each run the latest that ended. `false` without it.',
  ),
};
export const CONFIDENCE = { confidence: share('Confidence of intervals and tests, between 0 and 1; 0.95 without it.') };
export const MISSING = {
  missing: choiceQuery(
    MISSING_RULES,
    'How quantiles take the runs without a value. `any`: it may be any, and intervals hold for each. `at_random`: runs that crashed, timed out or were lost are left out; those that a rule ended are not. `any` without it.',
  ),
};
const OUTPUT_NAME = 'Flat name of an output, or `execution_secs`.';
export const OUTPUT = { output: textQuery(OUTPUT_NAME) };
export const REQUIRED_OUTPUT = { output: textValue(OUTPUT_NAME) };
export const FAILING = {
  failing: textQuery(
    'The failing runs: `failed`, a class, the name of a requirement, the id of a failure pattern, or a condition such as `outputs.miss_m > 50`. `failed` without it.',
    WHERE_LENGTH,
  ),
};

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
