/** Whether a run executes the code that its start has reported. */
import type { CodeChange } from '../code/engine-codes.ts';
import type { LookTime } from '../code/code-look.ts';
import type { ExecutionPlan, ExecutionSite } from './execution-site.ts';

/**
 * False when the code of a run is another one than its start has reported. A look that fails, or takes too long on a slow machine, does not keep the
 * run from its start: `codeChange` decides about it after its end. Never rejects.
 */
export async function hasReportedCode(site: ExecutionSite, plan: ExecutionPlan, time: LookTime): Promise<boolean> {
  const { reported } = plan;
  return reported === undefined || site.codes === undefined || !(await site.codes.isOther(plan, reported, time));
}

/** How the code of a run has changed since `sinceMs`, shortly before its process was created. Never rejects. */
export async function codeChange(site: ExecutionSite, plan: ExecutionPlan, sinceMs: number): Promise<CodeChange> {
  const { reported } = plan;
  return reported === undefined ? 'none' : ((await site.codes?.changeSince(plan, reported, sinceMs)) ?? 'none');
}
