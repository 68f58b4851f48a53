/** The units of parameters and outputs, as a study declares them. */
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { describedOutputs } from '../../../src/domain/runs/described-outputs.ts';
import { EXECUTION_SECS } from '../../../src/domain/runs/outputs.ts';

/** Units by name; a name without units is absent. */
export interface Units {
  parameters: ReadonlyMap<string, string>;
  outputs: ReadonlyMap<string, string>;
}

export function unitsOf(submission: Pick<BatchSubmission, 'config' | 'outputs'>): Units {
  return {
    parameters: declared(Object.entries(submission.config.dispersions)),
    outputs: new Map([[EXECUTION_SECS, 's'], ...declared(Object.entries(describedOutputs(submission)))]),
  };
}

const declared = (entries: [string, { units?: string | null | undefined }][]): Map<string, string> =>
  new Map(entries.flatMap(([name, { units }]) => (units ? [[name, units] as const] : [])));
