/** Recordings of a launcher's allocations: each event with the record that the launcher writes after it. */
import type { AllocationEvent, AllocationInput } from '../../machines/allocation/context.ts';
import { isJsonObject } from '../base/json/json-object.ts';
import { DivergenceLog, type ReplayReport } from '../coordinator/snapshots/divergence.ts';
import { unusable } from '../coordinator/snapshots/read.ts';
import { Allocations, type AllocationRecord } from '../launcher/state/allocations.ts';

const FORMAT = 1;

/** The life of one allocation. */
export interface AllocationRecording {
  format: number;
  machine: 'allocation';
  input: AllocationInput;
  steps: { event: AllocationEvent; record: AllocationRecord }[];
}

/** Whether a file is the recording of an allocation; it has no `kind`. */
export const isAllocation = (head: Readonly<Record<string, unknown>>): boolean =>
  head['kind'] === undefined && head['machine'] === 'allocation';

/** @throws SimbatchError `snapshot-unusable` */
export function readAllocation(head: Readonly<Record<string, unknown>>): AllocationRecording {
  const { format, input, steps } = head;
  if (format !== FORMAT)
    throw unusable(`"format" is ${JSON.stringify(format) ?? 'missing'}; of an allocation it must be ${FORMAT}`);
  if (!isJsonObject(input) || typeof input['id'] !== 'string') throw unusable('"input" has no "id"');
  const isStep = (it: unknown): boolean => isJsonObject(it) && isJsonObject(it['event']) && isJsonObject(it['record']);
  if (!Array.isArray(steps) || !steps.every(isStep)) throw unusable('"steps" is not a list of events and records');
  return head as unknown as AllocationRecording;
}

/** Sends each event to an allocation in the state of the record before it, as a launcher that was restarted does. */
export function replayAllocation({ input, steps }: AllocationRecording): ReplayReport {
  const findings = new DivergenceLog();
  findings.report.actors = 1;
  let before = plain(new Allocations(() => {}).plan(input));
  for (const [at, { event, record }] of steps.entries()) {
    const where = `step ${at + 1} (${event.type})`;
    findings.report.events += 1;
    try {
      const allocations = new Allocations(() => {});
      allocations.restore(before);
      allocations.send(input.id, event);
      findings.compare(where, '', record, plain(allocations.get(input.id)));
    } catch (error) {
      throw unusable(`${where} cannot be played: ${error instanceof Error ? error.message : String(error)}`, error);
    }
    before = record;
  }
  return findings.report;
}

/** The value after a round trip through JSON, as a store has it. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
