/** Whether a run executes the code that its start has reported. */
import type { CodeChange } from '../code/engine-codes.ts';
import type { LookTime } from '../code/code-look.ts';
import type { ExecutionPlan, ExecutionSite } from './execution-site.ts';

/** False when the code of a run is another one than its start has reported. Never rejects. */
export async function hasReportedCode(site: ExecutionSite, plan: ExecutionPlan, time: LookTime): Promise<boolean> {
  const { reported } = plan;
  if (reported === undefined || site.codes === undefined) return true;
  return (await site.codes.of(plan, time))?.identity.digest === reported.identity.digest;
}

/** How the code of a run has changed since `sinceMs`, shortly before its process was created. Never rejects. */
export async function codeChange(site: ExecutionSite, plan: ExecutionPlan, sinceMs: number): Promise<CodeChange> {
  const { reported } = plan;
  return reported === undefined ? 'none' : ((await site.codes?.changeSince(plan, reported, sinceMs)) ?? 'none');
}
