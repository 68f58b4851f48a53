/** Events of a run's telemetry, such as `first(altitude > 100)`: the moments that histories and derived outputs refer to. Pure. */
import { ConditionParser, type Condition, conditionVariables } from './conditions.ts';
import { CONDITIONS } from './syntax.ts';

/**
 * `first` and `last`: the first and the last moment at which the condition holds; `each`: every moment at which it begins to hold.
 * `first_max` and `first_min`: the first sample with the greatest or least value. `start` and `end`: the first and last sample of
 * the run, of any variable.
 */
export type Event =
  | { kind: 'first' | 'last' | 'each'; condition: Condition }
  | { kind: 'first_max' | 'first_min'; variable: string }
  | { kind: 'start' | 'end' };

const OF_CONDITIONS = ['first', 'last', 'each'] as const;
const OF_VARIABLES = ['first_max', 'first_min'] as const;
const OF_RUNS = ['start', 'end'] as const;
const FORMS = 'first(...), last(...), each(...), first_max(...), first_min(...), start or end';

/**
 * Reads an event: `first(COND)`, `last(COND)`, `each(COND)`, `first_max(variable)`, `first_min(variable)`, `start` or `end`.
 * @throws SyntaxFault with the first token that does not fit, or when the text is too long or too deep.
 */
export const parseEvent = (text: string): Event => new EventParser(text, CONDITIONS).event();

class EventParser extends ConditionParser {
  event(): Event {
    const event = this.#event();
    this.end('an event is a single form; join conditions inside its parentheses');
    return event;
  }

  #event(): Event {
    const { kind, text } = this.peek();
    const word = kind === 'word' ? text : undefined;
    const ofRuns = OF_RUNS.find((it) => it === word);
    const ofConditions = OF_CONDITIONS.find((it) => it === word);
    const ofVariables = OF_VARIABLES.find((it) => it === word);
    if ((ofRuns ?? ofConditions ?? ofVariables) === undefined)
      throw this.unexpected('an event', `write ${FORMS}, for example "first(altitude > 100)"`);
    this.take();
    if (ofRuns !== undefined) return { kind: ofRuns };
    const start = this.peek();
    if (!this.takeSign('(')) throw this.unexpected('"("', `write "${text}(...)"`);
    const event: Event =
      ofConditions === undefined
        ? { kind: ofVariables!, variable: this.variable() }
        : { kind: ofConditions, condition: this.joined('or') };
    this.close(start);
    return event;
  }
}

/** The telemetry variables that an event names, each once; none for `start` and `end`. */
export function eventVariables(event: Event): string[] {
  if ('condition' in event) return conditionVariables(event.condition);
  return 'variable' in event ? [event.variable] : [];
}
