/** The query parameters of questions about a study. Imports no package, so that web pages may import it. */
import { DIRECTIONS, LOOKS, TABLE_FORMATS, TERMINATED_RULES } from '../enums.ts';
import { LIMITS } from '../limits.ts';
import { FAMILY_QUERY, PAGE_QUERY, type QueryParameters } from '../queries.ts';

const text = (description: string, maxLength: number = LIMITS.nameLength) =>
  ({ kind: 'text', list: false, maxLength, description }) as const;
const share = (description: string) => ({ kind: 'number', list: false, minimum: 0, maximum: 1, description }) as const;

/** Longest `where` expression. */
const WHERE_LENGTH = 8192;

const wait = {
  wait: {
    kind: 'integer',
    list: false,
    minimum: 0,
    maximum: LIMITS.waitSeconds,
    description: 'Seconds to wait for an answer that is not ready; 30 without it. After them the answer is 202.',
  },
} as const;
const confidence = { confidence: share('Confidence of intervals and tests, between 0 and 1; 0.95 without it.') };
const family = {
  family: {
    kind: 'enum',
    list: false,
    values: ['true', 'false'],
    description:
      '`true`: the runs of the batch are pooled with those of its extensions and reruns, of each run the latest that ended. `false` without it.',
  },
} as const;
const output = { output: text('Flat name of an output, or `execution_secs`.') };
const requiredOutput = { output: { ...output.output, required: true } } as const;
const failing = {
  failing: text(
    'The failing runs: `failed`, a class, the name of a requirement, the id of a failure pattern, or a condition such as `outputs.miss_m > 50`. `failed` without it.',
    WHERE_LENGTH,
  ),
};

export const SUMMARY_QUERY = {
  ...confidence,
  quantiles: { kind: 'number', list: true, minimum: 0, maximum: 1, description: 'The quantiles, from 0 to 1.' },
  ...family,
  ...wait,
} as const satisfies QueryParameters;

export const DISTRIBUTIONS_QUERY = {
  bins: {
    kind: 'integer',
    list: false,
    minimum: 1,
    maximum: 200,
    description: 'Bins of each histogram; without it twice the cube root of the number of values, at most 40.',
  },
  ...family,
  ...wait,
} as const satisfies QueryParameters;

export const VERDICTS_QUERY = {
  ...output,
  condition: text('With `output`: the condition under which a run passes.', LIMITS.textLength),
  probability: share('With `output`: the required probability of passing.'),
  ...confidence,
  terminated: {
    kind: 'enum',
    list: false,
    values: TERMINATED_RULES,
    description: 'How a run counts that a rule ended early; `fail` without it.',
  },
  look: { kind: 'enum', list: false, values: LOOKS, description: 'Judged once, or after each run; `once` without it.' },
  ...family,
  ...wait,
} as const satisfies QueryParameters;

export const SENSITIVITY_QUERY = {
  ...requiredOutput,
  ...confidence,
  ...family,
  ...wait,
} as const satisfies QueryParameters;

export const ATTRIBUTION_QUERY = { ...failing, ...confidence, ...family, ...wait } as const satisfies QueryParameters;

export const CONVERGENCE_QUERY = {
  ...output,
  quantity: text(
    '`mean`, a percentile such as `p95` or `p99.9`, or `failure`; without it `mean` of the output, or `failure` without an output.',
    20,
  ),
  half_width: {
    kind: 'number',
    list: false,
    minimum: 0,
    maximum: Number.MAX_VALUE,
    description: 'Half-width of the interval for which to estimate the number of runs, in the units of the output.',
  },
  ...confidence,
  ...family,
  ...wait,
} as const satisfies QueryParameters;

export const WORST_QUERY = {
  ...requiredOutput,
  k: { kind: 'integer', list: false, minimum: 1, maximum: 1000, description: 'How many runs; 10 without it.' },
  direction: { kind: 'enum', list: false, values: DIRECTIONS, description: '`largest` without it.' },
  ...family,
  ...wait,
} as const satisfies QueryParameters;

export const BAND_QUERY = {
  without: {
    kind: 'integer',
    list: false,
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'The run that is to be compared with the band: it is left out of the sample.',
  },
  ...wait,
} as const satisfies QueryParameters;

export const COMPARE_QUERY = {
  with: { ...text('The batch after; the one in the path is before.'), required: true },
  ...failing,
  ...confidence,
  ...wait,
} as const satisfies QueryParameters;

export const TRANSITIONS_QUERY = { ...wait } as const satisfies QueryParameters;

export const TABLE_QUERY = {
  columns: {
    kind: 'text',
    list: true,
    description:
      'The columns, in this order; `parameters.*` and `outputs.*` mean all of these. All columns without it.',
  },
  where: text('Only runs for which a condition holds, such as `outputs.miss_m > 50 and class = ok`.', WHERE_LENGTH),
  sort: {
    kind: 'text',
    list: true,
    description:
      'Columns to sort by; a minus before one: descending. Missing values are last. In run order without it.',
  },
  format: {
    kind: 'enum',
    list: false,
    values: TABLE_FORMATS,
    description: 'The format; takes precedence over `Accept`. `arrow` is the IPC stream format.',
  },
  ...FAMILY_QUERY,
  ...PAGE_QUERY,
} as const satisfies QueryParameters;
