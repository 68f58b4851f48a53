/** Chooses how a run is executed: in a process of its own, in a process that executes others too, or by the runner itself. */
import type { AttemptActor } from '../../attempt-actor.ts';
import { environmentOf, type ExecutionPlan, type ExecutionSite } from '../execution-site.ts';
import { ExtractedRun } from '../extraction/extracted-run.ts';
import { Attempt, type Execution } from '../run-attempt.ts';
import { ALONE, CONTAINED, SharedAttempt } from './shared-attempt.ts';

/** The execution of a run as its study wants it, as far as the engine can. Its start is reported next. */
export function executionOf(site: ExecutionSite, plan: ExecutionPlan, actor: AttemptActor): Execution {
  if ((plan.isComputed === true || plan.parent !== undefined) && site.parents !== undefined)
    return new ExtractedRun(site, plan, actor, site.parents);
  if (plan.isShared !== true) return new Attempt(site, plan, actor);
  const isContained = site.containers !== undefined && plan.container !== undefined;
  const pool = isContained
    ? undefined
    : site.launchers.sharedOf(plan.engine, environmentOf(site, plan), plan, plan.reported?.identity.digest);
  if (pool !== undefined) return new SharedAttempt(site, plan, actor, pool);
  return new Attempt(
    site,
    { ...plan, notes: () => [isContained ? CONTAINED : ALONE, ...(plan.notes?.() ?? [])] },
    actor,
  );
}
