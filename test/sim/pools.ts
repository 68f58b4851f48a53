/** Counted resources of the simulated world: a pool of the coordinator, devices of every other runner, and the check of both on the disk. */
import type { BatchState, RunnerState } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { amountOf, plus, type Counts } from '../../src/domain/counted/counts.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import { insist } from './acknowledged.ts';

export const SITE_POOLS: Counts = { comsol: 2 };

/** One of the two honest runners and every other faulty one has devices. */
export const resourcesOf = (runnerId: string): { resources?: Record<string, number> } =>
  /[02468]$/.test(runnerId) ? { resources: { gpu: 2 } } : {};

/** The resources of a study by its number: drawn by no dice, so that all else of a world stays. */
export function resourcesAskedBy(count: number, withDevices: boolean): Record<string, number> | undefined {
  if (count % 3 === 0) return { comsol: 1 };
  if (!withDevices) return undefined;
  if (count % 7 === 0) return { comsol: 2, gpu: 1 };
  return count % 5 === 0 ? { gpu: 1 } : undefined;
}

/** No pool and no runner gives more than it has, and each held run has what its study asks for. */
export function checkPools(
  runners: readonly (readonly [id: string, runner: RunnerState])[],
  batches: ReadonlyMap<string, BatchState>,
): void {
  let all: Counts | undefined;
  for (const [id, { context: c }] of runners) {
    let own: Counts | undefined;
    for (const { jobId, resources } of c.held) {
      const asked = batches.get(batchIdOf(jobId))?.context.resources;
      insist(JSON.stringify(resources) === JSON.stringify(asked), () => {
        return `runner ${id} counts ${JSON.stringify(resources)} for job ${jobId}, which asks for ${JSON.stringify(asked)}`;
      });
      own = plus(own, resources);
    }
    for (const [name, total] of Object.entries(c.capabilities.resources ?? {})) {
      const used = amountOf(own, name);
      insist(used <= total, () => `runner ${id} has ${total} ${name}, and its runs use ${used}`);
    }
    all = plus(all, own);
  }
  for (const [name, total] of Object.entries(SITE_POOLS)) {
    const used = amountOf(all, name);
    insist(used <= total, () => `the pool of ${name} has ${total}, and runs use ${used}`);
  }
}
