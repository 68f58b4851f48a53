/** The faults of events, conditions and expressions as clauses after their place. Pure. */
import { LIMITS } from '../../contract/limits.ts';
import { parseCondition } from './conditions.ts';
import { parseEvent } from './events.ts';
import { SyntaxFault } from './syntax.ts';

/** True for a text of the length that the schema allows. */
export const isReadable = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= LIMITS.expressionLength;

/** Why a text cannot be read; undefined where it can. */
export function syntaxFault(text: string, parse: (text: string) => unknown): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxFault) return `is ${JSON.stringify(text)}: ${error.message}`;
    throw error;
  }
}

export const conditionFault = (text: string): string | undefined => syntaxFault(text, parseCondition);

/** The fault of an event; `each(...)` is one only where moments are counted. */
export function eventFault(text: string, isCounted = false): string | undefined {
  const fault = syntaxFault(text, parseEvent);
  if (fault !== undefined) return fault;
  const { kind } = parseEvent(text);
  if (isCounted && kind !== 'each')
    return `is ${JSON.stringify(text)}, a single moment, and \`take: count\` counts moments; write each(...)`;
  if (!isCounted && kind === 'each')
    return `is ${JSON.stringify(text)}, any number of moments; write first(...) or last(...), or count them with \`take: count\``;
  return undefined;
}
