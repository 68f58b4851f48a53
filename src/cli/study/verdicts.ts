/** The verdicts on the requirements that a study declares, and their exit code. */
import type { Client } from '../../client/client.ts';
import type { BatchStatusResponse, RequirementVerdict } from '../../contract/types.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';

/** Returns the verdicts; none for a study without requirements, which then costs no analysis. */
export async function declaredVerdicts(client: Client, status: BatchStatusResponse): Promise<RequirementVerdict[]> {
  if (status.requirements !== undefined) return status.requirements;
  const { id } = status.batch;
  const { requirements = [] } = await client.submission(id);
  // A study that has just ended is not judged to its end yet: the analysis is.
  return requirements.length === 0 ? [] : (await client.analysis.ask('verdicts', id)).requirements;
}

/** 0 when all are met, 4 when any is violated, else 5. */
export function verdictExitCode(verdicts: readonly string[]): ExitCode {
  if (verdicts.includes('violated')) return EXIT.requirementViolated;
  return verdicts.every((it) => it === 'met') ? EXIT.ok : EXIT.requirementNotShown;
}
