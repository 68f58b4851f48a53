/** The function that a study carries, executed on this machine for a person: consent, engine, file. */
import type { BatchSubmission } from '../../../../contract/types.ts';
import type { Python } from '../../../../runner/launch/engine.ts';
import type { Engine } from '../../../../runner/config/config.ts';
import { FunctionFiles } from '../../../../runner/functions/function-files.ts';
import type { LocalRun } from '../../../../runner/local-run.ts';
import { EXIT } from '../../../exit-codes.ts';
import { Failure } from '../../../failure.ts';

export interface LocalFunction {
  engine: Engine;
  functions: FunctionFiles;
  code: NonNullable<LocalRun['code']>;
}

type Carrier = Pick<BatchSubmission, 'config' | 'code'> | undefined;

/** Refuses a study that carries a function, unless the person allows to execute code of its author. */
export function requireConsent(study: Carrier, isAllowed: boolean): void {
  if (study?.code === undefined || isAllowed) return;
  throw new Failure(
    EXIT.forbidden,
    "the study carries its simulation, a Python function: this executes its author's code here; add --allow-functions to allow it",
  );
}

/** Undefined for a study that carries no function. @param directory the output directory; the function is written beside it. */
export async function localFunction(
  study: Carrier,
  simulation: string,
  { python, directory }: { python: Python | undefined; directory: string },
): Promise<LocalFunction | undefined> {
  const identity = study?.config.simulation.code;
  const data = study?.code;
  if (identity === undefined || data === undefined) return undefined;
  const { functionEngine } = await import('../../../../runner/functions/engine.ts');
  const engine = await functionEngine(python);
  if ('fault' in engine) throw new Failure(EXIT.configuration, `the function cannot be executed: ${engine.fault}`);
  if (engine.name !== simulation) {
    const own = python?.version ?? 'unknown';
    throw new Failure(
      EXIT.configuration,
      `the function needs Python ${identity.python} and this is ${own}; name another with --python-executable`,
    );
  }
  const functions = new FunctionFiles(`${directory}.function`, async () => data);
  return { engine, functions, code: { batchId: 'local', sha256: identity.sha256 } };
}
