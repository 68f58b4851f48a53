/** How an estimate settles with the number of runs. */
import { given } from '../../base/given.ts';
import { closestMatch } from '../../base/text/closest-match.ts';
import { Convergence } from '../../contract/answers/outputs.ts';
import { CONFIDENCE, MISSING, OUTPUT } from '../../contract/answers/queries.ts';
import { type QueryOf, numberQuery, textQuery } from '../../contract/queries.ts';
import { type Quantity, convergence as converging } from '../outputs/convergence.ts';
import { question } from '../question.ts';
import { DEFAULT_CONFIDENCE } from '../requirements/requirement.ts';
import { limitedToStop } from '../stop.ts';
import { requireOutput } from '../table/answered-study.ts';

const query = {
  ...OUTPUT,
  quantity: textQuery(
    '`mean`, a percentile such as `p95` or `p99.9`, or `failure`; without it `mean` of the output, or `failure` without an output.',
    20,
  ),
  half_width: numberQuery(
    0,
    Number.MAX_VALUE,
    'Half-width of the interval for which to estimate the number of runs, in the units of the output.',
  ),
  ...MISSING,
  ...CONFIDENCE,
};

export const convergence = question({
  name: 'convergence',
  operationId: 'getConvergence',
  summary: 'Read how an estimate settles with the number of runs',
  query,
  response: Convergence,
  check: quantityIn,
  answer(study, asked) {
    const { output = '', confidence = DEFAULT_CONFIDENCE, half_width: halfWidth, missing } = asked;
    const quantity = quantityIn(asked);
    if (quantity !== 'failure') requireOutput(study, output);
    const variable = study.submission.outputs?.[output]?.censored;
    const table = limitedToStop(study.table, study.submission);
    return converging(table, { output, quantity, confidence, ...given({ halfWidth, variable, missing }) });
  },
});

/** The quantity of a query. @throws RangeError for one without a meaning */
function quantityIn({ output, quantity: written }: QueryOf<typeof query>): Quantity {
  const quantity = readQuantity(written ?? (output === undefined ? 'failure' : 'mean'));
  if (output === undefined && quantity !== 'failure')
    throw new RangeError('the query parameter `output` is missing; the summary lists the outputs');
  if (output !== undefined && quantity === 'failure')
    throw new RangeError('the query parameter `output` has no meaning for the share of failures; leave it out');
  return quantity;
}

/** `mean`, `failure`, or `p` and a percentage between 0 and 100. */
function readQuantity(written: string): Quantity {
  if (written === 'mean' || written === 'failure') return written;
  const percent = /^p(\d{1,2}(?:\.\d+)?)$/.exec(written)?.[1];
  if (percent !== undefined && Number(percent) > 0) return { p: Number(percent) / 100 };
  const nearest = closestMatch(written, ['mean', 'failure', 'p95', 'p50']);
  const hint = nearest === undefined ? '' : `; did you mean \`${nearest}\`?`;
  throw new RangeError(
    `the query parameter \`quantity\` is ${JSON.stringify(written)}: it must be mean, failure or a percentile such as p95${hint}`,
  );
}
