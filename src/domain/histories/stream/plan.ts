/** The histories and derived outputs of a study, prepared for the runs of it: parsed, with numbers for the variables. Pure. */
import type { BatchConfig, DerivedConfig, HistoryConfig } from '../../../contract/types.ts';
import { type Condition, conditionVariables, parseCondition } from '../conditions.ts';
import { type Event, eventVariables, parseEvent } from '../events.ts';
import { type Expression, parseExpression } from '../expression.ts';
import { historyName, pointsOf } from '../points.ts';

/** An event with the text that names it in reasons. */
export interface PlannedEvent {
  text: string;
  event: Event;
}

export interface PlannedHistory {
  name: string;
  variable: number;
  points: Float64Array;
  interpolation: 'linear' | 'previous';
  /** Undefined: telemetry time itself. */
  origin: PlannedEvent | undefined;
}

export interface PlannedOutput {
  name: string;
  config: DerivedConfig;
  variable: number | undefined;
  condition: Condition | undefined;
  event: PlannedEvent | undefined;
  expression: Expression | undefined;
}

export interface Plan {
  /** The variables that samples are needed of; their numbers are their places here. */
  variables: readonly string[];
  histories: readonly PlannedHistory[];
  outputs: readonly PlannedOutput[];
  /** The variables of which samples are read a second time, when the events are known. */
  readAgain: ReadonlySet<number>;
}

/** The parts of a study that say what is computed of telemetry. */
export type Declared = Pick<BatchConfig, 'histories' | 'derived'>;

/** @throws SyntaxFault for an event, condition or expression that cannot be read; the coordinator refuses those at submission. */
export function planOf({ histories, derived }: Declared): Plan {
  const variables = new Map<string, number>();
  const numberOf = (name: string): number => {
    const number = variables.get(name) ?? variables.size;
    variables.set(name, number);
    return number;
  };
  const plannedHistories = (histories ?? []).map((it) => plannedHistory(it, numberOf));
  const outputs = (derived ?? []).map((it) => plannedOutput(it, numberOf));
  const readAgain = new Set<number>();
  for (const { origin, variable } of plannedHistories) if (isKnownLate(origin)) readAgain.add(variable);
  for (const { config, variable } of outputs)
    if (config.take === 'value' && variable !== undefined) readAgain.add(variable);
  return { variables: [...variables.keys()], histories: plannedHistories, outputs, readAgain };
}

/** True for an event whose time is known only when the samples around it have passed. */
export const isKnownLate = (origin: PlannedEvent | undefined): boolean =>
  origin !== undefined && origin.event.kind !== 'start';

function plannedHistory(config: HistoryConfig, numberOf: (name: string) => number): PlannedHistory {
  const { variable, at, interpolation = 'linear', origin } = config;
  return {
    name: historyName(config),
    variable: numberOf(variable),
    points: pointsOf(at),
    interpolation,
    origin: plannedEvent(origin, numberOf),
  };
}

function plannedEvent(text: string | undefined, numberOf: (name: string) => number): PlannedEvent | undefined {
  if (text === undefined) return undefined;
  const event = parseEvent(text);
  eventVariables(event).forEach(numberOf);
  return { text: text.trim(), event };
}

function plannedOutput(config: DerivedConfig, numberOf: (name: string) => number): PlannedOutput {
  const { name, telemetry, at, expression } = config;
  const condition = config.while === undefined ? undefined : parseCondition(config.while);
  if (condition !== undefined) conditionVariables(condition).forEach(numberOf);
  return {
    name,
    config,
    variable: telemetry === undefined ? undefined : numberOf(telemetry),
    condition,
    event: plannedEvent(at, numberOf),
    expression: expression === undefined ? undefined : parseExpression(expression),
  };
}
