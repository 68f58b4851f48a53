/** The UM-Bridge protocol, version 1.0: the answer to each request. A model has one input vector and one output vector. */
import { isJsonObject } from '../../base/json/json-object.ts';
import { ApiError } from '../../client/client.ts';
import type { EvaluatedPoint } from '../../contract/types.ts';
import { outputNumbers } from '../points/evaluator-options.ts';
import type { Row } from '../points/read-rows.ts';

/** The model that is served: a simulation with its inputs and outputs. */
export interface Model {
  name: string;
  inputs: readonly string[];
  outputs: readonly string[];
  evaluate: (row: Row, signal: AbortSignal) => Promise<EvaluatedPoint>;
}

/** An answer: its status and its JSON. */
export interface Answer {
  status: number;
  body: object;
}

/** A request that is answered with an error of the protocol. */
export class ProtocolError extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.name = 'ProtocolError';
    this.status = status;
    this.type = type;
  }
}

const invalid = (message: string): ProtocolError => new ProtocolError(400, 'InvalidInput', message);

/** Requests for derivatives, which no run gives. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['Gradient', 'ApplyJacobian', 'ApplyHessian']);

/**
 * Answers a request for `path`, such as `/Evaluate`; `body` is its JSON, undefined for a GET.
 * @throws ProtocolError; or the reason of `signal`
 */
export async function answer(model: Model, path: string, body: unknown, signal: AbortSignal): Promise<object> {
  const feature = path.slice(1);
  if (feature === 'Info') return { protocolVersion: 1.0, models: [model.name] };
  if (!isJsonObject(body)) throw invalid('the body must be a JSON object');
  const { name } = body;
  if (name !== model.name)
    throw new ProtocolError(
      400,
      'ModelNotFound',
      `Model ${JSON.stringify(name ?? null).slice(0, 200)} not found! The following is available: ${model.name}.`,
    );
  if (UNSUPPORTED.has(feature))
    throw new ProtocolError(
      400,
      'UnsupportedFeature',
      `${feature} is not supported by the model: its runs give no derivatives`,
    );
  if (feature === 'ModelInfo')
    return { support: { Evaluate: true, Gradient: false, ApplyJacobian: false, ApplyHessian: false } };
  refuseConfig(body['config']);
  if (feature === 'InputSizes') return { inputSizes: [model.inputs.length] };
  if (feature === 'OutputSizes') return { outputSizes: [model.outputs.length] };
  return { output: [await evaluate(model, rowOf(model, body['input']), signal)] };
}

/** The paths that are answered, and their methods. */
export const METHODS: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/Info': 'GET',
  '/ModelInfo': 'POST',
  '/InputSizes': 'POST',
  '/OutputSizes': 'POST',
  '/Evaluate': 'POST',
  '/Gradient': 'POST',
  '/ApplyJacobian': 'POST',
  '/ApplyHessian': 'POST',
};

/** The same simulation with other settings is another model; some clients write an empty list for no settings. */
function refuseConfig(config: unknown): void {
  const isEmpty = typeof config === 'object' && (config === null || Object.keys(config).length === 0);
  if (config !== undefined && !isEmpty)
    throw invalid('the model takes no config; start a bridge with --fixed NAME=NUMBER for other numbers');
}

function rowOf({ inputs }: Model, input: unknown): Row {
  if (!Array.isArray(input) || input.length !== 1)
    throw invalid(
      `Number of input parameters does not match: "input" must be a list of one vector of ${inputs.length} numbers`,
    );
  const [vector] = input as unknown[];
  if (!Array.isArray(vector) || vector.length !== inputs.length) {
    const length = Array.isArray(vector) ? vector.length : 'no vector';
    throw invalid(`Input parameter 0 has invalid length! Expected ${inputs.length} but got ${length}.`);
  }
  const faulty = vector.findIndex((value) => typeof value !== 'number' || !Number.isFinite(value));
  if (faulty >= 0) throw invalid(`number ${faulty} of input parameter 0 (${inputs[faulty]!}) must be a finite number`);
  return Object.fromEntries(inputs.map((name, at) => [name, vector[at] as number]));
}

async function evaluate({ outputs, evaluate: of }: Model, row: Row, signal: AbortSignal): Promise<number[]> {
  const numbers = outputNumbers(await of(row, signal), outputs);
  if (typeof numbers === 'string') throw new ProtocolError(500, 'ModelError', numbers);
  return numbers;
}

/** The answer for an error. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof ProtocolError) return { status: error.status, body: problem(error.type, error.message) };
  const isRefusal = error instanceof ApiError && !error.transient;
  const message = error instanceof Error ? error.message : String(error);
  return { status: isRefusal ? 500 : 503, body: problem(isRefusal ? 'Refused' : 'Unavailable', message) };
}

const problem = (type: string, message: string): object => ({ error: { type, message } });
