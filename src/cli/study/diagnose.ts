/** Collects the input of `domain/diagnosis.ts` from the coordinator, and prints its findings. */
import type { Client } from '../../client/client.ts';
import { diagnose, type Finding } from '../../domain/diagnosis.ts';
import { limitFindings } from '../../domain/limit-findings.ts';
import { parseCpu, parseMemory } from '../../domain/quantity.ts';
import type { BatchStatusResponse, Runner } from '../../contract/types.ts';

/** Returns the findings of a study: whether its limits were really checked, and why it is not running, or not faster. */
export async function findReasons(
  client: Client,
  status: BatchStatusResponse,
  runners: readonly Runner[],
): Promise<Finding[]> {
  const { batch, jobs_by_status } = status;
  const { config } = await client.submission(batch.id);
  const { cpu_request, memory_request } = config.compute.container;
  const limits = limitFindings({
    earlyTermination: config.early_termination,
    variables: config.telemetry.variables,
    jobsByStatus: jobs_by_status,
    telemetry: status.telemetry,
  });
  const reasons = diagnose({
    batchStatus: batch.status,
    jobsByStatus: jobs_by_status,
    simulation: config.simulation.name,
    maxParallelJobs: config.compute.max_parallel_jobs,
    demand: { cpuMilli: asNumber(parseCpu(cpu_request)), memoryBytes: asNumber(parseMemory(memory_request)) },
    runners,
  });
  return [...limits, ...reasons];
}

/** Parses an accepted quantity; an invalid one counts as 0. */
const asNumber = (quantity: number | string): number => (typeof quantity === 'number' ? quantity : 0);

/** True for a finding that puts the results in doubt. */
export const isDoubtful = ({ severity }: Finding): boolean => severity === 'doubtful';

const HEADS: Record<Finding['severity'], string> = {
  doubtful: 'DOUBTFUL',
  blocked: 'NOT RUNNING',
  waiting: 'WAITING',
  fine: 'OK',
};

/** Returns one or two lines per finding. */
export function reasonLines(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ severity, reason, remedy }) => [
    `${HEADS[severity]}: ${reason}`,
    ...(remedy === undefined ? [] : [`  -> ${remedy}`]),
  ]);
}
