/** The query parameters that questions about a study share, and those of its table of runs. */
import { HISTORY_FORMATS, MISSING_RULES, TABLE_FORMATS } from '../enums.ts';
import { LIMITS } from '../limits.ts';
import {
  FAMILY_QUERY,
  PAGE_QUERY,
  choiceQuery,
  integerQuery,
  shareQuery,
  textQuery,
  textValue,
  textsQuery,
} from '../queries.ts';

/** Longest `where` expression. */
const WHERE_LENGTH = 8192;

export const WAIT = {
  wait: integerQuery(
    0,
    LIMITS.waitSeconds,
    'Seconds to wait for an answer that is not ready. After them the answer is 202.',
    30,
  ),
};
export const FAMILY = {
  family: choiceQuery(
    ['true', 'false'],
    '`true`: the runs of the batch are pooled with those of its extensions and reruns, of each run the latest that ended.',
    'false',
  ),
};
export const BY = {
  by: textsQuery(
    'Of a study with scenarios: axes, such as `site,wind`. The answer then also has a row for each combination of their levels.',
  ),
};
export const CONFIDENCE = { confidence: shareQuery('Confidence of intervals and tests, between 0 and 1.', 0.95) };
export const MISSING = {
  missing: choiceQuery(
    MISSING_RULES,
    'How quantiles take the runs without a value. `any`: it may be any, and intervals hold for each. `at_random`: runs that crashed, timed out or were lost are left out; those that a rule ended are not.',
    'any',
  ),
};
const OUTPUT_NAME = 'Flat name of an output, such as `miss_m`, or `execution_secs`; the summary lists them.';
export const OUTPUT = { output: textQuery(OUTPUT_NAME) };
export const REQUIRED_OUTPUT = { output: textValue(OUTPUT_NAME) };
export const FAILING = {
  failing: textQuery(
    'The failing runs: `failed`, a class, the name of a requirement, the id of a failure pattern, or a condition such as `outputs.miss_m > 50`.',
    WHERE_LENGTH,
    'failed',
  ),
};

export const WHERE = {
  where: textQuery(
    'Only runs for which a condition holds, such as `outputs.miss_m > 50 and class = ok`.',
    WHERE_LENGTH,
  ),
};

export const TABLE_QUERY = {
  columns: textsQuery(
    'The columns, in this order; `parameters.*` and `outputs.*` mean all of these. All columns without it.',
  ),
  ...WHERE,
  sort: textsQuery(
    'Columns to sort by; a minus before one: descending. Missing values are last. In run order without it.',
  ),
  format: choiceQuery(TABLE_FORMATS, 'The format; takes precedence over `Accept`. `arrow` is the IPC stream format.'),
  ...FAMILY_QUERY,
  ...PAGE_QUERY,
};

export const HISTORIES_QUERY = {
  name: textValue('Name of a history of the study.'),
  where: TABLE_QUERY.where,
  format: choiceQuery(HISTORY_FORMATS, 'The format; takes precedence over `Accept`. `arrow` is the IPC stream format.'),
  wide: choiceQuery(
    ['true', 'false'],
    '`true`: a row for each run, with its values; `false`: a row for each run and time.',
    'false',
  ),
  family: choiceQuery(
    ['true', 'false'],
    '`true`: with the runs of the extensions and reruns of the batch, of each run the latest that ended, and a column `replicate`.',
    'false',
  ),
};
