/** Questions about a study, made from the query of a request. */
import type { Direction, Look, MissingRule, TerminatedRule, Uuid } from '../../contract/types.ts';
import type { Question } from '../../coordinator/answers/question.ts';
import type { Quantity } from '../../analysis/outputs/convergence.ts';
import { closestMatch } from '../../base/closest-match.ts';
import { isBatchId } from '../../domain/ids.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Query } from '../route.ts';
import { malformed } from './query.ts';

const text = (query: Query, name: string): string | undefined => query[name] as string | undefined;
const number = (query: Query, name: string): number | undefined => query[name] as number | undefined;
const confidenceOf = (query: Query): number | undefined => number(query, 'confidence');

const missingOf = (query: Query): MissingRule | undefined => text(query, 'missing') as MissingRule | undefined;

/** One reader per endpoint; each throws `malformed-query` for a parameter that is missing or has no meaning. */
export const QUESTIONS = {
  summary: (batchId, query) => ({
    kind: 'summary',
    batchId,
    confidence: confidenceOf(query),
    quantiles: query['quantiles'] as number[] | undefined,
    missing: missingOf(query),
  }),
  evidence: (batchId) => ({ kind: 'evidence', batchId }),
  distributions: (batchId, query) => ({ kind: 'distributions', batchId, bins: number(query, 'bins') }),
  verdicts: (batchId, query) => {
    const [output, condition] = [text(query, 'output'), text(query, 'condition')];
    const probability = number(query, 'probability');
    const settings = {
      ...optional('confidence', confidenceOf(query)),
      ...optional('terminated', text(query, 'terminated') as TerminatedRule | undefined),
      ...optional('look', text(query, 'look') as Look | undefined),
    };
    if (output === undefined && condition === undefined && probability === undefined) {
      const [name] = Object.keys(settings);
      if (name === undefined) return { kind: 'verdicts', batchId };
      throw malformed(
        `the query parameter \`${name}\` has no meaning without a requirement; give \`output\`, \`condition\` and \`probability\` too`,
      );
    }
    if (output === undefined || condition === undefined || probability === undefined) {
      throw malformed(
        'the requirement is not complete; give `output`, `condition` and `probability`, such as output=miss_m&condition=<= 50&probability=0.9',
      );
    }
    const requirement = { name: `${output} ${condition}`, output, condition, probability, ...settings };
    return { kind: 'verdicts', batchId, requirement };
  },
  sensitivity: (batchId, query) => ({
    kind: 'sensitivity',
    batchId,
    output: query['output'] as string,
    confidence: confidenceOf(query),
  }),
  attribution: (batchId, query) => ({
    kind: 'attribution',
    batchId,
    failing: text(query, 'failing'),
    confidence: confidenceOf(query),
  }),
  convergence: (batchId, query) => {
    const output = text(query, 'output');
    const quantity = readQuantity(text(query, 'quantity') ?? (output === undefined ? 'failure' : 'mean'));
    if (output === undefined && quantity !== 'failure')
      throw malformed('the query parameter `output` is missing; the summary lists the outputs');
    if (output !== undefined && quantity === 'failure')
      throw malformed('the query parameter `output` has no meaning for the share of failures; leave it out');
    const shared = {
      confidence: confidenceOf(query),
      halfWidth: number(query, 'half_width'),
      missing: missingOf(query),
    };
    return { kind: 'convergence', batchId, output, quantity, ...shared };
  },
  worst: (batchId, query) => ({
    kind: 'worst',
    batchId,
    output: query['output'] as string,
    k: number(query, 'k') ?? 10,
    direction: (text(query, 'direction') as Direction | undefined) ?? 'largest',
  }),
  band: (batchId, query) => ({ kind: 'band', batchId, without: number(query, 'without') }),
  compare: (batchId, query) => {
    const other = (query['with'] as string).toLowerCase();
    if (!isBatchId(other)) {
      const shown = JSON.stringify(other.slice(0, 100));
      throw new SimbatchError('unknown-batch', `${shown} in \`with\` is not the id of a batch; give the id of one`);
    }
    return {
      kind: 'compare',
      batchId,
      with: other,
      failing: text(query, 'failing'),
      confidence: confidenceOf(query),
    };
  },
  transitions: (batchId) => ({ kind: 'transitions', batchId }),
} satisfies Record<Question['kind'], (batchId: Uuid, query: Query) => Question>;

const optional = <K extends string, V>(name: K, value: V | undefined): { [N in K]?: V } =>
  (value === undefined ? {} : { [name]: value }) as { [N in K]?: V };

/** `mean`, `failure`, or `p` and a percentage between 0 and 100. */
function readQuantity(written: string): Quantity {
  if (written === 'mean' || written === 'failure') return written;
  const percent = /^p(\d{1,2}(?:\.\d+)?)$/.exec(written)?.[1];
  if (percent !== undefined && Number(percent) > 0) return { p: Number(percent) / 100 };
  const nearest = closestMatch(written, ['mean', 'failure', 'p95', 'p50']);
  const hint = nearest === undefined ? '' : `; did you mean \`${nearest}\`?`;
  throw malformed(
    `the query parameter \`quantity\` is ${JSON.stringify(written)}: it must be mean, failure or a percentile such as p95${hint}`,
  );
}
