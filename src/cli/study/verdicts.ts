/** The verdicts on the requirements that a study declares, how near it is to its precisions, and the exit code of both. */
import type { Client } from '../../client/client.ts';
import type { BatchStatusResponse, PrecisionReached, RequirementVerdict } from '../../contract/types.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';

/** Returns the verdicts; none for a study without requirements, which then costs no analysis. */
export async function declaredVerdicts(client: Client, status: BatchStatusResponse): Promise<RequirementVerdict[]> {
  if (status.requirements !== undefined) return status.requirements;
  const { id } = status.batch;
  const { requirements = [] } = await client.submission(id);
  // A study that has just ended is not judged to its end yet: the analysis is.
  return requirements.length === 0 ? [] : (await client.analysis.ask('verdicts', id)).requirements;
}

/** Returns how near the study is to its precisions; none for a study without any, which then costs no analysis. */
export async function declaredPrecision(client: Client, status: BatchStatusResponse): Promise<PrecisionReached[]> {
  if (status.precision !== undefined) return status.precision;
  const { id } = status.batch;
  const { policy } = await client.submission(id);
  return policy?.stop_when === 'precise' ? (await client.analysis.ask('precision', id)).precision : [];
}

/** 0 when all are met, 4 when any is violated, else 5. */
export function verdictExitCode(verdicts: readonly string[]): ExitCode {
  if (verdicts.includes('violated')) return EXIT.requirementViolated;
  return verdicts.every((it) => it === 'met') ? EXIT.ok : EXIT.requirementNotShown;
}
