/** The verdicts on the requirements that a study declares. */
import type { Client } from '../../client/client.ts';
import type { RequirementVerdict, Uuid } from '../../contract/types.ts';

/** Returns the verdicts; none for a study without requirements, which then costs no analysis. */
export async function declaredVerdicts(client: Client, batchId: Uuid): Promise<RequirementVerdict[]> {
  const { requirements = [] } = await client.submission(batchId);
  return requirements.length === 0 ? [] : (await client.analysis.verdicts(batchId)).requirements;
}
