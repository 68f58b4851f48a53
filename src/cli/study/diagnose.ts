/** Collects the input of `domain/diagnosis.ts` from the coordinator, and prints its findings. */
import type { Client } from '../../client/client.ts';
import { diagnose, type Finding } from '../../domain/diagnosis.ts';
import { parseCpu, parseMemory } from '../../domain/quantity.ts';
import type { BatchStatusResponse, Runner } from '../../contract/types.ts';

/** Returns the findings of a study. A study that has ended needs no request. */
export async function findReasons(
  client: Client,
  status: BatchStatusResponse,
  runners: readonly Runner[],
): Promise<Finding[]> {
  const { batch, jobs_by_status } = status;
  if (batch.status !== 'Pending' && batch.status !== 'Running') return [];
  const { config } = await client.submission(batch.id);
  const { cpu_request, memory_request } = config.compute.container;
  return diagnose({
    batchStatus: batch.status,
    jobsByStatus: jobs_by_status,
    simulation: config.simulation.name,
    maxParallelJobs: config.compute.max_parallel_jobs,
    demand: { cpuMilli: asNumber(parseCpu(cpu_request)), memoryBytes: asNumber(parseMemory(memory_request)) },
    runners,
  });
}

/** Parses an accepted quantity; an invalid one counts as 0. */
const asNumber = (quantity: number | string): number => (typeof quantity === 'number' ? quantity : 0);

const HEADS: Record<Finding['severity'], string> = { blocked: 'NOT RUNNING', waiting: 'WAITING', fine: 'OK' };

/** Returns one or two lines per finding. */
export function reasonLines(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ severity, reason, remedy }) => [
    `${HEADS[severity]}: ${reason}`,
    ...(remedy === undefined ? [] : [`  -> ${remedy}`]),
  ]);
}
