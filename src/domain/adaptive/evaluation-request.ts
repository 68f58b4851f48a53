/** Reads the request that evaluates points: rows of an adaptive study, of which those that no round has are appended. */
import { LIMITS } from '../../contract/limits.ts';
import { Faults, membersOf, readRows, shown, textOf, type GivenRows, type RowDesign } from './given-rows.ts';
import type { Pause } from './rows.ts';

/** A request for points that has no fault. */
export interface EvaluationRequest extends GivenRows {
  /** The outputs that the answer has; undefined for all. */
  outputs: readonly string[] | undefined;
  /** True: points whose runs have failed are executed again. */
  retryFailed: boolean;
  label: string | null;
  note: string | null;
}

const MEMBERS = ['rows', 'columns', 'outputs', 'retry_failed', 'label', 'note'];

/** Reads a request. @throws SimbatchError `invalid-request` with the faults */
export async function readEvaluationRequest(
  body: unknown,
  design: RowDesign,
  pause: Pause = () => undefined,
): Promise<EvaluationRequest> {
  const faults = new Faults();
  const given = membersOf(body, MEMBERS, faults);
  const label = textOf(given, 'label', LIMITS.roundNameLength, faults);
  const note = textOf(given, 'note', LIMITS.textLength, faults);
  const outputs = outputsOf(given['outputs'], faults);
  const retryFailed = given['retry_failed'] ?? false;
  if (typeof retryFailed !== 'boolean') faults.add('/retry_failed', `must be true or false, not ${shown(retryFailed)}`);
  const rows = await readRows(given, design, faults, pause);
  faults.throwIfAny();
  return { ...rows, outputs, retryFailed: retryFailed === true, label, note };
}

function outputsOf(given: unknown, faults: Faults): readonly string[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given)) {
    faults.add('/outputs', `must be a list of names, not ${shown(given)}`);
    return undefined;
  }
  if (given.length > LIMITS.variables)
    faults.add('/outputs', `has ${given.length} names; the limit is ${LIMITS.variables}`);
  for (const [index, name] of (given as unknown[]).entries()) {
    if (typeof name !== 'string' || name === '') faults.add(`/outputs/${index}`, 'must be the name of an output');
  }
  return given as string[];
}
